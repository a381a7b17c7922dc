// Gives the inference proxy the user's gateway key for a verified token, if the token's session, login and user are still
// active. This is the only path on which a key leaves the service.
import type { Clock } from "../../../platform/clock.ts";
import type { Sealing } from "../../../platform/crypto/sealing.ts";
import type { Db } from "../../../platform/database/database.ts";
import type { Secret } from "../../../platform/secret.ts";
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
import { isExpired } from "../model.ts";
import { openCredential } from "../sealing/sealed-credential.ts";
import { type CallerFacts, createCallerLookup } from "./inference-sessions-store.ts";

export interface ResolverDependencies {
  db: Db;
  clock: Clock;
  sealing: Sealing;
  callerFacts: CallerFacts;
  keys: Pick<GatewayKeys, "attempts">;
}

/** The claims of an inference token that the lookup needs. */
interface ResolveRequest {
  userId: string;
  gatewaySessionId: string;
}

export interface ResolvedKey {
  credential: Secret;
  credentialVersion: string;
  /** UTC milliseconds; null for a key that does not expire */
  keyExpiresAtMs: number | null;
  /** id of the key at the upstream */
  externalId: string | null;
  alias: string | null;
  userId: string;
  organizationId: string;
  gatewaySessionId: string;
  loginSessionId: string;
  grantId: string;
  /** the proxy must request the key again by then */
  sessionExpiresAtMs: number;
}

export type Resolve = (request: ResolveRequest) => ResolvedKey;

/**
 * @returns the lookup; each call runs one prepared query
 * @throws (the lookup) DomainError unauthenticated: `gateway.session_unknown`, `gateway.session_revoked`,
 *   `gateway.user_inactive`, `gateway.login_ended`; conflict: `gateway.key_missing`, `gateway.key_expired`; unavailable:
 *   `gateway.key_unreadable`
 */
export function createResolver({ db, clock, sealing, callerFacts, keys }: ResolverDependencies): Resolve {
  const findCaller = createCallerLookup(callerFacts);
  return ({ userId, gatewaySessionId }) => {
    const found = findCaller(db.read, gatewaySessionId);
    if (found?.userId !== userId) throw sessionUnknown();
    if (found.sessionRevokedAtMs !== null) throw sessionRevoked();
    const { organizationId, loginExpiresAtMs, credentialVersion, expiresAtMs } = found;
    const nowMs = clock.nowMs();
    if (organizationId === null) throw userInactive();
    if (loginExpiresAtMs === null || nowMs >= loginExpiresAtMs) throw loginEnded();
    if (found.state !== "ready" || credentialVersion === null) throw keyMissing(found.state ?? "missing");
    if (isExpired({ expiresAtMs }, nowMs)) throw keyExpired();
    const { sealedCredential } = found;
    const credential = openCredential(sealing, { userId, credentialVersion, sealedCredential });
    if (!credential) {
      const options = { actor: systemActor({ organizationId }), manual: false, force: true, replace: true };
      void keys.attempts?.run(userId, options).catch(() => {}); // the next request reports the outcome
      throw keyUnreadable();
    }
    return {
      credential,
      credentialVersion,
      keyExpiresAtMs: expiresAtMs,
      externalId: found.externalId,
      alias: found.alias,
      userId,
      organizationId,
      gatewaySessionId,
      loginSessionId: found.loginSessionId,
      grantId: found.grantId,
      sessionExpiresAtMs: loginExpiresAtMs,
    };
  };
}
