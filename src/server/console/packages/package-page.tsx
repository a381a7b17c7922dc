// One package of the policy: its facts, audience, use by harnesses, failures, and history. Its forms change
// the draft of the reader.
/** @jsxImportSource preact */

import type { ArchiveListing, ManagedPackage, OutdatedPackage } from "../../../domain/catalog/service.ts";
import type { PackageCounts, PackageFailures } from "../../../domain/clients/service.ts";
import type { PackageChange, PackageView } from "../../../domain/governance/service.ts";
import type { Problem } from "../../../platform/errors.ts";
import { Hidden } from "../../pages/forms.tsx";
import type { ConsolePage } from "../frame/frame.tsx";
import { harnessText } from "../own/words.ts";
import { AsCommand } from "../parts/command.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { SavedElsewhere, SavedText } from "../parts/saved-elsewhere.tsx";
import { Facts, Id, State, Text, Time, useReader } from "../parts/values.tsx";
import { REVIEW_PATH } from "../policy/words.ts";
import { shareText } from "../workstations/client-values.tsx";
import { NEW_PACKAGE_PATH } from "./new/words.ts";
import { Contents, Layouts, type StoredArchive, sourceFacts } from "./package-archive.tsx";
import { Audience, Content } from "./package-columns.tsx";
import { Failures, History } from "./package-reports.tsx";
import { type HarnessUse, Uses } from "./package-uses.tsx";
import { Refusal } from "./refusal.tsx";
import { audiencePath, DRAFT_WORDS, PACKAGES_PATH, packagePath, updateText } from "./words.ts";

export interface PackagePageProps {
  /** from the reader's draft; from the policy if the draft removes it */
  managed: ManagedPackage;
  view: PackageView;
  counts: PackageCounts | undefined;
  /** set if its branch or tag points to a newer commit than its archive */
  behind: OutdatedPackage | undefined;
  /** addresses of some people in the audience; empty if it is everybody */
  people: readonly string[];
  archive: StoredArchive | undefined;
  /** undefined until requested */
  contents: ArchiveListing | undefined;
  uses: readonly HarnessUse[];
  failures: PackageFailures;
  history: readonly PackageChange[];
  /** text of the field `version`: see stated-version.ts */
  version: string;
  /** why the last form was not saved */
  error?: string | undefined;
  problems?: readonly Problem[];
  /** of the response, if something was refused */
  status?: number | undefined;
  /** the draft was saved elsewhere after the form was opened */
  isStale?: boolean | undefined;
  /** the current use by the harness of the refused form */
  other?: HarnessUse | undefined;
}

export function packagePage(props: PackagePageProps): ConsolePage {
  const { managed, view, version, error, problems = [], status } = props;
  return {
    title: managed.name ?? managed.id,
    breadcrumbs: [{ href: PACKAGES_PATH, label: "Packages" }],
    isError: error !== undefined,
    status,
    content: (
      <>
        {props.isStale ? (
          <Stale {...props} />
        ) : (
          error !== undefined && <Refusal error={error} problems={problems} />
        )}
        <Facts facts={factsOf(props)} />
        {props.behind && <Behind behind={props.behind} />}
        {view.draft !== "same" && (
          <p>
            <a href={REVIEW_PATH}>Review your draft</a>
          </p>
        )}
        {view.draft !== "removed" && <Actions view={view} version={version} />}
        <Layouts adapters={managed.adapters} />
        {view.draft !== "removed" && <Uses id={managed.id} uses={props.uses} version={version} />}
        <Contents {...props} />
        <Failures failures={props.failures} />
        <History changes={props.history} />
        <ShownAs view={view} />
      </>
    ),
  };
}

const Stale = ({ managed: { id }, version, other }: PackagePageProps) =>
  other === undefined ? (
    <SavedElsewhere version={version} />
  ) : (
    <SavedElsewhere version={version}>
      <Facts facts={[{ label: harnessText(other.harness), value: other.isEnabled ? "On" : "Off" }]} />
      <SavedText
        label="Its settings as they are now"
        text={other.settings || "none"}
        href={packagePath(id)}
      />
    </SavedElsewhere>
  );

/** The policy that contains the package: the current one, or the draft of the reader. */
function ShownAs({ view: { draft } }: Pick<PackagePageProps, "view">) {
  const { actor } = useReader();
  return draft === "same" || draft === "removed" ? (
    <AsCommand command={["policy", "show"]} api={{ method: "GET", path: "/admin/governance-config" }} />
  ) : (
    <AsCommand
      command={["policy", "draft", "export", actor.label]}
      api={{ method: "GET", path: "/admin/policy-draft" }}
    />
  );
}

/** The command also shows which files change; the console mirrors another commit as a new archive of the package. */
const Behind = ({ behind }: { behind: OutdatedPackage }) => (
  <section class="notice" aria-label="Newer commit">
    <p>
      A newer commit is available: <Text value={`${behind.repository}@${behind.ref}`} /> is{" "}
      <Id value={behind.latestCommit} /> (looked up <Time at={behind.checkedAtMs} />
      ). <a href={NEW_PACKAGE_PATH}>Mirror it as a package</a> with the same id, or update it with a command:
    </p>
    <AsCommand command={["packages", "update", behind.packageId, "--from", behind.connectionId]} />
  </section>
);

const factsOf = ({ managed, view, counts, people, archive }: PackagePageProps) => [
  { label: "Id", value: <Text value={managed.id} /> },
  { label: "Version", value: <Text value={managed.version} /> },
  {
    label: "State",
    value: <State tone={DRAFT_WORDS[view.draft].tone}>{DRAFT_WORDS[view.draft].label}</State>,
  },
  {
    label: "Contains",
    value: <Content content={view} />,
  },
  {
    label: "Who gets it",
    value: (
      <>
        <Audience audience={view.audience} />{" "}
        {people.length > 0 && (
          <small>
            <Text value={people.join(", ")} />
          </small>
        )}
      </>
    ),
  },
  {
    label: "Applied on",
    value: counts
      ? `${shareText(counts.applied, counts.reported)} workstations that report it`
      : "no workstation yet",
  },
  { label: "Origin", value: view.isFromCatalog ? "Catalog" : "Own" },
  ...sourceFacts(managed, archive),
];

function Actions({
  view: { id, version: own, update, isFromCatalog },
  version,
}: {
  view: PackageView;
  version: string;
}) {
  const { mayAdminister } = useReader();
  if (!mayAdminister) return null;
  return (
    <div class="choices">
      {update && (
        <ConsoleForm action={packagePath(id)}>
          <Hidden name="act" value="update" />
          <Hidden name="version" value={version} />
          <Hidden name="sha256" value={update.sha256} />
          <button class="button primary" type="submit">
            Update to {updateText(own, update)}
          </button>
        </ConsoleForm>
      )}
      {!isFromCatalog && (
        <a class="button" href={NEW_PACKAGE_PATH}>
          Add another version
        </a>
      )}
      <a class="button" href={audiencePath(id)} data-edit>
        Change who gets it
      </a>
      <a class="button" href={`${packagePath(id)}/remove`} data-dialog>
        Remove
      </a>
    </div>
  );
}
