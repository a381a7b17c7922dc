// Revokes what a change of role or access ends in addition to logins: the gateway key, which belongs to an active user with one
// address; an open password link; the second factors of a removed user; and the invitations and password links that the user
// created as an administrator.
import type { Tx } from "../../../platform/database/database.ts";
import type { Actor } from "../../shared/actor.ts";
import type { IdentityDependencies, KeyLoss } from "../dependencies.ts";
import * as invitationStore from "../invitations/invitation-store.ts";
import { emailKey, isActiveAdministrator, type User } from "../model.ts";
import * as passwordLinkStore from "../password-links/password-link-store.ts";

type Dependencies = Pick<IdentityDependencies, "audit" | "retireGatewayKey" | "removeFactors">;

/**
 * Revokes what a change of a user ends, in the transaction of that change. Every change of role, status or address must call it.
 * @returns how many pending invitations this canceled
 */
export function revokeLostAccess(
  tx: Tx,
  dependencies: Dependencies,
  { actor, before, after }: { actor: Actor; before: User; after: User },
): number {
  passwordLinkStore.removeLinks(tx, { userId: after.id });
  const reason = keyLossOf(before, after);
  if (reason) dependencies.retireGatewayKey(tx, { userId: after.id, reason, nowMs: after.updatedAtMs });
  if (after.status === "removed") dependencies.removeFactors(tx, after.id);
  return isActiveAdministrator(after) ? 0 : cancelIssuedLinks(tx, dependencies, { actor, ids: [after.id] });
}

/**
 * Cancels the pending invitations and password links created by users who are no longer administrators, because a kept link
 * could still create an administrator or open an administrator's account.
 * @returns how many invitations
 */
export function cancelIssuedLinks(
  tx: Tx,
  { audit }: Pick<Dependencies, "audit">,
  { actor, ids }: { actor: Actor; ids: readonly string[] },
): number {
  const inviters = { organizationId: actor.organizationId, ids };
  const targets = invitationStore.cancelPendingFrom(tx, inviters);
  const after = { status: "canceled", reason: "inviter_lost_role" };
  passwordLinkStore.removeLinksFrom(tx, ids);
  audit.recordAll(tx, { actor, action: "invitation.cancel", targets, after });
  return targets.length;
}

function keyLossOf(before: User, after: User): KeyLoss | undefined {
  if (before.status === "active" && after.status !== "active")
    return after.status === "removed" ? "user_removed" : "user_suspended";
  return emailKey(before.email) === emailKey(after.email) ? undefined : "address_changed";
}
