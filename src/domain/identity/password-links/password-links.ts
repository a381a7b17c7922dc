// Password links: an administrator or the operator gives a user a link that is valid for 24 hours, and its holder sets a new
// password once. It also lets a user sign in whom SCIM provisioned without a password. The secret of the link is stored as its
// SHA-256, and sealed for repeated requests with an idempotency key. The caller delivers the link.
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { toRfc3339 } from "../../../platform/clock.ts";
import type { Connection, Tx } from "../../../platform/database/database.ts";
import { invariant, type Problem } from "../../../platform/errors.ts";
import { randomToken, sha256Hex } from "../../../platform/ids.ts";
import { Secret } from "../../../platform/secret.ts";
import { runInBatches } from "../../../platform/steps.ts";
import type { ResponseForm } from "../../idempotency/service.ts";
import type { Actor } from "../../shared/actor.ts";
import type { IdentityDependencies } from "../dependencies.ts";
import {
  ownAccount,
  passwordLinkUnavailable,
  passwordUnused,
  protectedUser,
  refuseInvalid,
  userNotFound,
  userRemoved,
  userSuspended,
} from "../errors.ts";
import { AdminUser, PASSWORD_LINK_TTL_MS, toAdminUser, type User } from "../model.ts";
import { findUser, updateUser } from "../store.ts";
import { checkPassword } from "../users/passwords.ts";
import * as store from "./password-link-store.ts";

/** Maximum number of expired links removed in one transaction. */
const SWEEP_BATCH_ROWS = 500;

interface LinkSecret {
  /** 43 characters, shown once */
  token: Secret;
  expiresAtMs: number;
}

export interface PasswordLink extends LinkSecret {
  user: User;
}

const StoredSecret = Type.Object({ token: Type.String(), expiresAtMs: Type.Integer() });

const SECRET_FORM: ResponseForm<LinkSecret> = {
  write: ({ token, expiresAtMs }) => JSON.stringify({ token: token.reveal(), expiresAtMs }),
  read(text) {
    const { token, expiresAtMs } = Value.Parse(StoredSecret, JSON.parse(text));
    return { token: new Secret(token), expiresAtMs };
  },
};

export interface LinkOptions {
  /** a request repeated with the same key returns the same link */
  idempotencyKey?: string | undefined;
}

/** A link without its secret, as the API and the commands show it. */
export const PasswordLinkDocument = Type.Object({
  expires_at: Type.String({ format: "date-time" }),
  user: AdminUser,
});

export const toPasswordLinkDocument = ({
  user,
  expiresAtMs,
}: PasswordLink): Static<typeof PasswordLinkDocument> => ({
  expires_at: toRfc3339(expiresAtMs),
  user: toAdminUser(user),
});

export interface NewPassword {
  token: Secret;
  password: Secret;
  /** where the request came from, for the audit log */
  requestId?: string;
  address?: string;
}

export class PasswordLinks {
  constructor(private readonly dependencies: IdentityDependencies) {}

  /**
   * Creates a link for PASSWORD_LINK_TTL_MS. It replaces the user's earlier link; the password and the logins stay until it is
   * used. Only the operator may create a link for a protected administrator.
   * @throws DomainError, first match: `user.not_found`, `user.removed`, `user.own_account`, `user.protected`, `user.suspended`,
   * `user.password_unused`, `access.too_many_attempts`; those of Idempotency.once
   */
  create(actor: Actor, id: string, { idempotencyKey: key }: LinkOptions = {}): Promise<PasswordLink> {
    const { db, idempotency } = this.dependencies;
    const once = { key, request: ["password_link", id], form: SECRET_FORM };
    return db.write((tx) => {
      const user = this.#linkableUser(tx, actor, id);
      const create = () => this.#createSecret(tx, actor, user);
      return { user, ...idempotency.once(tx, actor, { ...once, create }) };
    }, "access");
  }

