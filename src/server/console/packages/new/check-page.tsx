// The last step: shows all entered values before they go into the draft.
/** @jsxImportSource preact */

import type { ManagedPackage } from "../../../../domain/catalog/model.ts";
import { type CompleteAddition, packageOf } from "../../../../domain/governance/additions/addition-model.ts";
import { Hidden } from "../../../pages/forms.tsx";
import type { ConsolePage } from "../../frame/frame.tsx";
import { AsCommand } from "../../parts/command.tsx";
import { ConsoleForm } from "../../parts/form.tsx";
import { Facts, Id, Text, useReader } from "../../parts/values.tsx";
import { Layouts } from "../package-archive.tsx";
import { Audience } from "../package-columns.tsx";
import { type RefusedStep, stepPage } from "./steps.tsx";
import { STEPS } from "./words.ts";

export interface CheckPageProps {
  addition: CompleteAddition;
  /** of the draft; 0 for none */
  draftVersion: number;
  /** after the next save */
  nextVersion: number;
  /** the package of the draft with that id */
  known: ManagedPackage | undefined;
  refused?: RefusedStep | undefined;
}

export function checkPage({
  addition,
  draftVersion,
  nextVersion,
  known,
  refused,
}: CheckPageProps): ConsolePage {
  const { source, identity, adapters, audience } = addition;
  const entry = packageOf(addition, known);
  const content = (
    <>
      <Facts
        facts={[
          { label: "Id", value: <Text value={identity.id} /> },
          { label: "Version", value: <Text value={identity.version} /> },
          { label: "Name", value: <Text value={entry.name} none="as the id" /> },
          { label: "Source", value: <Text value={source.sourceRef} /> },
          { label: "SHA-256", value: <Id value={source.sha256} /> },
          { label: "Who gets it", value: <Audience audience={audience} /> },
          ...(known ? [{ label: "Replaces", value: <Text value={known.version} /> }] : []),
        ]}
      />
      <Layouts adapters={adapters} />
      <Finish version={addition.version} />
      <AsCommand
        api={{
          method: "PUT",
          path: "/admin/policy-draft",
          body: { version: draftVersion, package: { id: identity.id, entry } },
        }}
      />
      <AsCommand
        label="Audience as a second command"
        api={{
          method: "PUT",
          path: "/admin/policy-draft",
          body: { version: nextVersion, package: { id: identity.id, audience } },
        }}
      />
    </>
  );
  const page = { step: "check" as const, title: "Check the package", addition, refused, content };
  return stepPage(page, (pointer) => STEP_OF[pointer]?.path);
}

/** The step to solve a problem. */
const STEP_OF: Readonly<Record<string, { path: string }>> = {
  "/id": STEPS.identity,
  "/audience": STEPS.audience,
};

function Finish({ version }: { version: number }) {
  const { mayAdminister } = useReader();
  if (!mayAdminister) return null;
  return (
    <ConsoleForm action={STEPS.check.path}>
      <Hidden name="version_read" value={String(version)} />
      <button class="button primary" type="submit">
        Add to your draft
      </button>
      <p class="hint">Workstations get it once the draft is published.</p>
    </ConsoleForm>
  );
}
