// The way in for local accounts: one is made, or the one of the address that was removed last comes back under a new
// subject with its history (control-api.md section 11.1). Used by account creation, invitations and the first start.

import type { Tx } from "../../../platform/database/database.ts";
import { invariant } from "../../../platform/errors.ts";
import type { AuditSummary } from "../../audit/service.ts";
import type { Actor } from "../../shared/actor.ts";
import type { IdentityDependencies } from "../dependencies.ts";
import { userExists } from "../errors.ts";
import * as invitationStore from "../invitations/invitation-store.ts";
import { emailKey, type Role, type User } from "../model.ts";
import * as store from "../store.ts";

export interface Enrollment {
  actor: Actor;
  email: string;
  role: Role;
  passwordHash: string | null;
  isProtected?: boolean;
}

export type Enroll = ReturnType<typeof createEnroll>;

/** @returns the function that lets a user in; it throws DomainError `user.exists` for an address in use */
export function createEnroll({ audit, clock, ids }: IdentityDependencies) {
  return (tx: Tx, { actor, email, role, passwordHash, isProtected = false }: Enrollment): User => {
    const { organizationId } = actor;
    const key = { organizationId, emailKey: emailKey(email) };
    const before = store.findUserByEmail(tx, key);
    if (before && before.status !== "removed") throw userExists(email);
    const updatedAtMs = clock.nowMs();
    const identity = {
      subject: ids.uuid(),
      role,
      status: "active",
      provisioningSource: "local",
      protected: isProtected,
      passwordHash,
      updatedAtMs,
    } as const;
    const user = before
      ? store.updateUser(tx, before, identity)
      : store.insertUser(tx, { ...identity, ...key, id: ids.uuid(), email, createdAtMs: updatedAtMs });
    invariant(user, "a user found in this transaction is still there");
    for (const target of invitationStore.cancelPending(tx, key)) {
      audit.record(tx, { actor, action: "invitation.cancel", target });
    }
    const entry = { actor, target: user.id, after: summaryOf(user) };
    if (before) audit.record(tx, { ...entry, action: "user.revive", before: summaryOf(before) });
    else audit.record(tx, { ...entry, action: "user.create" });
    return user;
  };
}

/** @returns whether a user who was not removed has this address */
export function isTaken(tx: Tx, key: { organizationId: string; emailKey: string }): boolean {
  const user = store.findUserByEmail(tx, key);
  return user !== undefined && user.status !== "removed";
}

/** @returns what the audit log keeps of a user */
export const summaryOf = (user: User): AuditSummary => ({
  email: user.email,
  role: user.role,
  status: user.status,
  protected: user.protected,
});
