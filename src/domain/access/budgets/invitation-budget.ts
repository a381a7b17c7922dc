// Limits how many invitations a user may send in a window. Identity receives it as a dependency, because it has no budgets of its
// own.
import type { Clock } from "../../../platform/clock.ts";
import type { Tx } from "../../../platform/database/database.ts";
import type { Actor } from "../../shared/actor.ts";
import type { LimitSettings } from "../settings.ts";
import { spend } from "./budgets.ts";

export interface InvitationBudgetOptions {
  clock: Clock;
  limits: Pick<LimitSettings, "invitationsPerActor" | "windowSeconds">;
}

/**
 * @returns a function that counts one invitation of a user in the transaction that creates it; the operator and the service are
 *   not counted
 * @throws (from the function) DomainError `access.too_many_attempts`
 */
export const createInvitationBudget =
  ({ clock, limits }: InvitationBudgetOptions) =>
  (tx: Tx, actor: Actor): void => {
    if (actor.kind !== "user" || actor.id === null) return;
    const window = { windowSeconds: limits.windowSeconds, nowMs: clock.nowMs() };
    spend(tx, { name: "invitation.actor", subject: actor.id, limit: limits.invitationsPerActor, ...window });
  };
