// Limits how many invitations and how many password links a user may give in a window. Identity receives it as a dependency, because
// it has no budgets of its own.
import type { Clock } from "../../../platform/clock.ts";
import type { Tx } from "../../../platform/database/database.ts";
import type { Actor } from "../../shared/actor.ts";
import type { LimitSettings } from "../settings.ts";
import { consumeBudget } from "./budgets.ts";

export interface LinkBudgetOptions {
  clock: Clock;
  limits: Pick<LimitSettings, "invitationsPerActor" | "windowSeconds">;
}

/**
 * @returns a function that counts one link of a user, by kind, in the transaction that creates it; the operator and the service are
 *   not counted
 * @throws (from the function) DomainError `access.too_many_attempts`
 */
export const createLinkBudget =
  ({ clock, limits }: LinkBudgetOptions) =>
  (tx: Tx, actor: Actor, kind: "invitation" | "password_link"): void => {
    if (actor.kind !== "user" || actor.id === null) return;
    const window = { windowSeconds: limits.windowSeconds, nowMs: clock.nowMs() };
    consumeBudget(tx, {
      name: `${kind}.actor`,
      subject: actor.id,
      limit: limits.invitationsPerActor,
      ...window,
    });
  };
