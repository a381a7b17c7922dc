// Accounts managed by an identity provider (SCIM): creates, updates and removes them in the caller's transaction. The scim area
// stores the provider's view of a person and writes the audit entry of each change. Invitations that a change cancels are
// recorded here.
import type { Tx } from "../../../platform/database/database.ts";
import { invariant } from "../../../platform/errors.ts";
import type { Actor } from "../../shared/actor.ts";
import type { IdentityDependencies } from "../dependencies.ts";
import { lastAdministrator, protectedUser, userExists } from "../errors.ts";
import * as invitationStore from "../invitations/invitation-store.ts";
import { emailKey, isActiveAdministrator, type Role, type SettableStatus, type User } from "../model.ts";
import * as store from "../store.ts";
import { countProvisionedWithoutPassword } from "./cannot-sign-in-store.ts";
import { revive } from "./enrollment.ts";
import { cancelIssuedLinks, revokeLostAccess } from "./lost-access.ts";

export interface NewProvisionedAccount {
  actor: Actor;
  email: string;
  active: boolean;
  /** whether a local account with the address may be linked */
  mayLink: boolean;
}

export interface Admitted {
  account: User;
  admission: "created" | "linked" | "revived";
  /** the linked account before the change */
  before: User | undefined;
}

/** Operations of the scim area on accounts. They change only provisioned accounts, except that a local account may be linked. */
export class ProvisionedUsers {
  constructor(private readonly dependencies: IdentityDependencies) {}

  /**
   * Creates an account for an address, links the local account, or restores the last removed one. The id stays the same, and the role
   * is member until groups change it. All earlier logins and links to identities at providers end, because SCIM now decides who has
   * the address. A linked account keeps its password; the others have none. Pending invitations of the address are canceled.
   * @throws DomainError `user.exists`, `user.protected`, `user.last_administrator`
   */
  admit(tx: Tx, { actor, email, active, mayLink }: NewProvisionedAccount): Admitted {
    const key = { organizationId: actor.organizationId, emailKey: emailKey(email) };
    const before = store.findUserByEmail(tx, key);
    const admitted = before
      ? this.#takeOver(tx, withoutHash(before), { actor, active, mayLink })
      : this.#create(tx, key, active);
    for (const target of invitationStore.cancelPending(tx, key)) {
      this.dependencies.audit.record(tx, { actor, action: "invitation.cancel", target });
    }
    return admitted;
  }

  /**
   * Updates address and status from the provider. If either changes, logins end. Suspending an administrator also cancels the
   * pending invitations that the administrator sent.
   * @throws DomainError `user.exists` if the address is in use; `user.protected` if it or the account is protected
   */
  update(
    tx: Tx,
    { actor, id, email, active }: { actor: Actor; id: string; email: string; active: boolean },
  ): { account: User; before: User } {
    const before = presentUser(tx, id);
    const key = emailKey(email);
    const status = statusOf(active);
    const hasMoved = key !== emailKey(before.email);
    if (!hasMoved && status === before.status) return { account: before, before };
    if (before.protected) throw protectedUser();
    if (hasMoved) refuseOccupied(tx, { organizationId: before.organizationId, emailKey: key });
    const resumed = hasMoved ? "address_changed" : "user_changed";
    const reason = active ? resumed : "user_suspended";
    const changes = { email: key, emailKey: key, status };
    const account = this.#change(tx, before, { actor, reason, changes });
    return { account, before };
  }

  /**
   * Revokes access, keeps the record, and cancels the pending invitations that the user sent.
   * @throws DomainError `user.protected`
   */
  remove(tx: Tx, { actor, id }: { actor: Actor; id: string }): User {
    const before = presentUser(tx, id);
    if (before.protected) throw protectedUser();
    const changes = { status: "removed", passwordHash: null } as const;
    return this.#change(tx, before, { actor, reason: "user_removed", changes });
  }

