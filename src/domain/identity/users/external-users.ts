// Accounts of people who sign in at an identity provider: created at the first sign-in or by an invitation, with the provider's
// role and address. Everything happens in the caller's transaction. The sso area decides who may sign in; provisioned-users.ts
// has the accounts that SCIM manages.
import type { Connection, Tx } from "../../../platform/database/database.ts";
import { invariant } from "../../../platform/errors.ts";
import type { Actor } from "../../shared/actor.ts";
import type { IdentityDependencies } from "../dependencies.ts";
import * as invitationStore from "../invitations/invitation-store.ts";
import { emailKey, isActiveAdministrator, type Role, type User } from "../model.ts";
import * as store from "../store.ts";
import { type Enroll, isTaken, summaryOf } from "./enrollment.ts";
import { revokeLostAccess } from "./lost-access.ts";

interface OfPerson {
  actor: Actor;
  /** an address that the provider has verified */
  email: string;
}

/** Operations of company sign-in on accounts. */
export class ExternalUsers {
  constructor(
    private readonly dependencies: IdentityDependencies,
    private readonly enrol: Enroll,
  ) {}

  /** Creates an account without a password. @returns undefined if the address ever belonged to a user */
  create(tx: Tx, { actor, email, role }: OfPerson & { role: Role }): User | undefined {
    const key = { organizationId: actor.organizationId, emailKey: emailKey(email) };
    if (store.findUserByEmail(tx, key)) return undefined;
    return this.enrol(tx, { actor, email, role, passwordHash: null });
  }

  /** @returns the role that a pending invitation of the address gives; undefined without one */
  invitedRole(
    connection: Connection,
    { organizationId, email }: { organizationId: string; email: string },
  ): Role | undefined {
    const key = { organizationId, emailKey: emailKey(email) };
    return invitationStore.findOpen(connection, { ...key, nowMs: this.dependencies.clock.nowMs() })?.role;
  }

  /** Accepts the pending invitation of an address. @returns the new or restored user; undefined without an invitation */
  acceptInvitation(tx: Tx, { actor, email }: OfPerson): User | undefined {
    const { audit, clock } = this.dependencies;
    const key = { organizationId: actor.organizationId, emailKey: emailKey(email) };
    if (isTaken(tx, key)) return undefined;
    const claimed = invitationStore.claim(tx, { ...key, nowMs: clock.nowMs() });
    if (!claimed) return undefined;
    audit.record(tx, { actor, action: "invitation.accept", target: claimed.id });
    return this.enrol(tx, { actor, email, role: claimed.role, passwordHash: null });
  }

  /**
   * Sets the role that a user's groups give. A lower role ends the user's logins. The last active administrator keeps the role,
   * and that is recorded.
   * @returns the user after the change
   */
  setRole(tx: Tx, { actor, user, role }: { actor: Actor; user: User; role: Role }): User {
    if (user.role === role || user.protected) return user;
    const { audit } = this.dependencies;
    if (this.keepsRole(tx, user)) {
      const after = { role: user.role, is_last_administrator: true };
      audit.record(tx, { actor, action: "user.keep_role", target: user.id, after });
      return user;
    }
    return this.#change(tx, { actor, before: user, changes: { role }, endsLogins: role === "member" });
  }

  /** @returns whether claims cannot change the user's role: for the protected or last active administrator */
  keepsRole(connection: Connection, user: User): boolean {
    const isLast = isActiveAdministrator(user) && store.countOtherAdministrators(connection, user) === 0;
    return user.protected || isLast;
  }

  /**
   * Changes a user's address to the new one, unless it belongs or belonged to another user.
   * @returns the user after the change; unchanged if the address is taken
   */
  changeAddress(tx: Tx, { actor, user, email }: OfPerson & { user: User }): User {
    const key = emailKey(email);
    if (key === emailKey(user.email)) return user;
    if (store.findUserByEmail(tx, { organizationId: user.organizationId, emailKey: key })) return user;
    return this.#change(tx, {
      actor,
      before: user,
      changes: { email: key, emailKey: key },
      endsLogins: false,
    });
  }

  #change(tx: Tx, { actor, before, changes, endsLogins }: Change): User {
    const { audit, clock, endLogins } = this.dependencies;
    const nowMs = clock.nowMs();
    const after = store.updateUser(tx, before, { ...changes, updatedAtMs: nowMs });
    invariant(after, "a user found in this transaction is still there");
    if (endsLogins) endLogins(tx, { userId: before.id, reason: "user_changed", nowMs });
    const target = before.id;
    audit.record(tx, {
      actor,
      action: "user.update",
      target,
      before: summaryOf(before),
      after: summaryOf(after),
    });
    revokeLostAccess(tx, this.dependencies, { actor, before, after });
    return after;
  }
}

interface Change {
  actor: Actor;
  before: User;
  changes: store.UserChanges;
  endsLogins: boolean;
}
