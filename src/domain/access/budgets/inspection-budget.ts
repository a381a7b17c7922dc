// Limits how many package sources of repository connections a user may inspect in a window, because each response reveals a little about
// hosts that only the operator can reach. The catalog receives it as a dependency.
import type { Clock } from "../../../platform/clock.ts";
import type { Tx } from "../../../platform/database/database.ts";
import type { Actor } from "../../shared/actor.ts";
import { consumeBudget } from "./budgets.ts";

export const INSPECTIONS_PER_USER = 30;
const INSPECTION_WINDOW_SECONDS = 900;

/**
 * @returns a function that counts one inspection of a user; the operator and the service are not counted
 * @throws (from the function) DomainError `access.too_many_attempts`
 */
export const createInspectionBudget =
  ({ clock }: { clock: Clock }) =>
  (tx: Tx, { kind, id }: Actor): void => {
    if (kind !== "user" || id === null) return;
    const budget = { name: "source.inspection", subject: id, nowMs: clock.nowMs() };
    consumeBudget(tx, { ...budget, limit: INSPECTIONS_PER_USER, windowSeconds: INSPECTION_WINDOW_SECONDS });
  };
