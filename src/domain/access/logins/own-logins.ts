// Users list and end their own logins here. password-change.ts changes their password; logins.ts and end-logins.ts define what a
// login is and what ends together.
import type { Clock } from "../../../platform/clock.ts";
import type { Db, Tx } from "../../../platform/database/database.ts";
import { invariant } from "../../../platform/errors.ts";
import type { Audit } from "../../audit/service.ts";
import { countPasswordLinks, removePasswordLinks } from "../../identity/service.ts";
import type { Actor } from "../../shared/actor.ts";
import { loginNotFound } from "../errors.ts";
import { type EndedAccess, type EndedLogins, endLogins, endOtherLogins } from "./end-logins.ts";
import { type LoginPage, type LoginQuery, type Logins, type LoginView, summaryOf } from "./logins.ts";
import * as store from "./own-logins-store.ts";

export interface OwnLoginsDependencies {
  db: Db;
  clock: Clock;
  audit: Audit;
  logins: Logins;
}

export class OwnLogins {
  constructor(private readonly dependencies: OwnLoginsDependencies) {}

  /** @throws DomainError `logins.invalid` */
  list(actor: Actor, query: Omit<LoginQuery, "userId" | "show">): LoginPage {
    return this.dependencies.logins.list({ ...query, userId: userIdOf(actor) });
  }

  /** @throws DomainError `login.not_found`, also for another user's login */
  show(actor: Actor, id: string): LoginView {
    const login = this.dependencies.logins.show(id);
    if (login.user?.id !== userIdOf(actor)) throw loginNotFound(id);
    return login;
  }

  /** @returns how many logins of the actor are active */
  count(actor: Actor): EndedLogins {
    return store.countLive(this.dependencies.db.read, userIdOf(actor), this.dependencies.clock.nowMs());
  }

  /** @returns how many active workstations each of these login sessions approved; sessions without any are omitted */
  countApproved(loginSessionIds: readonly string[]): ReadonlyMap<string, number> {
    return store.countApproved(this.dependencies.db.read, loginSessionIds, this.dependencies.clock.nowMs());
  }

  /**
   * Ends one login, like `logins.revoke`. Idempotent.
   * @throws DomainError `login.not_found`, also for another user's login
   */
  async end(actor: Actor, id: string): Promise<void> {
    await this.dependencies.logins.revoke(actor, id, { userId: userIdOf(actor), reason: "revoked_by_user" });
  }

  /** @returns the given grants with which a workstation of the actor is signed in */
  liveGrants(actor: Actor, grantIds: readonly string[]): ReadonlySet<string> {
    const { db, clock } = this.dependencies;
    return new Set(store.listLiveGrants(db.read, { userId: userIdOf(actor), grantIds }, clock.nowMs()));
  }

  /** Ends every login of the actor, including the requesting one, and the actor's password link. @returns how many were active */
  endAll(actor: Actor): Promise<EndedAccess> {
    return this.#endMany(actor, userIdOf(actor), (tx, ending) => {
      const ended = store.countLive(tx, ending.userId, ending.nowMs);
      endLogins(tx, ending);
      return ended;
    });
  }

  /**
   * Ends every login of the actor except one browser session, and the actor's password link.
   * @param sessionId of the browser that stays signed in
   * @returns how many were active
   */
  endOthers(actor: Actor, sessionId: string): Promise<EndedAccess> {
    return this.endOthersOf(actor, { userId: userIdOf(actor), sessionId });
  }

  /**
   * `endOthers` for any user, on behalf of the operator.
   * @throws DomainError `login.not_found` unless the login is an active browser session of the user
   */
  async endOthersOf(
    actor: Actor,
    { userId, sessionId }: { userId: string; sessionId: string },
  ): Promise<EndedAccess> {
    this.keptSession({ userId, sessionId });
    return await this.#endMany(actor, userId, (tx, ending) => {
      const { loginSessions, ...others } = store.countLive(tx, ending.userId, ending.nowMs);
      endOtherLogins(tx, { ...ending, sessionId });
      return { ...others, loginSessions: Math.max(0, loginSessions - 1) };
    });
  }

  /** @throws what `endOthersOf` would throw. @returns the browser session that it would keep */
  keptSession({ userId, sessionId }: { userId: string; sessionId: string }): LoginView {
    const session = this.dependencies.logins.show(sessionId);
    if (session.kind === "login_session" && session.state === "active" && session.user?.id === userId)
      return session;
    throw loginNotFound(sessionId);
  }

  #endMany(
    actor: Actor,
    userId: string,
    end: (tx: Tx, ending: { userId: string; reason: string; nowMs: number }) => EndedLogins,
  ): Promise<EndedAccess> {
    const { db, clock, audit } = this.dependencies;
    return db.write((tx) => {
      const nowMs = clock.nowMs();
      const passwordLinks = countPasswordLinks(tx, { userId, nowMs });
      const ended = { ...end(tx, { userId, reason: "revoked_by_user", nowMs }), passwordLinks };
      removePasswordLinks(tx, { userId }); // a link would open another session
      audit.record(tx, { actor, action: "user.revoke_logins", target: userId, after: summaryOf(ended) });
      return ended;
    }, "access");
  }
}

function userIdOf({ kind, id }: Actor): string {
  invariant(kind === "user" && id !== null, "only a user has logins of their own");
  return id;
}
