// Gives reports their verdict: finds the revision that one is about, and remembers what revisions demand. A revision never
// changes, so a verdict only grows old when the rules of the program do; retention.ts renews those.
import { sha256Hex } from "../../../platform/ids.ts";
import type { Revision } from "../../governance/service.ts";
import type { Harness } from "../../harnesses/harnesses.ts";
import type { Judgement, Reported } from "../model.ts";
import { type CheckVersion, type Expectations, expectationsOf } from "./expectations.ts";
import { judge, targetOf } from "./verdict.ts";

export interface JudgingDependencies {
  /** @returns the revision of that id, current or former, if the organization has it */
  findRevision(organizationId: string, id: string): Revision | undefined;
  checkVersion: CheckVersion;
  /** in force */
  harnesses(): readonly Harness[];
}

/** Revisions whose demands are kept; a fleet reports on the one in force and on few before it. */
export const EXPECTATIONS_KEPT_MAX = 32;

/** To be raised when verdict.ts or checkVersion judges the same report differently than before. */
const RULES_EDITION = 1;

const named = new WeakMap<readonly Harness[], string>();

/** @returns a name for all that a verdict follows from besides report and revision: the rules and the certified versions */
export function rulesOf(harnesses: readonly Harness[]): string {
  const known = named.get(harnesses);
  if (known !== undefined) return known;
  const rules = sha256Hex(`${RULES_EDITION}\n${JSON.stringify(harnesses)}`).slice(0, 16);
  named.set(harnesses, rules);
  return rules;
}

export type Judge = (reported: Reported) => Judgement;

/** @returns the judge; made once, in service.ts */
export function createJudge({ findRevision, checkVersion, harnesses }: JudgingDependencies): Judge {
  const known = new Map<string, Expectations>();
  const expectationsFor = (organizationId: string, id: string): Expectations | undefined => {
    const key = `${rulesOf(harnesses())} ${organizationId} ${id}`; // faults of versions are remembered below it
    const remembered = known.get(key);
    if (remembered) return remembered;
    const revision = findRevision(organizationId, id);
    if (!revision) return undefined;
    const [oldest] = known.keys();
    if (known.size >= EXPECTATIONS_KEPT_MAX && oldest !== undefined) known.delete(oldest);
    const fresh = expectationsOf(revision, checkVersion);
    known.set(key, fresh);
    return fresh;
  };
  return (reported) => {
    const target = targetOf(reported);
    return judge(
      reported,
      target === undefined ? undefined : expectationsFor(reported.organizationId, target),
    );
  };
}