  /**
   * Sets the role of users whose role differs, ends their logins, and cancels the pending invitations of those who are no
   * longer administrators. Local, removed and protected accounts keep their role.
   * @returns the ids of users whose role changed
   */
  setRole(
    tx: Tx,
    { actor, userIds, role }: { actor: Actor; userIds: readonly string[]; role: Role },
  ): readonly string[] {
    const { clock, endLogins } = this.dependencies;
    const nowMs = clock.nowMs();
    const changed = store.setProvisionedRole(tx, { ids: userIds, role, updatedAtMs: nowMs });
    if (changed.length === 0) return changed;
    endLogins(tx, { userIds: changed, reason: "user_changed", nowMs });
    if (role !== "admin") cancelIssuedLinks(tx, this.dependencies, { actor, ids: changed });
    return changed;
  }

  /** @returns the number of active provisioned users who cannot sign in; 0 if an identity provider signs users in */
  countCannotSignIn(organizationId: string): number {
    const { db, settings } = this.dependencies;
    const isPasswordOnly = settings.mode === "password" && !settings.hasProvider;
    return isPasswordOnly ? countProvisionedWithoutPassword(db.read, organizationId) : 0;
  }

  #create(tx: Tx, key: { organizationId: string; emailKey: string }, active: boolean): Admitted {
    const { clock, ids } = this.dependencies;
    const nowMs = clock.nowMs();
    const account = store.insertUser(tx, {
      ...key,
      ...MANAGED,
      passwordHash: null,
      id: ids.uuid(),
      subject: ids.uuid(),
      email: key.emailKey,
      status: statusOf(active),
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    });
    return { account, admission: "created", before: undefined };
  }

  #takeOver(
    tx: Tx,
    before: User,
    { actor, active, mayLink }: { actor: Actor; active: boolean; mayLink: boolean },
  ): Admitted {
    const changes = { ...MANAGED, status: statusOf(active) };
    if (before.status === "removed") {
      const revival = { ...changes, protected: false, passwordHash: null };
      const account = revive(tx, this.dependencies, { ...revival, actor, before });
      return { account, admission: "revived", before };
    }
    if (before.protected) throw protectedUser();
    if (before.provisioningSource === "scim" || !mayLink) throw userExists(before.email);
    const isAdministrator = isActiveAdministrator(before);
    if (isAdministrator && store.countOtherAdministrators(tx, before) === 0) throw lastAdministrator();
    const account = this.#change(tx, before, { actor, reason: "user_linked", changes });
    this.dependencies.removeIdentities(tx, { actor, userId: before.id });
    return { account, admission: "linked", before };
  }

  /** Changes the row, and ends the logins and other access that the change revokes. */
  #change(
    tx: Tx,
    before: User,
    { actor, reason, changes }: { actor: Actor; reason: string; changes: store.UserChanges },
  ): User {
    const { clock, endLogins } = this.dependencies;
    const nowMs = clock.nowMs();
    const after = store.updateUser(tx, before, { ...changes, updatedAtMs: nowMs });
    invariant(after, "a user found in this transaction is still there");
    endLogins(tx, { userId: before.id, reason, nowMs });
    revokeLostAccess(tx, this.dependencies, { actor, before, after });
    return after;
  }
}

/** Initial values of every provisioned account; groups may make it an administrator later. */
const MANAGED = { role: "member", provisioningSource: "scim" } as const;

const statusOf = (active: boolean): SettableStatus => (active ? "active" : "suspended");

const withoutHash = ({ passwordHash: _, ...user }: User & { passwordHash: string | null }): User => user;

function presentUser(tx: Tx, id: string): User {
  const user = store.findUserById(tx, id);
  invariant(user && user.status !== "removed", "a provisioned user has an account");
  return user;
}

function refuseOccupied(tx: Tx, key: { organizationId: string; emailKey: string }): void {
  const holder = store.findUserByEmail(tx, key);
  if (!holder || holder.status === "removed") return;
  throw holder.protected ? protectedUser() : userExists(holder.email);
}
