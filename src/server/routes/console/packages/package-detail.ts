// Reads one package for its page: the policy, the draft of the reader, the stored archive, reports and revisions.

import type { Domain } from "../../../../domain/domain.ts";
import type { Draft, PackageView } from "../../../../domain/governance/service.ts";
import { packageView } from "../../../../domain/governance/service.ts";
import { withHiddenSecrets } from "../../../../domain/governance/shown/hidden-secrets.ts";
import { HARNESS_KEYS } from "../../../../domain/harnesses/harnesses.ts";
import { DomainError, type Problem } from "../../../../platform/errors.ts";
import { ownMember } from "../../../../platform/json/json-object.ts";
import { runInTurns } from "../../../../platform/steps.ts";
import { CONTENTS } from "../../../console/packages/package-archive.tsx";
import type { PackagePageProps } from "../../../console/packages/package-page.tsx";
import type { HarnessUse } from "../../../console/packages/package-uses.tsx";
import { versionText } from "../../../console/parts/stated-version.ts";
import type { Reader } from "../../../console/reader.ts";
import { isDraftChanged } from "../policy/draft-discard-pages.ts";

/** Number of people of an audience that the page names. */
export const PEOPLE_NAMED_MAX = 10;

/** A refused form. */
export interface RefusedUse {
  error: string;
  problems?: readonly Problem[];
  /** of the response; 400 if omitted */
  status?: number;
  /** entered values for a harness */
  entered?: HarnessUse;
  /** the draft was saved elsewhere after the form was opened */
  isStale?: boolean;
}

/** Each step reads a whole revision, which may be megabytes long. */
const AFTER_EACH_STEP = 0;

/** @returns the content of the page of a package; undefined if neither the policy nor the draft has the package */
export async function readPackage(
  domain: Domain,
  reader: Reader,
  { id, refused }: { id: string; refused?: RefusedUse | undefined },
): Promise<PackagePageProps | undefined> {
  const { clients, catalog, governance } = domain;
  const { organizationId, request, url } = reader;
  const current = governance.revisions.inForce(organizationId);
  const draft = governance.drafts.ownOrNew(reader.actor);
  const offered = catalog.versions(organizationId);
  const view = packageView(current, id, { draft, offered });
  const policy = view?.draft === "removed" ? current : draft;
  const managed = policy.document.packages.find((one) => one.id === id);
  if (!view || !managed) return undefined;
  const archive = catalog.findArtifact(organizationId, managed.sha256.toLowerCase());
  const wantsContents = archive !== undefined && url.searchParams.get(CONTENTS.name) === CONTENTS.value;
  const shown = view.draft === "changed" ? inDraftOf(draft, view, offered) : view;
  return {
    managed,
    view: shown,
    archive,
    version: versionText(draft),
    behind: domain.sourceWatch.behind(organizationId).find(({ packageId }) => packageId === id),
    counts: (await runInTurns(clients.packageReports.counts(current))).get(id),
    people: peopleOf(domain, reader, shown),
    contents: wantsContents ? await catalog.contents(archive.sha256, { signal: request.signal }) : undefined,
    uses: usesOf(draft, { view: shown, entered: refused?.entered, isHidden: !reader.mayAdminister }),
    failures: await runInTurns(clients.packageReports.failures(organizationId, id)),
    history: await runInTurns(governance.packageHistory(organizationId, id), AFTER_EACH_STEP),
    ...(refused && {
      error: refused.error,
      problems: refused.problems ?? [],
      status: refused.status ?? 400,
      isStale: refused.isStale,
      other: usesOf(draft, { view: shown, entered: undefined, isHidden: !reader.mayAdminister }).find(
        ({ harness }) => harness === refused.entered?.harness,
      ),
    }),
  };
}

/** @returns the package as in the draft */
function inDraftOf(
  draft: Draft,
  view: PackageView,
  offered: Parameters<typeof packageView>[2]["offered"],
): PackageView {
  const own = packageView(draft, view.id, { draft: undefined, offered });
  return { ...(own ?? view), draft: view.draft };
}

const peopleOf = (
  { identity: { users } }: Domain,
  { organizationId }: Reader,
  { audience }: PackageView,
): string[] =>
  audience.user_ids
    .slice(0, PEOPLE_NAMED_MAX)
    .map((id) => users.addressOf(organizationId, id) ?? "somebody who was erased");

interface Used {
  view: PackageView;
  entered: HarnessUse | undefined;
  isHidden: boolean;
}

/** A package without files for harnesses has settings for all of them. */
function usesOf(
  { document: { harnesses } }: Draft,
  { view: { id, harnesses: own }, entered, isHidden }: Used,
): HarnessUse[] {
  return (own.length === 0 ? HARNESS_KEYS : own).map((harness) => {
    if (entered?.harness === harness) return entered;
    const overrides = harnesses[harness]?.package_overrides ?? {};
    const override = ownMember(overrides, id);
    const stored = override?.settings ?? {};
    const path = ["harnesses", harness, "package_overrides", id, "settings"];
    const settings = isHidden ? withHiddenSecrets(stored, { path }) : stored;
    const hasSettings = Object.keys(settings).length > 0;
    return {
      harness,
      isEnabled: override?.enabled !== false,
      settings: hasSettings ? JSON.stringify(settings, null, 2) : "",
      isOpen: false,
    };
  });
}

/** Refusals that the reader can fix on the page of a package. */
export function refusalIn(error: unknown): RefusedUse {
  if (!(error instanceof DomainError) || !["invalid", "conflict"].includes(error.kind)) throw error;
  return {
    error: error.message,
    problems: error.problems,
    status: error.kind === "conflict" ? 409 : 400,
    isStale: isDraftChanged(error),
  };
}
