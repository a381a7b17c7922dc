// Explains the policy of one user on one harness: the revision, whether the harness and the installed version are allowed, each
// managed value with its line in the policy, and the status of each package (USE-7).

import { DomainError, pointerOf } from "../../../platform/errors.ts";
import { ownMember } from "../../../platform/json/json-object.ts";
import { quoted } from "../../../platform/text/problem-list.ts";
import { HARNESS_KEYS, type Harness, type HarnessKey } from "../../harnesses/harnesses.ts";
import { parseVersion } from "../../shared/exact-version.ts";
import type { UserGroups } from "../../shared/user-groups.ts";
import { hiddenPackages, personOf } from "../delivery/audiences.ts";
import { KNOWN_SETTINGS } from "../document/harness-policy.ts";
import { withoutUndeliveredModels } from "../document/model-lists.ts";
import type { HarnessPolicy, Revision } from "../model.ts";
import { readHarnessKey } from "../publishing/publications.ts";
import { layoutFor } from "../versions/layout-selection.ts";
import { checkVersion } from "../versions/versions.ts";
import { type LinesByPointer, leavesOf } from "./policy-lines.ts";

/** One value that the policy sets. The user chooses everything else. */
interface ExplainedValue {
  /** RFC 6901 pointer into the document */
  pointer: string;
  value: unknown;
  /** 1-based, in the canonical text of the revision */
  line: number | undefined;
}

interface ExplainedPackage {
  id: string;
  version: string;
  /** `installed`, or the reason why not */
  state: "installed" | "hidden" | "disabled" | "other_harness" | "other_version";
  line: number | undefined;
}

export interface Explanation {
  revision: Pick<Revision, "id" | "sequence" | "origin" | "createdAtMs">;
  harness: HarnessKey;
  isAllowed: boolean;
  /** whether workstations refuse to run on a stale policy */
  isRequired: boolean;
  /** why the given version is not allowed; absent if it is allowed or none was given */
  versionRefusal: string | undefined;
  /** values that the policy enforces */
  values: ExplainedValue[];
  /** pointers of known settings that the policy leaves to the harness and its user */
  defaults: string[];
  packages: ExplainedPackage[];
}

export interface Question {
  userId: string;
  harness: string;
  /** installed, full SemVer */
  version?: string | undefined;
}

/** @throws DomainError `governance.unknown_harness`, `governance.bad_version` */
export function assertQuestion({ harness, version }: Question): void {
  readHarnessKey(harness);
  if (version !== undefined && !parseVersion(version)) throw badVersion(version);
}

interface Explained {
  /** lines of the revision, see policy-lines.ts */
  lines: LinesByPointer;
  /** @returns the current facts; called only to check a version */
  harnesses: () => readonly Harness[];
  userGroups: Pick<UserGroups, "of">;
}

/**
 * @returns the effect of the revision on the user
 * @throws DomainError `governance.unknown_harness`, `governance.bad_version`
 */
export function explain(
  revision: Revision,
  question: Question,
  { lines, harnesses, userGroups }: Explained,
): Explanation {
  const { document, id, sequence, origin, createdAtMs } = revision;
  const { version } = question;
  assertQuestion(question);
  const harness = readHarnessKey(question.harness);
  const policy = withoutUndeliveredModels(document).harnesses[harness];
  return {
    revision: { id, sequence, origin, createdAtMs },
    harness,
    isAllowed: document.allowed_harnesses.includes(harness),
    isRequired: document.required,
    versionRefusal: version === undefined ? undefined : checkVersion(harnesses(), policy, harness, version),
    values: policy ? valuesOf(policy, pointerOf(["harnesses", harness]), lines) : [],
    defaults: defaultsOf(policy, harness),
    packages: packagesOf(revision, { ...question, harness }, { lines, userGroups }),
  };
}

/** A summary of a revision's effect on a user. */
export interface PolicySummary {
  revision: Pick<Revision, "id" | "sequence" | "createdAtMs">;
  /** harnesses that may run, in published order */
  allowed: readonly HarnessKey[];
  /** whether workstations refuse to run on a stale policy */
  isRequired: boolean;
  /** number of packages that are installed for the user for at least one of these harnesses */
  packages: number;
}

/** @returns the effect of the revision on the user, without values or lines */
export function summarize(
  revision: Revision,
  userId: string,
  userGroups: Pick<UserGroups, "of">,
): PolicySummary {
  const { document, id, sequence, createdAtMs } = revision;
  const hidden = new Set(hiddenPackages(revision, personOf(userId, userGroups)));
  const allowed = HARNESS_KEYS.filter((harness) => document.allowed_harnesses.includes(harness));
  const isInstalled = (managed: Revision["document"]["packages"][number]): boolean =>
    !hidden.has(managed.id) &&
    allowed.some((harness) => stateOf(revision, managed, { userId, harness }) === "installed");
  return {
    revision: { id, sequence, createdAtMs },
    allowed,
    isRequired: document.required,
    packages: document.packages.filter(isInstalled).length,
  };
}

const defaultsOf = (policy: HarnessPolicy | undefined, harness: HarnessKey): string[] =>
  KNOWN_SETTINGS.filter((name) => (policy?.managed_config[name] ?? null) === null).map((name) =>
    pointerOf(["harnesses", harness, "managed_config", name]),
  );

function valuesOf(policy: HarnessPolicy, above: string, lines: LinesByPointer): ExplainedValue[] {
  const { package_overrides: _, ...rest } = policy;
  const given = Object.entries(rest.managed_config).filter(
    ([name, value]) => value !== null || !KNOWN_SETTINGS.includes(name),
  );
  const set = { ...rest, managed_config: Object.fromEntries(given) };
  return leavesOf(set, above).map(({ pointer, value }) => ({ pointer, value, line: lines.get(pointer) }));
}

type ReadQuestion = Question & { harness: HarnessKey };

function packagesOf(
  revision: Revision,
  question: ReadQuestion,
  { lines, userGroups }: Omit<Explained, "harnesses">,
): ExplainedPackage[] {
  const hidden = new Set(hiddenPackages(revision, personOf(question.userId, userGroups)));
  return revision.document.packages.map((managed, at) => ({
    id: managed.id,
    version: managed.version,
    state: hidden.has(managed.id) ? "hidden" : stateOf(revision, managed, question),
    line: lines.get(pointerOf(["packages", at])),
  }));
}

function stateOf(
  { document }: Revision,
  managed: Revision["document"]["packages"][number],
  { harness, version }: ReadQuestion,
): ExplainedPackage["state"] {
  const adapter = managed.adapters[harness];
  if (!adapter) return "other_harness";
  if (ownMember(document.harnesses[harness]?.package_overrides ?? {}, managed.id)?.enabled === false)
    return "disabled";
  return version === undefined || layoutFor(adapter, version) ? "installed" : "other_version";
}

const badVersion = (version: string) =>
  new DomainError("invalid", "governance.bad_version", `${quoted(version)} is not a version such as 1.2.3`);