  #createSecret(tx: Tx, actor: Actor, user: User): LinkSecret {
    const { clock, ids, audit, spendLink } = this.dependencies;
    const token = new Secret(randomToken(ids));
    spendLink(tx, actor, "password_link");
    const createdAtMs = clock.nowMs();
    const expiresAtMs = createdAtMs + PASSWORD_LINK_TTL_MS;
    const creatorId = actor.kind === "user" ? actor.id : null;
    store.putLink(tx, { ...hashOf(token), userId: user.id, creatorId, createdAtMs, expiresAtMs });
    const after = { expires_at: toRfc3339(expiresAtMs) };
    audit.record(tx, { actor, action: "user.password_link", target: user.id, after });
    return { token, expiresAtMs };
  }

  /** Throws what `create` would throw, except for the limit, without changing anything. */
  checkCreate(actor: Actor, id: string): void {
    this.#linkableUser(this.dependencies.db.read, actor, id);
  }

  /**
   * @returns the user whose password a link sets, for the page that asks for it
   * @throws DomainError `password_link.unavailable`
   */
  getUser(token: Secret): User {
    return this.#userOf(this.dependencies.db.read, token);
  }

  /** @returns the user whose password a link sets; undefined for a link that no longer works, which a repeated response may contain */
  findUser(token: Secret): User | undefined {
    return this.#findUser(this.dependencies.db.read, token);
  }

  /**
   * Uses up the link, sets the password, ends the user's logins, and clears the count of wrong passwords.
   * @throws DomainError `password_link.unavailable`, `identity.invalid`, `passwords.busy`
   */
  async setPassword({ token, password, ...origin }: NewPassword): Promise<User> {
    const { db, clock, passwords, audit, endLogins, forgetGuesses } = this.dependencies;
    this.getUser(token);
    const problems: Problem[] = [];
    checkPassword(password, problems);
    refuseInvalid(problems);
    const passwordHash = await passwords.hash(password);
    return await db.write((tx) => {
      const before = this.#userOf(tx, token); // checked again, because another request may have used the link during hashing
      const { id, email: label, organizationId } = before;
      const nowMs = clock.nowMs();
      const user = updateUser(tx, before, { passwordHash, updatedAtMs: nowMs });
      invariant(user, "a user found in this transaction is still there");
      endLogins(tx, { userId: id, reason: "password_set", nowMs });
      forgetGuesses(tx, { email: label, nowMs });
      const actor: Actor = { kind: "user", id, label, organizationId, ...origin };
      audit.record(tx, { actor, action: "user.password_set", target: id });
      return user;
    }, "access");
  }

  /** @returns the number of working links, of one user or of all users */
  countOpen(userId?: string): number {
    const { db, clock } = this.dependencies;
    return store.countLinks(db.read, { userId, nowMs: clock.nowMs() });
  }

  /** Removes expired links. @param signal ends the run between two batches @returns how many */
  async sweep(signal: AbortSignal): Promise<number> {
    const { db, clock } = this.dependencies;
    const limit = SWEEP_BATCH_ROWS;
    const slice = { nowMs: clock.nowMs(), limit };
    const batch = () => db.write((tx) => store.removeExpiredLinks(tx, slice), "unobserved");
    return await runInBatches(batch, { limit, signal });
  }

  #linkableUser(connection: Connection, actor: Actor, id: string): User {
    const user = findUser(connection, { organizationId: actor.organizationId, id });
    if (!user) throw userNotFound(id);
    if (user.status === "removed") throw userRemoved();
    // Otherwise a stolen session would suffice to replace the user's password.
    if (actor.kind === "user" && actor.id === user.id) throw ownAccount();
    if (user.protected && actor.kind !== "operator") throw protectedUser();
    if (user.status === "suspended") throw userSuspended();
    if (!this.#hasUseFor(user)) throw passwordUnused();
    return user;
  }

  #userOf(connection: Connection, token: Secret): User {
    const user = this.#findUser(connection, token);
    if (!user) throw passwordLinkUnavailable();
    return user;
  }

  #findUser(connection: Connection, token: Secret): User | undefined {
    const link = { ...hashOf(token), nowMs: this.dependencies.clock.nowMs() };
    const user = store.findUserOfLink(connection, link);
    return user && this.#hasUseFor(user) ? user : undefined;
  }

  /** @returns whether this user can sign in with a password */
  #hasUseFor(user: User): boolean {
    return this.dependencies.settings.mode === "password" || user.protected;
  }
}

const hashOf = (token: Secret): { tokenHash: string } => ({ tokenHash: sha256Hex(token.reveal()) });
