// Compares a report with the revision it names. Pure functions: the caller passes the expectations of that revision.
// inventory/list-store.ts derives a client's health from the verdict. On this hot path, loops push into one list, because
// nearly every report yields no reason.
import { isJsonObject } from "../../../platform/json/json-object.ts";
import type { Person } from "../../governance/service.ts";
import { REASON_LENGTH_MAX, REASONS_MAX } from "../limits.ts";
import type { Evaluation, Reported } from "../model.ts";
import { harnessNameOf } from "../report.ts";
import type { Expectations, ExpectedPackage, HarnessExpectations } from "./expectations.ts";

/** The one error text that is not a problem: clients send it until they have applied a new revision. */
const NOT_YET_CURRENT = "configuration is not current";
/** The state of a healthy package. */
export const APPLIED = "applied";

/** @returns the revision that the report is about; undefined for none */
export const targetOf = ({ attempt, configRevision }: Reported): string | undefined =>
  attempt?.revision ?? configRevision ?? undefined;

export interface Expected {
  /** expectations of the report's target; undefined if the organization has no such revision */
  expectations: Expectations | undefined;
  /** the user of the report */
  user: Person;
}

export function evaluate(reported: Reported, { expectations, user }: Expected): Evaluation {
  const target = targetOf(reported);
  if (target === undefined) return unknown("no revision of the policy was applied yet");
  if (!expectations) return unknown(`the revision ${target} is not one of this organization`);
  const reasons = generalReasons(reported, target);
  for (const scope of scopeOf(reported, expectations))
    reasons.push(...versionReasons(reported, scope), ...packageReasons(reported, { ...scope, user }));
  return reasons.length === 0 ? MATCHES : { verdict: "differs", reasons: presentable(reasons) };
}

const MATCHES: Evaluation = { verdict: "matches", reasons: [] };

const unknown = (reason: string): Evaluation => ({ verdict: "unknown", reasons: [reason] });

function generalReasons({ applied, configRevision, filesOk, error }: Reported, target: string): string[] {
  const reasons: string[] = [];
  if (!applied || configRevision !== target) reasons.push(`the revision ${target} is not applied`);
  if (!filesOk) reasons.push("managed files are missing or were changed");
  const fault = error?.trim() ?? "";
  if (fault !== "" && fault !== NOT_YET_CURRENT) reasons.push(fault);
  return reasons;
}

interface Scope {
  harness: string;
  expected: HarnessExpectations;
}

/** @returns the harnesses to check: the harness of the failed attempt, and those that the workstation reconciled to the target */
function scopeOf(reported: Reported, expectations: Expectations): Scope[] {
  const { attempt, configRevision, harnesses } = reported;
  const names = new Set(attempt ? [attempt.harness] : []);
  if (configRevision === targetOf(reported)) {
    for (const entry of harnesses) {
      const name = harnessNameOf(entry);
      const isReconciled = !isJsonObject(entry) || entry.reconciled === true;
      if (name !== undefined && isReconciled) names.add(name);
    }
  }
  const scopes: Scope[] = [];
  for (const harness of names) {
    const expected = expectations.get(harness);
    if (expected) scopes.push({ harness, expected });
  }
  return scopes;
}

/** Skips entries that are only a name, which have no version to check. */
function versionReasons({ harnesses }: Reported, { harness, expected }: Scope): string[] {
  const reasons: string[] = [];
  for (const entry of harnesses) {
    if (!isJsonObject(entry) || entry.name !== harness) continue;
    const fault = versionProblem(entry, expected);
    if (fault !== undefined) reasons.push(`${harness}: ${fault}`);
  }
  return reasons;
}

function versionProblem(
  entry: Readonly<Record<string, unknown>>,
  expected: HarnessExpectations,
): string | undefined {
  if (entry.client_supported === false) return "the client does not support it";
  const text = reportedVersionOf(entry);
  return text === "" ? "no version was reported" : expected.versionFault(text);
}

/** Characters of a reported version to search. */
export const VERSION_TEXT_MAX = 256;

const textOf = (given: unknown): string =>
  typeof given === "string" ? given.trim().slice(0, VERSION_TEXT_MAX) : "";

/** @returns the reported version of a harness, or else the text it was read from; empty for none */
export const reportedVersionOf = ({ version, raw_version: raw }: Readonly<Record<string, unknown>>): string =>
  textOf(version) || textOf(raw);

function packageReasons(
  reported: Reported,
  { harness, expected, user }: Scope & Pick<Expected, "user">,
): string[] {
  const { packages } = reported;
  const reasons: string[] = [];
  const seen = new Set<string>();
  const isWanted = (entry: ExpectedPackage): boolean => entry.isFor(user);
  for (const members of packages) {
    if (!isJsonObject(members) || members.harness !== harness || typeof members.id !== "string") continue;
    const { id } = members;
    const wanted = expected.packages.get(id);
    const faults = seen.has(id)
      ? ["is reported twice"]
      : packageProblems(members, wanted && isWanted(wanted) ? wanted : undefined, reported);
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

function packageProblems(
  { version, sha256, state, error }: Readonly<Record<string, unknown>>,
  expected: ExpectedPackage | undefined,
  reported: Reported,
): string[] {
  if (!expected) return ["is not expected"];
  const archive = missingArchive(expected, reported);
  if (archive !== undefined) return [archive];
  const faults: string[] = [];
  if (state !== APPLIED) faults.push(packageStateProblem(state, error));
  if (version !== expected.version) faults.push(`has another version than ${expected.version}`);
  const digests = expected.digestsFor(reported.platform, reported.architecture);
  if (typeof sha256 !== "string" || !digests.has(sha256.toLowerCase()))
    faults.push("has another digest than the policy names");
  return faults;
}

function packageStateProblem(state: unknown, error: unknown): string {
  const why = typeof error === "string" && error.trim() !== "" ? `: ${error.trim()}` : "";
  return `is ${typeof state === "string" ? state : "in no known state"}${why}`;
}

function presentable(reasons: readonly string[]): string[] {
  const distinct = [...new Set(reasons.map((reason) => reason.slice(0, REASON_LENGTH_MAX)))].sort();
  const left = distinct.length - REASONS_MAX;
  return left > 0 ? [...distinct.slice(0, REASONS_MAX), `and ${left} more`] : distinct;
}
