// Checks administrators' publications against the current policy, and merges the deployment file with it. Pure functions of
// plain values, because a thread may run them (tasks.ts). Documents are JSON texts here, which are cheap to copy to a thread.
// publishing.ts and deployment.ts do the work that needs the database: artifacts, users, the transaction.
import { type Problem, pointerOf, tokensOf } from "../../../platform/errors.ts";
import { extendHarnesses } from "../../harnesses/harness-extension.ts";
import { HARNESS_KEYS, type HarnessKey } from "../../harnesses/harnesses.ts";
import { type ArtifactReference, artifactReferences, sourceWarningsOf } from "../delivery/artifacts.ts";
import { readDraft } from "../document/draft.ts";
import { withOwnOverrides, withoutFormerOverrides } from "../document/package-overrides.ts";
import { safeDefault } from "../document/safe-default.ts";
import { unstamped } from "../document/stamp.ts";
import { readDocumentText } from "../document/text.ts";
import type { Policy } from "../drafts/draft-merge.ts";
import { type GovernanceConfig, NO_POLICY } from "../model.ts";
import { type ChangeList, changeListOf } from "../shown/change-list.ts";
import { checkRanges } from "../versions/coverage.ts";
import { readAuthored } from "./authored-document.ts";
import { diffRevisions } from "./diff.ts";
import {
  type FinalizeContext,
  finalizeDocument,
  finalizeUnchanged,
  isSameDocument,
  joinedProblems,
  preventingProblems,
  withoutRevisionFields,
} from "./finalize.ts";
import { mergeDocuments, openConflicts } from "./merge.ts";
import { findForeignMembers, withExtensions } from "./ownership.ts";
import {
  type ExtensionsPublication,
  extensionsDocument,
  extensionsPointer,
  type HarnessPublication,
  harnessPointer,
  readSettingsText,
} from "./publications.ts";
import { accepted, type BaseRevisionText, parse, placesOf, refused, type Validated } from "./validated.ts";

/** Called repeatedly while a text is read; true if that takes too long. */
export type TimeIsOver = () => boolean;

/** Checks the text of a policy without its extensions. @throws DomainError `document.too_slow` */
export function validatePolicy(
  { text, base, frame }: BaseRevisionText & { text: string },
  isOver?: TimeIsOver,
): Validated {
  const source = readDocumentText(text, isOver);
  if (source.problems.length > 0) return refused(source.problems);
  const draft = readDraft(source.input);
  const found = [...findForeignMembers(source.input), ...draft.problems];
  if (found.length > 0) return refused(source.locate(found));
  const current = parse(base);
  const problems: Problem[] = [];
  const document = finalizeDocument(withExtensions(draft.document, current, { published: current }), {
    ...frame,
    base: current,
    problems,
  });
  return problems.length > 0 ? refused(source.locate(problems)) : accepted(document, current);
}

/** Checked extensions, by themselves and applied to the current document. */
export interface ValidatedExtensions {
  /** problems of the extensions alone, to report before and after the problems of archives */
  before: Problem[];
  after: Problem[];
  /** archives that packages name; empty if packages cannot be read */
  references: ArtifactReference[];
  /** undefined if the extensions are invalid or no current document was given */
  whole: Validated | undefined;
  /** ids of the packages, in order */
  packages: string[];
}

/** @param extensions an ExtensionsPublication as JSON; @param base undefined if the author started from a different revision */
export function validateExtensions({
  extensions,
  base,
  frame,
}: {
  extensions: string;
  base: string | undefined;
  frame: FinalizeContext;
}): ValidatedExtensions {
  const publication: ExtensionsPublication = JSON.parse(extensions);
  const { packageOverrides = {}, mcp = {} } = publication;
  const { document, problems } = readDraft(extensionsDocument(publication));
  const placed = (found: readonly Problem[]) => found.map(extensionsPointer(mcp, packageOverrides));
  // The draft lacks unreadable packages, so later ones would get wrong numbers.
  const areRead = !problems.some(({ pointer }) => pointer.startsWith("/packages"));
  const after: Problem[] = [];
  if (problems.length === 0 && !frame.isEdit)
    finalizeDocument(document, { ...frame, gateway: false, base: undefined, problems: after });
  const isSound = problems.length === 0 && after.length === 0;
  return {
    before: placed(problems),
    after: placed(after),
    references: areRead ? artifactReferences(document) : [],
    whole: isSound && base !== undefined ? extended(document, { base, frame, placed }) : undefined,
    packages: document.packages.map(({ id }) => id),
  };
}

