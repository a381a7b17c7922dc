// Stores the last requests of identity providers that were refused because of their content, for operators (SCIM-33). They are in
// the database, because commands read them from another process.
import type { Clock } from "../../../platform/clock.ts";
import type { Db } from "../../../platform/database/database.ts";
import * as store from "./refusals-store.ts";

export type { Refusal } from "./refusals-store.ts";

export const REFUSALS_KEPT_MAX = 100;
/** write limit, because a provider that sends nonsense all day must not keep the disk busy */
export const REFUSALS_PER_SECOND_MAX = 10;
/** maximum characters of a detail */
export const REFUSAL_DETAIL_MAX = 500;

export class Refusals {
  #second = 0;
  #kept = 0;

  constructor(private readonly dependencies: { db: Db; clock: Clock }) {}

  /** The request is already answered, so no caller waits for this or sees a failure. */
  keep(organizationId: string, refusal: Omit<store.Refusal, "atMs">): void {
    const { db, clock } = this.dependencies;
    const atMs = clock.nowMs();
    if (!this.#isWithinBudget(Math.floor(atMs / 1_000))) return;
    const detail = refusal.detail.slice(0, REFUSAL_DETAIL_MAX);
    const row = { ...refusal, organizationId, atMs, detail, kept: REFUSALS_KEPT_MAX };
    db.writeInBackground((tx) => store.addRefusal(tx, row), "unobserved").catch(() => {});
  }

  /** @returns newest first */
  list(organizationId: string): readonly store.Refusal[] {
    return store.refusalsOf(this.dependencies.db.read, organizationId);
  }

  #isWithinBudget(second: number): boolean {
    if (second !== this.#second) {
      this.#second = second;
      this.#kept = 0;
    }
    this.#kept += 1;
    return this.#kept <= REFUSALS_PER_SECOND_MAX;
  }
}
