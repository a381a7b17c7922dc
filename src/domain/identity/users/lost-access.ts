// What users lose besides their logins when a change removes their role or access: their gateway key, which was made for an
// active person with one address, and the invitations that they sent as administrators.
import type { Tx } from "../../../platform/database/database.ts";
import type { Actor } from "../../shared/actor.ts";
import type { IdentityDependencies, KeyLoss } from "../dependencies.ts";
import * as invitationStore from "../invitations/invitation-store.ts";
import { emailKey, isActiveAdministrator, type User } from "../model.ts";

type Dependencies = Pick<IdentityDependencies, "audit" | "retireGatewayKey">;

/**
 * Revokes what a change of a user ends, in the transaction of that change. Every change of role, status or address must call it.
 * @returns how many pending invitations this canceled
 */
export function revokeLostAccess(
  tx: Tx,
  dependencies: Dependencies,
  { actor, before, after }: { actor: Actor; before: User; after: User },
): number {
  const reason = lossOf(before, after);
  if (reason) dependencies.retireGatewayKey(tx, { userId: after.id, reason, nowMs: after.updatedAtMs });
  return isActiveAdministrator(after)
    ? 0
    : cancelSentInvitations(tx, dependencies, { actor, ids: [after.id] });
}

/**
 * Cancels the pending invitations of users who are no longer administrators: they could still create administrators.
 * @returns how many
 */
export function cancelSentInvitations(
  tx: Tx,
  { audit }: Pick<Dependencies, "audit">,
  { actor, ids }: { actor: Actor; ids: readonly string[] },
): number {
  const inviters = { organizationId: actor.organizationId, ids };
  const targets = invitationStore.cancelPendingFrom(tx, inviters);
  const after = { status: "canceled", reason: "inviter_lost_role" };
  audit.recordAll(tx, { actor, action: "invitation.cancel", targets, after });
  return targets.length;
}

function lossOf(before: User, after: User): KeyLoss | undefined {
  if (before.status === "active" && after.status !== "active")
    return after.status === "removed" ? "user_removed" : "user_suspended";
  return emailKey(before.email) === emailKey(after.email) ? undefined : "address_changed";
}
