// Sign-ins whose password was right and whose second factor is still missing. An attempt gives no access: its token only opens
// the pages that ask for the factor. It ends after ten minutes, when it is used, and whenever its user changes.
import type { Clock } from "../../../platform/clock.ts";
import type { Db, Tx } from "../../../platform/database/database.ts";
import { type Ids, randomToken, sha256Hex } from "../../../platform/ids.ts";
import { Secret } from "../../../platform/secret.ts";
import type { Identity, SignInUser, User } from "../../identity/service.ts";
import type { AccessSettings } from "../settings.ts";
import { attemptOver } from "./errors.ts";
import { ATTEMPT_TTL_MS, ATTEMPTS_PER_USER_MAX, type Demand } from "./model.ts";
import type { SecondFactors } from "./second-factors.ts";
import * as store from "./sign-in-attempts-store.ts";

export interface SignInAttemptsDependencies {
  db: Db;
  clock: Clock;
  ids: Ids;
  identity: Pick<Identity, "findUserById" | "findUserByEmail">;
  settings: Pick<AccessSettings, "identityMode">;
  factors: Pick<SecondFactors, "demand">;
}

export interface SignInAttempt {
  id: string;
  user: SignInUser;
  /** what is missing; `nothing` if the factor has been reset since */
  demand: Demand;
}

export class SignInAttempts {
  constructor(private readonly dependencies: SignInAttemptsDependencies) {}

  /** Begins an attempt of a user whose password was right, in the caller's transaction. @returns its token, for the cookie */
  begin(tx: Tx, user: User): Secret {
    const { clock, ids } = this.dependencies;
    const token = randomToken(ids);
    const nowMs = clock.nowMs();
    const times = { createdAtMs: nowMs, expiresAtMs: nowMs + ATTEMPT_TTL_MS };
    const owner = { userId: user.id, userUpdatedAtMs: user.updatedAtMs };
    store.add(tx, { id: ids.uuid(), tokenHash: sha256Hex(token), ...owner, ...times }, ATTEMPTS_PER_USER_MAX);
    return new Secret(token);
  }

  /** @returns the attempt of a token; undefined if it has ended */
  find(token: Secret): SignInAttempt | undefined {
    const { db, identity, clock } = this.dependencies;
    const row = store.find(db.read, sha256Hex(token.reveal()));
    if (!row || clock.nowMs() >= row.expiresAtMs) return undefined;
    const found = identity.findUserById(db.read, row.userId);
    const user = found && identity.findUserByEmail(db.read, found.organizationId, found.email);
    if (!user || !this.#isAdmissible(user, row.userUpdatedAtMs)) return undefined;
    return { id: row.id, user, demand: this.dependencies.factors.demand(db.read, user) };
  }

  /**
   * Uses up an attempt, in the transaction that opens the session.
   * @throws DomainError `access.sign_in_expired` if it or its user has changed since
   */
  take(tx: Tx, { id, user }: SignInAttempt): void {
    const now = this.dependencies.identity.findUserById(tx, user.id);
    if (!now || !this.#isAdmissible(now, user.updatedAtMs) || !store.take(tx, id)) throw attemptOver();
  }

  #isAdmissible(user: User, updatedAtMs: number): boolean {
    const hasPasswordSignIn = this.dependencies.settings.identityMode === "password" || user.protected;
    return hasPasswordSignIn && user.status === "active" && user.updatedAtMs === updatedAtMs;
  }
}
