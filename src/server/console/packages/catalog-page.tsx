// One package of the catalog: its facts, its version in the policy, and the form that adds it to the draft.
/** @jsxImportSource preact */
import type { ArchiveListing, ManagedPackage } from "../../../domain/catalog/service.ts";
import type { CatalogView } from "../../../domain/governance/service.ts";
import type { Problem } from "../../../platform/errors.ts";
import { Hidden } from "../../pages/forms.tsx";
import type { ConsolePage } from "../frame/frame.tsx";
import { AsCommand } from "../parts/command.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { SavedElsewhere } from "../parts/saved-elsewhere.tsx";
import { statedBody } from "../parts/stated-version.ts";
import { Facts, Text, useReader } from "../parts/values.tsx";
import { REVIEW_PATH } from "../policy/words.ts";
import { Offered } from "./catalog-list.tsx";
import { Contents, Layouts, type StoredArchive, sourceFacts } from "./package-archive.tsx";
import { Content } from "./package-columns.tsx";
import { Refusal } from "./refusal.tsx";
import { CATALOG_PATH, catalogPath, packagePath } from "./words.ts";

export interface CatalogPageProps {
  managed: ManagedPackage;
  view: CatalogView;
  archive: StoredArchive | undefined;
  /** undefined until requested */
  contents: ArchiveListing | undefined;
  /** text of the field `version`: see stated-version.ts */
  version: string;
  /** why the package was not added to the draft */
  error?: string | undefined;
  problems?: readonly Problem[];
  /** of the response, if something was refused */
  status?: number | undefined;
  /** the draft was saved elsewhere after the form was opened */
  isStale?: boolean;
}

export function catalogPage(props: CatalogPageProps): ConsolePage {
  const { managed, view, archive, version, error, problems = [], status } = props;
  const { id } = managed;
  return {
    title: managed.name ?? id,
    breadcrumbs: [{ href: CATALOG_PATH, label: "Catalog" }],
    isError: error !== undefined,
    status,
    content: (
      <>
        {props.isStale ? (
          <SavedElsewhere version={version} />
        ) : (
          error !== undefined && <Refusal error={error} problems={problems} />
        )}
        <Facts
          facts={[
            { label: "Id", value: <Text value={id} /> },
            { label: "Version", value: <Text value={managed.version} /> },
            { label: "State", value: <Offered view={view} /> },
            {
              label: "Version in the policy",
              value: <Text value={view.published} none="not in the policy" />,
            },
            { label: "Contains", value: <Content content={view} /> },
            ...sourceFacts(managed, archive),
          ]}
        />
        <Actions view={view} hasArchive={archive !== undefined} version={version} />
        <Layouts adapters={managed.adapters} />
        <Contents {...props} />
        <AsCommand
          command={["catalog", "show", id]}
          api={{
            method: "PUT",
            path: "/admin/policy-draft",
            body: { ...statedBody(version), package: { id, catalog: true } },
          }}
        />
      </>
    ),
  };
}

interface ActionsProps {
  view: CatalogView;
  hasArchive: boolean;
  version: string;
}

function Actions({
  view: { id, version: own, offer, drafted, published, sha256 },
  hasArchive,
  version,
}: ActionsProps) {
  const { mayAdminister } = useReader();
  const isKnown = drafted !== undefined || published !== undefined;
  return (
    <div class="choices">
      {mayAdminister && offer !== "taken" && (
        <ConsoleForm action={catalogPath(id)}>
          <Hidden name="act" value="draft" />
          <Hidden name="version" value={version} />
          <Hidden name="sha256" value={sha256} />
          <button class="button primary" type="submit">
            {offer === "new" ? "Add to your draft" : `Update to ${own} in your draft`}
          </button>
        </ConsoleForm>
      )}
      {mayAdminister && hasArchive && (
        <ConsoleForm action={catalogPath(id)}>
          <Hidden name="act" value="check" />
          <button class="button" type="submit">
            Check the archive
          </button>
        </ConsoleForm>
      )}
      {isKnown && (
        <a class="button" href={packagePath(id)}>
          Package in the policy
        </a>
      )}
      {drafted !== published && (
        <a class="button" href={REVIEW_PATH}>
          Review your draft
        </a>
      )}
    </div>
  );
}
