// Gives the inference proxy the user's gateway key for a verified token, if the token's session, login and user are still
// active. This is the only path on which a key leaves the service.
import type { Clock } from "../../../platform/clock.ts";
import type { Sealing } from "../../../platform/crypto/sealing.ts";
import type { Db } from "../../../platform/database/database.ts";
import type { Secret } from "../../../platform/secret.ts";
import type { ActiveLogin, FindActiveLogin } from "../../access/service.ts";
import type { Identity, User } from "../../identity/service.ts";
import {
  keyExpired,
  keyMissing,
  keyUnreadable,
  loginEnded,
  sessionRevoked,
  sessionUnknown,
  userInactive,
} from "../errors.ts";
import { systemActor } from "../keys/key-changes.ts";
import type { GatewayKeys } from "../keys/keys.ts";
import { findCredential, type StoredCredential } from "../keys/store.ts";
import { isExpired, stateOf } from "../model.ts";
import { openCredential } from "../sealing/sealed-credential.ts";
import type { GatewaySessionRow } from "./inference-sessions-store.ts";
import * as sessionStore from "./inference-sessions-store.ts";

export interface ResolverDependencies {
  db: Db;
  clock: Clock;
  sealing: Sealing;
  identity: Pick<Identity, "findUserById">;
  loginOf: FindActiveLogin;
  keys: Pick<GatewayKeys, "attempts">;
}

/** The claims of an inference token that the lookup needs. */
interface ResolveRequest {
  userId: string;
  gatewaySessionId: string;
}

export interface ResolvedKey {
  credential: Secret;
  user: User;
  key: StoredCredential;
  session: GatewaySessionRow;
  /** the proxy must ask again by then */
  sessionExpiresAtMs: number;
}

export type Resolve = (request: ResolveRequest) => ResolvedKey;

/**
 * @returns the lookup; each call runs four prepared queries
 * @throws (the lookup) DomainError unauthenticated: `gateway.session_unknown`, `gateway.session_revoked`,
 *   `gateway.user_inactive`, `gateway.login_ended`; conflict: `gateway.key_missing`, `gateway.key_expired`; unavailable:
 *   `gateway.key_unreadable`
 */
export const createResolver =
  (dependencies: ResolverDependencies): Resolve =>
  (request) => {
    const { db, clock, sealing, keys } = dependencies;
    const { session, user, login } = holderOf(dependencies, request);
    const key = findCredential(db.read, user.id);
    if (key?.state !== "ready") throw keyMissing(stateOf(key));
    if (isExpired(key, clock.nowMs())) throw keyExpired();
    const credential = openCredential(sealing, key);
    if (credential) return { credential, user, key, session, sessionExpiresAtMs: login.expiresAtMs };
    const options = { actor: systemActor(user), manual: false, force: true, replace: true };
    void keys.attempts?.run(user.id, options).catch(() => {}); // the next request reports the outcome
    throw keyUnreadable();
  };

function holderOf(
  { db, identity, loginOf }: ResolverDependencies,
  { userId, gatewaySessionId }: ResolveRequest,
): { session: GatewaySessionRow; user: User; login: ActiveLogin } {
  const session = sessionStore.find(db.read, gatewaySessionId);
  if (session?.userId !== userId) throw sessionUnknown();
  if (session.revokedAtMs !== null) throw sessionRevoked();
  const user = identity.findUserById(db.read, userId);
  if (user?.status !== "active") throw userInactive();
  const login = loginOf(session.grantId);
  if (!login) throw loginEnded();
  return { session, user, login };
}
