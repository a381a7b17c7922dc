// Background jobs of the inventory: delete clients that stopped reporting, and recompute verdicts after the rules change.
// Each transaction handles one bounded batch. The scheduler decides when the jobs run.
import { setImmediate } from "node:timers/promises";
import { type Clock, DAY_MS, toRfc3339 } from "../../platform/clock.ts";
import type { Db, Tx } from "../../platform/database/database.ts";
import { runInBatches } from "../../platform/steps.ts";
import type { Audit } from "../audit/service.ts";
import type { Actor } from "../shared/actor.ts";
import { figuresOf } from "./inventory-figures.ts";
import { BATCH_ROWS } from "./limits.ts";
import type { Reported } from "./model.ts";
import * as store from "./store.ts";
import type { Evaluate } from "./verdict/verdict-cache.ts";

export interface RetentionDependencies {
  db: Db;
  clock: Clock;
  audit: Audit;
}

/**
 * Removes clients that have not reported for `retentionDays`. Each batch writes one audit entry with its count.
 * @param signal stops the run between two batches
 * @returns the number of clients removed
 */
export async function forgetUnseen(
  { db, clock, audit }: RetentionDependencies,
  actor: Actor,
  { retentionDays, signal }: { retentionDays: number; signal: AbortSignal },
): Promise<number> {
  const { organizationId } = actor;
  const seenBeforeMs = clock.nowMs() - retentionDays * DAY_MS;
  const batch = (tx: Tx): number => {
    const removed = store.removeUnseen(tx, { organizationId, seenBeforeMs, limit: BATCH_ROWS });
    const event = { actor, action: "client.forget", target: organizationId };
    const after = { seen_before: toRfc3339(seenBeforeMs), removed };
    if (removed > 0) audit.record(tx, { ...event, after });
    return removed;
  };
  return await runInBatches(() => db.write(batch, "clients"), { limit: BATCH_ROWS, signal });
}

/**
 * Recomputes verdicts given under other rules, for example after an upgrade or a change of the harness file. Once all reports are
 * done, a run does nothing until the rules change again. A report that arrives during a run keeps the verdict it got on arrival.
 */
export class VerdictRenewal {
  /** the rules that all stored verdicts follow */
  #doneFor: string | undefined;

  constructor(private readonly dependencies: { db: Db; evaluate: Evaluate; rules(): string }) {}

  /** @param signal stops the run between two batches. @returns the number of reports evaluated again */
  async run(signal: AbortSignal): Promise<number> {
    let reevaluated = 0;
    for (
      let rules = this.dependencies.rules();
      this.#doneFor !== rules && !signal.aborted;
      rules = this.dependencies.rules()
    ) {
      const rows = store.listOutdatedVerdicts(this.dependencies.db.read, { rules, limit: BATCH_ROWS });
      reevaluated += await this.#renew(rows, rules);
      if (rows.length < BATCH_ROWS) this.#doneFor = rules;
    }
    return reevaluated;
  }

  async #renew(rows: readonly store.ReportRow[], rules: string): Promise<number> {
    await setImmediate(); // lets requests run between two batches
    if (rows.length === 0) return 0;
    const renewed = rows.map((row) => ({ row, evaluation: this.#evaluate(reportedIn(row), rules) }));
    await this.dependencies.db.write((tx) => {
      for (const { row, evaluation } of renewed) store.updateVerdict(tx, row, evaluation);
    }, "clients");
    return rows.length;
  }

  #evaluate(reported: Reported, rules: string): store.EvaluationRow {
    const { verdict, reasons } = this.dependencies.evaluate(reported);
    return { verdict, reasons: JSON.stringify(reasons), evaluatedBy: rules, ...figuresOf(reported) };
  }
}

const reportedIn = ({ attempt, harnesses, packages, ...row }: store.ReportRow): Reported => ({
  ...row,
  attempt: attempt === null ? null : JSON.parse(attempt),
  harnesses: JSON.parse(harnesses),
  packages: JSON.parse(packages),
});
