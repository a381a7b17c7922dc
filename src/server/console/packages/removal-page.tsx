// The question before a package is removed in the draft.
/** @jsxImportSource preact */
import type { ConsolePage } from "../frame/frame.tsx";
import { confirmationPage } from "../parts/form.tsx";
import { statedBody } from "../parts/stated-version.ts";
import { Count } from "../parts/values.tsx";
import { PACKAGES_PATH, packagePath } from "./words.ts";

interface Removal {
  id: string;
  /** text of the field `version`: see stated-version.ts */
  version: string;
  /** those that report the package */
  workstations: number;
}

export const removalPage = ({ id, version, workstations }: Removal): ConsolePage =>
  confirmationPage({
    title: `Remove ${id}`,
    consequences: [
      <>
        Remove {id} from the policy? <Count value={workstations} />{" "}
        {workstations === 1 ? "workstation uninstalls" : "workstations uninstall"} it at the next fetch, once
        the draft is published. Its archive stays here.
      </>,
    ],
    action: `${packagePath(id)}/remove`,
    fields: { version },
    verb: "Remove in the draft",
    back: packagePath(id),
    breadcrumbs: [
      { href: PACKAGES_PATH, label: "Packages" },
      { href: packagePath(id), label: id },
    ],
    api: {
      method: "PUT",
      path: "/admin/policy-draft",
      body: { ...statedBody(version), package: { id, remove: true } },
    },
  });
