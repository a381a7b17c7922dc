// Compares a report with the revision that it names (control-api.md section 10.2). Pure: which revision that is, and what it
// demands, is handed in. What follows for health is inventory-store.ts's.
import { parseVersion } from "../exact-version.ts";
import { REASON_LENGTH_MAX, REASONS_MAX } from "./caps.ts";
import type { Expectations, ExpectedPackage, HarnessExpectations } from "./expectations.ts";
import type { Judgement, Reported } from "./model.ts";
import { harnessNameOf, hasMembers } from "./report.ts";

/** The one error text that is no fault: clients send it while a new revision is still to be applied. */
const NOT_YET_CURRENT = "configuration is not current";
const APPLIED = "applied";

/** @returns the revision that a report is about; nothing when it names none */
export const targetOf = ({ attempt, configRevision }: Reported): string | undefined =>
  attempt?.revision ?? configRevision ?? undefined;

/** @param expectations of the target; undefined when the organization has no such revision */
export function judge(reported: Reported, expectations: Expectations | undefined): Judgement {
  const target = targetOf(reported);
  if (target === undefined) return unknown("no revision of the policy was applied yet");
  if (!expectations) return unknown(`the revision ${target} is not one of this organization`);
  const reasons = [
    ...generalReasons(reported, target),
    ...scopeOf(reported, expectations).flatMap((scope) => [
      ...versionReasons(reported, scope),
      ...packageReasons(reported, scope),
    ]),
  ];
  return { verdict: reasons.length === 0 ? "matches" : "differs", reasons: presentable(reasons) };
}

const unknown = (reason: string): Judgement => ({ verdict: "unknown", reasons: [reason] });

function generalReasons({ applied, configRevision, filesOk, error }: Reported, target: string): string[] {
  const fault = error?.trim() ?? "";
  return [
    ...(applied && configRevision === target ? [] : [`the revision ${target} is not applied`]),
    ...(filesOk ? [] : ["managed files are missing or were changed"]),
    ...(fault === "" || fault === NOT_YET_CURRENT ? [] : [fault]),
  ];
}

interface Scope {
  harness: string;
  expected: HarnessExpectations;
}

/** The harnesses that the report vouches for: the one of the attempt, and those reconciled to the target. */
function scopeOf(reported: Reported, expectations: Expectations): Scope[] {
  const { attempt, configRevision, harnesses } = reported;
  const names = new Set(attempt ? [attempt.harness] : []);
  if (configRevision === targetOf(reported)) {
    for (const entry of harnesses) {
      const name = harnessNameOf(entry);
      const isReconciled = !hasMembers(entry) || entry.reconciled === true;
      if (name !== undefined && isReconciled) names.add(name);
    }
  }
  return [...names].flatMap((harness) => {
    const expected = expectations.get(harness);
    return expected ? [{ harness, expected }] : [];
  });
}

/** Clients that report names only are taken at their word. */
function versionReasons({ harnesses }: Reported, { harness, expected }: Scope): string[] {
  return harnesses.flatMap((entry) => {
    if (!hasMembers(entry) || entry.name !== harness) return [];
    if (entry.client_supported === false) return [`${harness}: the client does not support it`];
    const version = versionIn(entry);
    if (version === undefined) return [`${harness}: no version was reported`];
    const fault = expected.versionFault(version);
    return fault === undefined ? [] : [`${harness}: ${fault}`];
  });
}

const VERSION_IN_TEXT = /(?<![\w.])v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)/;
/** No version is longer, and only so much is looked through. */
const VERSION_TEXT_MAX = 256;

/** `codex-cli 0.145.0` holds a version as good as `0.145.0`. */
function versionIn({ version, raw_version: raw }: Readonly<Record<string, unknown>>): string | undefined {
  const given = [version, raw].find((text) => typeof text === "string" && text.trim() !== "");
  if (typeof given !== "string") return undefined;
  const text = given.trim().slice(0, VERSION_TEXT_MAX);
  if (parseVersion(text)) return text;
  return VERSION_IN_TEXT.exec(text)?.[1] ?? text;
}

/** Loops, where the rest maps lists: nearly every report is of many packages and gives no reason. */
function packageReasons(reported: Reported, { harness, expected }: Scope): string[] {
  const { packages, userId } = reported;
  const reasons: string[] = [];
  const seen = new Set<string>();
  const isWanted = ({ users }: ExpectedPackage): boolean => users?.has(userId) ?? true;
  for (const members of packages) {
    if (!hasMembers(members) || members.harness !== harness || typeof members.id !== "string") continue;
    const { id } = members;
    const wanted = expected.packages.get(id);
    const faults = seen.has(id)
      ? ["is reported twice"]
      : faultsOf(members, wanted && isWanted(wanted) ? wanted : undefined, reported);
    seen.add(id);
    for (const fault of faults) reasons.push(`${id} (${harness}): ${fault}`);
  }
  for (const [id, entry] of expected.packages) {
    if (seen.has(id) || !isWanted(entry)) continue;
    reasons.push(`${id} (${harness}): ${missingArchive(entry, reported) ?? "is missing"}`);
  }
  return reasons;
}

function missingArchive(expected: ExpectedPackage, { platform, architecture }: Reported): string | undefined {
  if (expected.digestsFor(platform, architecture).size > 0) return undefined;
  return `has no archive for ${architecture === null ? platform : `${platform}-${architecture}`}`;
}

function faultsOf(
  { version, sha256, state, error }: Readonly<Record<string, unknown>>,
  expected: ExpectedPackage | undefined,
  reported: Reported,
): string[] {
  if (!expected) return ["is not expected"];
  const archive = missingArchive(expected, reported);
  if (archive !== undefined) return [archive];
  const faults: string[] = [];
  if (state !== APPLIED) faults.push(stateFault(state, error));
  if (version !== expected.version) faults.push(`has another version than ${expected.version}`);
  const digests = expected.digestsFor(reported.platform, reported.architecture);
  if (typeof sha256 !== "string" || !digests.has(sha256.toLowerCase()))
    faults.push("has another digest than the policy names");
  return faults;
}

function stateFault(state: unknown, error: unknown): string {
  const why = typeof error === "string" && error.trim() !== "" ? `: ${error.trim()}` : "";
  return `is ${typeof state === "string" ? state : "in no known state"}${why}`;
}

function presentable(reasons: readonly string[]): string[] {
  const distinct = [...new Set(reasons.map((reason) => reason.slice(0, REASON_LENGTH_MAX)))].sort();
  const left = distinct.length - REASONS_MAX;
  return left > 0 ? [...distinct.slice(0, REASONS_MAX), `and ${left} more`] : distinct;
}
