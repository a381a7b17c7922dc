// Gives a report its verdict: finds the revision it names and caches what that revision expects. A revision never changes, so a
// verdict becomes outdated only when the rules change. retention.ts recomputes outdated verdicts.
import { LRUCache } from "lru-cache";
import { sha256Hex } from "../../../platform/ids.ts";
import { personOf, type Revision } from "../../governance/service.ts";
import type { Harness } from "../../harnesses/harnesses.ts";
import type { UserGroups } from "../../shared/user-groups.ts";
import type { Evaluation, Reported } from "../model.ts";
import { type CheckVersion, type Expectations, expectationsOf } from "./expectations.ts";
import { evaluate, targetOf } from "./verdict.ts";

export interface EvaluatorDependencies {
  /** @returns the organization's revision with that id, current or former; undefined for none */
  findRevision(organizationId: string, id: string): Revision | undefined;
  checkVersion: CheckVersion;
  userGroups: Pick<UserGroups, "of">;
  /** in force */
  harnesses(): readonly Harness[];
}

/** Maximum number of revisions whose expectations are cached. A fleet reports the current revision and a few earlier ones. */
const EXPECTATIONS_KEPT_MAX = 32;

/** Increment this when verdict.ts, checkVersion or inventory-figures.ts starts to treat the same report differently. */
const RULES_EDITION = 2;

const named = new WeakMap<readonly Harness[], string>();

/** @returns an id of the rules and the certified versions, on which a verdict depends in addition to report and revision */
export function rulesOf(harnesses: readonly Harness[]): string {
  const known = named.get(harnesses);
  if (known !== undefined) return known;
  const rules = sha256Hex(`${RULES_EDITION}\n${JSON.stringify(harnesses)}`).slice(0, 16);
  named.set(harnesses, rules);
  return rules;
}

export type Evaluate = (reported: Reported) => Evaluation;

/** Called once, in service.ts, because the returned function owns the cache. */
export function createEvaluator({
  findRevision,
  checkVersion,
  userGroups,
  harnesses,
}: EvaluatorDependencies): Evaluate {
  const known = new LRUCache<string, Expectations>({ max: EXPECTATIONS_KEPT_MAX });
  const expectationsFor = (organizationId: string, id: string): Expectations | undefined => {
    const key = `${rulesOf(harnesses())} ${organizationId} ${id}`; // with the rules, because the value caches version checks
    const remembered = known.get(key);
    if (remembered) return remembered;
    const revision = findRevision(organizationId, id);
    if (!revision) return undefined;
    const fresh = expectationsOf(revision, checkVersion);
    known.set(key, fresh);
    return fresh;
  };
  return (reported) => {
    const target = targetOf(reported);
    const expectations = target === undefined ? undefined : expectationsFor(reported.organizationId, target);
    return evaluate(reported, { expectations, user: personOf(reported.userId, userGroups) });
  };
}
