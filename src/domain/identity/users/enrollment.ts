// Creates local accounts. If a removed user had the address, the last one is restored under a new subject with its history.
// Account creation, invitations and the first start use it.

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

/** @returns the function that creates or restores an account; it throws DomainError `user.exists` for an address in use */
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

/** @returns whether a user who is not removed has this address */
export function isTaken(tx: Tx, key: { organizationId: string; emailKey: string }): boolean {
  const user = store.findUserByEmail(tx, key);
  return user !== undefined && user.status !== "removed";
}

/** @returns the audit summary of a user */
export const summaryOf = (user: User): AuditSummary => ({
  email: user.email,
  role: user.role,
  status: user.status,
  protected: user.protected,
});
