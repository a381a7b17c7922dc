// Inference tokens let a workstation's agents use the inference proxy while the workstation's login is active. Each grant has one
// gateway session; a token names it and is valid as long as that row is. key-resolver.ts reads the row on every use, so revocation
// takes effect immediately. inference.ts provides the signing keys.
import { type Clock, SECOND_MS } from "../../../platform/clock.ts";
import type { Db, Tx } from "../../../platform/database/database.ts";
import type { Ids } from "../../../platform/ids.ts";
import type { ActiveLogin, FindActiveLogin } from "../../access/service.ts";
import type { Audit } from "../../audit/service.ts";
import type { Actor } from "../../shared/actor.ts";
import type { SigningKeyRing } from "../../shared/signing-keys/signing-key-ring.ts";
import { loginEnded, sessionRevoked } from "../errors.ts";
import { gatewayOff } from "../keys/keys.ts";
import type { GatewaySettings } from "../settings.ts";
import { GATEWAY_SESSION_CLAIM, INFERENCE_SCOPE, SESSION_CLAIM } from "../wire.ts";
import * as store from "./inference-sessions-store.ts";

export interface InferenceTokensDependencies {
  db: Db;
  clock: Clock;
  ids: Ids;
  audit: Audit;
  /** returns undefined when the login of the grant has ended */
  loginOf: FindActiveLogin;
}

/** The dependencies of minting; undefined when gateway mode is off. */
export interface Minting {
  settings: GatewaySettings;
  keys: SigningKeyRing;
}

/** One device login of one workstation. */
export interface Workstation {
  userId: string;
  grantId: string;
  loginSessionId: string;
}

export interface InferenceToken {
  /** JWT, RS256 */
  token: string;
  /** UTC milliseconds; equals `exp` */
  expiresAtMs: number;
  proxyUrl: string;
}

export class InferenceTokens {
  constructor(
    private readonly dependencies: InferenceTokensDependencies,
    private readonly minting: Minting | undefined,
  ) {}

  /**
   * @returns a new token, valid no longer than the login session; earlier tokens stay valid
   * @throws DomainError `gateway.off`, `gateway.login_ended`, `gateway.session_revoked`, `signing_key.*`
   */
  async mint(workstation: Workstation): Promise<InferenceToken> {
    if (!this.minting) throw gatewayOff();
    const { db, loginOf } = this.dependencies;
    const login = loginOf(workstation.grantId);
    if (!login) throw loginEnded();
    const session =
      store.findByGrant(db.read, workstation.grantId) ??
      (await db.write((tx) => this.#sessionOf(tx, workstation), "gateway"));
    if (session.revokedAtMs !== null) throw sessionRevoked();
    return this.#sign(session, { login, minting: this.minting });
  }

  /**
   * Revokes every inference token of the login session. The calling workstation gets no new token until it signs in again;
   * other workstations approved from the same browser sign-in may request new ones. Idempotent.
   */
  revokeSession(actor: Actor, workstation: Workstation): Promise<void> {
    const { db, clock, audit } = this.dependencies;
    return db.write((tx) => {
      const session = this.#sessionOf(tx, workstation);
      const others = store.removeSiblings(tx, session);
      if (session.revokedAtMs !== null && others === 0) return;
      store.revoke(tx, { id: session.id, revokedAtMs: session.revokedAtMs ?? clock.nowMs() });
      const after = { login_session: session.loginSessionId, others };
      audit.record(tx, { actor, action: "gateway_session.revoke", target: session.id, after });
    }, "gateway");
  }

  #sessionOf(tx: Tx, workstation: Workstation): store.GatewaySessionRow {
    const { clock, ids } = this.dependencies;
    const known = store.findByGrant(tx, workstation.grantId);
    if (known) return known;
    const session = { ...workstation, id: ids.uuid(), createdAtMs: clock.nowMs(), revokedAtMs: null };
    store.add(tx, session);
    return session;
  }

  #sign(
    session: store.GatewaySessionRow,
    { login, minting }: { login: ActiveLogin; minting: Minting },
  ): InferenceToken {
    const { inferenceJwt, inferenceProxyUrl } = minting.settings;
    const nowMs = this.dependencies.clock.nowMs();
    const endMs = Math.min(nowMs + inferenceJwt.tokenTtlSeconds * SECOND_MS, login.expiresAtMs);
    const iat = Math.floor(nowMs / SECOND_MS);
    const exp = Math.floor(endMs / SECOND_MS);
    if (exp <= iat) throw loginEnded();
    const token = minting.keys.signer().sign({
      iss: inferenceJwt.issuer,
      aud: inferenceJwt.audience,
      sub: session.userId,
      iat,
      exp,
      jti: this.dependencies.ids.uuid(),
      scope: INFERENCE_SCOPE,
      [SESSION_CLAIM]: session.loginSessionId,
      [GATEWAY_SESSION_CLAIM]: session.id,
    });
    return { token, expiresAtMs: exp * SECOND_MS, proxyUrl: inferenceProxyUrl };
  }
}