function extended(
  extensions: GovernanceConfig,
  { base, frame, placed }: BaseRevisionText & { placed: (found: readonly Problem[]) => Problem[] },
): Validated {
  const current = parse(base);
  const problems: Problem[] = [];
  const wanted = withExtensions(unstamped(current), extensions, { published: current });
  const document = finalizeDocument(wanted, { ...frame, base: current, problems });
  const preventing = preventingProblems(problems, frame);
  return preventing.length > 0 ? refused(placed(preventing)) : accepted(document, current);
}

/** @returns only problems if the settings cannot be read: they are reported before a stale revision */
export function validateHarness(
  {
    harness,
    publication,
    base,
    frame,
  }: {
    /** undefined for an unknown revision; then only the settings are read */
    harness: HarnessKey | undefined;
    publication: Pick<
      HarnessPublication,
      "managedConfigYaml" | "versionRequirement" | "allowUnverifiedVersions" | "isAllowed"
    >;
    base: string | undefined;
    frame: FinalizeContext;
  },
  isOver?: TimeIsOver,
): { unread: Problem[]; whole: Validated | undefined } {
  const source = readSettingsText(publication.managedConfigYaml, isOver);
  const { settings, problems: unread } = source;
  if (unread.length > 0 || base === undefined || harness === undefined) return { unread, whole: undefined };
  const current = parse(base);
  const before = unstamped(current);
  const { mcp = [], package_overrides = {}, gateway_models } = before.harnesses[harness] ?? {};
  const requirement = publication.versionRequirement?.trim();
  const policy = {
    ...(requirement && { version_requirement: requirement }),
    ...(publication.allowUnverifiedVersions && { allow_unverified_versions: true }),
    managed_config: settings,
  };
  const { document: read, problems } = readDraft({ revision: "", harnesses: { [harness]: policy } });
  const placed = () => refused(problems.map(harnessPointer(harness, source)));
  if (problems.length > 0) return { unread, whole: placed() };
  const own = { ...(read.harnesses[harness] ?? NO_POLICY), mcp, package_overrides };
  const wanted = {
    ...before,
    allowed_harnesses: allowedWith(before.allowed_harnesses, harness, publication.isAllowed),
    harnesses: { ...before.harnesses, [harness]: { ...own, ...(gateway_models && { gateway_models }) } },
  };
  const document = finalizeDocument(wanted, { ...frame, base: current, problems });
  return { unread, whole: problems.length > 0 ? placed() : accepted(document, current) };
}

function allowedWith(
  allowed: HarnessKey[],
  harness: HarnessKey,
  isAllowed: boolean | undefined,
): HarnessKey[] {
  if (isAllowed === undefined || allowed.includes(harness) === isAllowed) return allowed;
  return isAllowed ? [...allowed, harness] : allowed.filter((key) => key !== harness);
}

/** @param former a formerly published document, whose ranges are not checked again */
export function validateFormerRevision({
  former,
  base,
  frame,
}: BaseRevisionText & { former: string }): Validated {
  const problems: Problem[] = [];
  const document = finalizeUnchanged(unstamped(parse(former)), { ...frame, problems });
  return problems.length > 0 ? refused(problems) : accepted(document, parse(base));
}

/** The section of a deployment file. */
export interface WantedSection {
  /** as JSON */
  input: string;
  /** environment variables that the file refers to */
  variables: Readonly<Record<string, string>>;
  frame: FinalizeContext;
}

/** @returns the document without stamps, as JSON, and its problems; the caller checks archives */
export function validateSection({ input, variables, frame }: WantedSection): {
  before: Problem[];
  after: Problem[];
  references: ArtifactReference[];
  document: string;
} {
  const variable = (name: string) => (Object.hasOwn(variables, name) ? variables[name] : undefined);
  const { document, problems, references } = readAuthored({ input: JSON.parse(input), variable });
  const after: Problem[] = [];
  if (problems.length === 0) finalizeUnchanged(document, { ...frame, problems: after });
  return { before: problems, after, references, document: JSON.stringify(document) };
}

