// Creates and changes users. Each operation runs its checks in a fixed order inside the write transaction, so that two
// administrators cannot demote each other. It ends the user's logins in the same transaction.
import type { Connection, Tx } from "../../../platform/database/database.ts";
import { invariant, type Problem } from "../../../platform/errors.ts";
import type { Secret } from "../../../platform/secret.ts";
import type { Actor } from "../../shared/actor.ts";
import type { Expectation } from "../../shared/expectation.ts";
import type { IdentityDependencies } from "../dependencies.ts";
import { UserDirectory } from "../directory/user-directory.ts";
import {
  lastAdministrator,
  managedUser,
  ownAccount,
  protectedUser,
  refuseInvalid,
  userNotFound,
  userRemoved,
} from "../errors.ts";
import { countPendingFrom } from "../invitations/invitation-store.ts";
import {
  type ChangedUser,
  isActiveAdministrator,
  ROLES,
  type Role,
  readChoice,
  readEmail,
  SETTABLE_STATUSES,
  type SettableStatus,
  type User,
} from "../model.ts";
import * as store from "../store.ts";
import { type Enroll, summaryOf } from "./enrollment.ts";
import { revokeLostAccess } from "./lost-access.ts";
import { checkPassword, generatePassword } from "./passwords.ts";

export interface NewUser {
  email: string;
  role: string;
  /** without it, a password is generated */
  password?: Secret | undefined;
}

export interface NewUserResult {
  user: User;
  /** shown once and not stored */
  generatedPassword?: Secret;
}

/** PATCH of a user; errors name unknown values. */
interface UserUpdate {
  role?: string | undefined;
  status?: string | undefined;
}

type ExpectingUpdate = UserUpdate & { expect?: Expectation<User> | undefined };

interface Change {
  actor: Actor;
  user: User;
  action: string;
  /** why the logins end; stored with them */
  reason: string;
  changes: store.UserChanges;
}

/** Operations of administrators and the operator on users. */
export class Users extends UserDirectory {
  constructor(
    dependencies: IdentityDependencies,
    private readonly enrol: Enroll,
  ) {
    super(dependencies);
  }

  /**
   * Creates a local account, or restores the removed account with that address.
   * @throws DomainError `identity.invalid`, `user.exists`
   */
  async create(actor: Actor, { email, role, password }: NewUser): Promise<NewUserResult> {
    const problems: Problem[] = [];
    const address = readEmail(email, problems);
    const known = readChoice(role, { allowed: ROLES, pointer: "/role", problems }) ?? "member";
    if (password) checkPassword(password, problems);
    refuseInvalid(problems);
    const { db, ids, passwords } = this.dependencies;
    const chosen = password ?? generatePassword(ids);
    const enrolment = { actor, email: address, role: known, passwordHash: await passwords.hash(chosen) };
    const user = await db.write((tx) => this.enrol(tx, enrolment), "access");
    return password ? { user } : { user, generatedPassword: chosen };
  }

  /**
   * Changes role, status or both, and ends the user's logins even if the values are the same.
   * @throws DomainError, first match: `identity.invalid`, `user.not_found`, `user.removed`, `user.own_account`, `user.protected`,
   *   `user.managed`, `user.last_administrator`
   */
  async update(actor: Actor, id: string, { expect, ...update }: ExpectingUpdate): Promise<ChangedUser> {
    const changes = readUserUpdate(update);
    return await this.dependencies.db.write((tx) => {
      const user = updatableUser(tx, actor, { id, changes });
      expect?.(user);
      const reason = changes.status === "suspended" ? "user_suspended" : "user_changed";
      return this.#apply(tx, { actor, user, action: "user.update", reason, changes });
    }, "access");
  }

