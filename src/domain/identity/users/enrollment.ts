// Creates local accounts, for account creation, invitations and the first start. If a removed user had the address, the last
// one is restored with its history under a new subject. Only `revive` restores a removed user, also for SCIM: the store changes
// no removed user otherwise, so no path can leave access to the former person.

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
export function createEnroll(dependencies: IdentityDependencies) {
  const { audit, clock, ids } = dependencies;
  return (tx: Tx, { actor, email, role, passwordHash, isProtected = false }: Enrollment): User => {
    const { organizationId } = actor;
    const key = { organizationId, emailKey: emailKey(email) };
    const before = store.findUserByEmail(tx, key);
    if (before && before.status !== "removed") throw userExists(email);
    const given = {
      role,
      status: "active",
      provisioningSource: "local",
      protected: isProtected,
      passwordHash,
    } as const;
    const nowMs = clock.nowMs();
    const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
    const user = before
      ? revive(tx, dependencies, { ...given, actor, before })
      : store.insertUser(tx, { subject: ids.uuid(), ...given, ...key, id: ids.uuid(), email, ...times });
    for (const target of invitationStore.cancelPending(tx, key)) {
      audit.record(tx, { actor, action: "invitation.cancel", target });
    }
    const entry = { actor, target: user.id, after: summaryOf(user) };
    if (before) audit.record(tx, { ...entry, action: "user.revive", before: summaryOf(before) });
    else audit.record(tx, { ...entry, action: "user.create" });
    return user;
  };
}

type RevivalDependencies = Pick<
  IdentityDependencies,
  "clock" | "ids" | "endLogins" | "removeFactors" | "removeIdentities"
>;

/**
 * Restores a removed user under a new subject, without anything that would let the former person sign in: identities at
 * providers, second factors, logins, password links.
 * @returns the user after the change
 * @source SCIM-15, SSO-37
 */
export function revive(
  tx: Tx,
  { clock, ids, ...own }: RevivalDependencies,
  { actor, before, ...given }: Omit<store.Revival, "subject"> & { actor: Actor; before: User },
): User {
  const userId = before.id;
  const nowMs = clock.nowMs();
  own.endLogins(tx, { userId, reason: "user_revived", nowMs });
  own.removeFactors(tx, userId);
  own.removeIdentities(tx, { actor, userId });
  const after = store.reviveUser(tx, before, { ...given, subject: ids.uuid(), updatedAtMs: nowMs });
  invariant(after, "a removed user found in this transaction is still removed");
  return after;
}

/** @returns whether a user who is not removed has this address */
export function isTaken(tx: Tx, key: { organizationId: string; emailKey: string }): boolean {
  const user = store.findUserByEmail(tx, key);
  return user !== undefined && user.status !== "removed";
}

export const summaryOf = (user: User): AuditSummary => ({
  email: user.email,
  role: user.role,
  status: user.status,
  protected: user.protected,
});