/** The document of a deployment file merged with the current one. */
export interface Joined {
  conflicts: string[];
  problems: Problem[];
  /** problems that do not prevent publishing: workstations may fail to get a harness or an archive */
  warnings: Problem[];
  /** stamped, as JSON */
  document: string;
  /** the new base of the file, as JSON */
  baseline: string;
  isChanged: boolean;
  changed: string[];
}

export interface JoinRequest {
  /** the current document; undefined at the first start */
  current: string | undefined;
  /** the last version of the file, and the places that did not follow it */
  known: { baseline: string; conflicts: readonly string[] } | undefined;
  /** the current version of the file; undefined if it has no section */
  wanted: string | undefined;
  frame: FinalizeContext;
}

/** Merges the policy section of the deployment file with the current policy (merge.ts) and checks the result. */
export function joinSection({ current, known, wanted, frame }: JoinRequest): Joined {
  const baseline = known ? parse(known.baseline) : withoutRevisionFields(safeDefault());
  const says = wanted === undefined ? baseline : parse(wanted);
  const inForce = current === undefined ? undefined : parse(current);
  const { merged: joined, conflicts: found } = inForce
    ? mergeDocuments({ baseline, current: withoutRevisionFields(inForce), wanted: says })
    : { merged: says, conflicts: [] };
  const open = [...(known?.conflicts ?? []), ...found];
  const kept = open.flatMap(packageAt);
  const merged = inForce ? withUsesOf(inForce, joined, kept) : joined;
  const sides = { current: merged, wanted: says };
  const places = [...open, ...kept.flatMap((id) => usesOf(id, new Set(open)))];
  const conflicts = inForce ? openConflicts(places, sides) : [];
  const problems = inForce ? joinedProblems(unstamped(merged), inForce) : [];
  const document = finalizeUnchanged(merged, { ...frame, problems });
  const isChanged = inForce === undefined || !isSameDocument(inForce, document);
  return {
    conflicts,
    problems,
    warnings: [...checkRanges(document, extendHarnesses(frame.extension)), ...sourceWarningsOf(document)],
    document: JSON.stringify(document),
    baseline: JSON.stringify(says),
    isChanged,
    changed: isChanged && inForce ? placesOf(inForce, document) : [],
  };
}

/** @returns the id of the package whose whole entry is a conflict */
function packageAt(path: string): string[] {
  const [list, id, ...rest] = tokensOf(path);
  return list === "packages" && id !== undefined && rest.length === 0 ? [id] : [];
}

/** In a conflict the dashboard's package and its overrides apply. Overrides of a package that the file removed end with it. */
const withUsesOf = (
  inForce: GovernanceConfig,
  joined: GovernanceConfig,
  kept: readonly string[],
): GovernanceConfig =>
  withoutFormerOverrides(withOwnOverrides(joined, new Map(kept.map((id) => [id, inForce]))), inForce);

/** @param open conflicts @returns the places of the package's overrides that no open conflict contains */
const usesOf = (id: string, open: ReadonlySet<string>): string[] =>
  HARNESS_KEYS.map((key) => ["harnesses", key, "package_overrides", id])
    .filter((tokens) => !tokens.some((_, at) => open.has(pointerOf(tokens.slice(0, at)))))
    .map(pointerOf);

export interface Sides {
  /** a document with its audiences as JSON */
  before: string;
  after: string;
  /** see changeListOf */
  isHidden?: boolean;
}

/** @returns every place that differs */
export function difference({ before, after, isHidden = false }: Sides): ChangeList {
  const from: Policy = JSON.parse(before);
  const to: Policy = JSON.parse(after);
  return changeListOf(diffRevisions(from, to), { isHidden, documents: [from.document, to.document] });
}

/** @returns the places where two documents differ, at most PATHS_NAMED_MAX */
export const compare = ({ before, after }: { before: string; after: string }): string[] =>
  placesOf(parse(before), parse(after));

/** @returns the problem with a pointer into the section of a file */
export const atSection = (problem: Problem): Problem => ({
  ...problem,
  pointer: pointerOf(["governance"]) + problem.pointer,
});