  /**
   * Throws what `update` would throw, without changing anything.
   * @returns the user after `update`, with the number of invitations that it would cancel
   */
  checkUpdate(actor: Actor, id: string, { expect, ...update }: ExpectingUpdate): ChangedUser {
    const changes = readUserUpdate(update);
    const user = updatableUser(this.dependencies.db.read, actor, { id, changes });
    expect?.(user);
    const after = { ...user, ...changes };
    const canceledInvitations = isActiveAdministrator(after)
      ? 0
      : this.countSentInvitations(user.organizationId, id);
    return { ...after, canceledInvitations };
  }

  /** Like `update`, for the role only. */
  setRole(actor: Actor, id: string, role: Role): Promise<ChangedUser> {
    return this.update(actor, id, { role });
  }

  /** Like `update`, for the status only. A resumed user keeps the password, but earlier logins stay ended. */
  setStatus(actor: Actor, id: string, status: SettableStatus): Promise<ChangedUser> {
    return this.update(actor, id, { status });
  }

  /**
   * Revokes access, keeps the record, and cancels the pending invitations that the user sent. Does nothing if the user is already
   * removed.
   * @throws DomainError, first match: `user.not_found`, `user.own_account`, `user.protected`, `user.managed`,
   *   `user.last_administrator`
   */
  remove(actor: Actor, id: string, expect?: Expectation<User>): Promise<void> {
    return this.dependencies.db.write((tx) => {
      const user = removableUser(tx, actor, id);
      expect?.(user);
      if (user.status === "removed") return;
      const changes = REMOVAL;
      this.#apply(tx, { actor, user, action: "user.remove", reason: "user_removed", changes });
    }, "access");
  }

  /** Throws what `remove` would throw, without changing anything. */
  checkRemove(actor: Actor, id: string): void {
    removableUser(this.dependencies.db.read, actor, id);
  }

  /** @returns how many pending invitations the user has sent; they are canceled when the user is no longer an administrator */
  countSentInvitations(organizationId: string, id: string): number {
    return countPendingFrom(this.dependencies.db.read, { organizationId, id });
  }

  /**
   * Ends every login of a user, including the actor's own and those of protected and managed users.
   * @throws DomainError `user.not_found`, `user.removed`
   */
  revokeLogins(actor: Actor, id: string): Promise<void> {
    const { db, endLogins, audit, clock } = this.dependencies;
    return db.write((tx) => {
      const user = presentUser(tx, actor, id);
      endLogins(tx, { userId: user.id, reason: "logins_revoked", nowMs: clock.nowMs() });
      audit.record(tx, { actor, action: "user.revoke_logins", target: user.id });
    }, "access");
  }

  /** Throws what `revokeLogins` would throw, without changing anything. */
  checkRevokeLogins(actor: Actor, id: string): void {
    presentUser(this.dependencies.db.read, actor, id);
  }

  /**
   * Sets or generates a new password, ends the user's logins, and clears the count of wrong passwords. Only the operator may
   * reset a protected administrator's password, which restores access after a lost password. A provisioned user may also have a
   * password, because SCIM delivers none and the identity provider may not offer sign-in here.
   * @throws DomainError `identity.invalid`, `user.not_found`, `user.removed`, `user.protected`
   */
  async resetPassword(actor: Actor, id: string, password?: Secret): Promise<NewUserResult> {
    const { db, ids, passwords, forgetGuesses, clock } = this.dependencies;
    const problems: Problem[] = [];
    if (password) checkPassword(password, problems);
    refuseInvalid(problems);
    const chosen = password ?? generatePassword(ids);
    const changes = { passwordHash: await passwords.hash(chosen) };
    const user = await db.write((tx) => {
      const user = resettableUser(tx, actor, id);
      const action = "user.reset_password";
      forgetGuesses(tx, { email: user.email, nowMs: clock.nowMs() });
      return this.#apply(tx, { actor, user, action, reason: "password_reset", changes });
    }, "access");
    return password ? { user } : { user, generatedPassword: chosen };
  }

  /**
   * Clears the count of wrong passwords of a user, who can then sign in from anywhere again; also works for the actor and for
   * protected and managed users.
   * @returns whether there were any
   * @throws DomainError `user.not_found`, `user.removed`
   */
  unlock(actor: Actor, id: string): Promise<boolean> {
    const { db, audit, clock, forgetGuesses } = this.dependencies;
    return db.write((tx) => {
      const user = presentUser(tx, actor, id);
      const isChange = forgetGuesses(tx, { email: user.email, nowMs: clock.nowMs() }) > 0;
      if (isChange) audit.record(tx, { actor, action: "user.unlock", target: user.id });
      return isChange;
    }, "access");
  }

  /** Throws what `resetPassword` would throw for any valid password, without changing anything. */
  checkResetPassword(actor: Actor, id: string): void {
    resettableUser(this.dependencies.db.read, actor, id);
  }

  /** Changes the row, ends the logins and other access that the change revokes, and records the change. */
  #apply(tx: Tx, { actor, user, action, reason, changes }: Change): ChangedUser {
    const { audit, clock, endLogins } = this.dependencies;
    const nowMs = clock.nowMs();
    const after = store.updateUser(tx, user, { ...changes, updatedAtMs: nowMs });
    invariant(after, "a user found in this transaction is still there");
    endLogins(tx, { userId: user.id, reason, nowMs });
    if (after.role === "admin" && user.role !== "admin") this.dependencies.removeExpectations(tx, user.id);
    const target = user.id;
    audit.record(tx, { actor, action, target, before: summaryOf(user), after: summaryOf(after) });
    const lost = { actor, before: user, after };
    return { ...after, canceledInvitations: revokeLostAccess(tx, this.dependencies, lost) };
  }
}

function readUserUpdate({ role, status }: UserUpdate): { role?: Role; status?: SettableStatus } {
  const problems: Problem[] = [];
  if (role === undefined && status === undefined) {
    problems.push({ pointer: "", detail: "role, status or both must be given" });
  }
  const newRole = readChoice(role, { allowed: ROLES, pointer: "/role", problems });
  const newStatus = readChoice(status, { allowed: SETTABLE_STATUSES, pointer: "/status", problems });
  refuseInvalid(problems);
  return { ...(newRole && { role: newRole }), ...(newStatus && { status: newStatus }) };
}

const REMOVAL = { status: "removed", passwordHash: null } as const;

function updatableUser(
  connection: Connection,
  actor: Actor,
  { id, changes }: { id: string; changes: store.UserChanges },
): User {
  const user = presentUser(connection, actor, id);
  assertUserChangeable(actor, user);
  refuseLastAdministrator(connection, user, changes);
  return user;
}

/** @returns the user, even if already removed */
function removableUser(connection: Connection, actor: Actor, id: string): User {
  const user = knownUser(connection, actor, id);
  if (user.status === "removed") return user;
  assertUserChangeable(actor, user);
  refuseLastAdministrator(connection, user, REMOVAL);
  return user;
}

function resettableUser(connection: Connection, actor: Actor, id: string): User {
  const user = presentUser(connection, actor, id);
  if (user.protected && actor.kind !== "operator") throw protectedUser();
  return user;
}

function knownUser(connection: Connection, { organizationId }: Actor, id: string): User {
  const user = store.findUser(connection, { organizationId, id });
  if (!user) throw userNotFound(id);
  return user;
}

function presentUser(connection: Connection, actor: Actor, id: string): User {
  const user = knownUser(connection, actor, id);
  if (user.status === "removed") throw userRemoved();
  return user;
}

/** The operator has no user account, so the first check concerns only users. */
function assertUserChangeable(actor: Actor, user: User): void {
  if (actor.kind === "user" && actor.id === user.id) throw ownAccount();
  if (user.protected) throw protectedUser();
  if (user.provisioningSource === "scim") throw managedUser();
}

/** Counts in the transaction of the change. */
function refuseLastAdministrator(connection: Connection, user: User, changes: store.UserChanges): void {
  if (!isActiveAdministrator(user) || isActiveAdministrator({ ...user, ...changes })) return;
  if (store.countOtherAdministrators(connection, user) === 0) throw lastAdministrator();
}
