// Issues, refreshes and revokes the tokens of a workstation after an approved device login: redeem (RFC 8628 section 3.4),
// refresh (RFC 6749 section 6), revoke (RFC 7009). Everything is checked before a one-time secret is spent. access-tokens.ts
// signs access tokens after COMMIT.
import { type Clock, SECOND_MS } from "../../../platform/clock.ts";
import { statedType } from "../../../platform/crypto/signing.ts";
import type { Db, Tx } from "../../../platform/database/database.ts";
import { invariant } from "../../../platform/errors.ts";
import { type Ids, sha256Hex } from "../../../platform/ids.ts";
import type { Audit } from "../../audit/service.ts";
import type { Identity, User } from "../../identity/service.ts";
import { userActor } from "../../shared/actor.ts";
import type { IsConfirmed } from "../dependencies.ts";
import type { PolledLogin } from "../device-login/device-logins-store.ts";
import * as deviceLogins from "../device-login/device-logins-store.ts";
import { acceptPoll, type Polled, PolledLogins } from "../device-login/polled-logins.ts";
import { invalidDeviceCode, invalidRefreshToken, notRevocable, POLL_REFUSALS } from "../errors.ts";
import { endGrants } from "../logins/end-logins.ts";
import { DEVICE_LOGIN, deviceLoginIdIn, stateAt } from "../model.ts";
import type { AccessTokens } from "./access-tokens.ts";
import { requireClient, requireIdentifiedClient, requireParameter, requireResource } from "./grant-checks.ts";
import type {
  Caller,
  RedeemRequest,
  RefreshRequest,
  RevokeRequest,
  TokenResponse,
} from "./grant-messages.ts";
import * as store from "./grants-store.ts";
import { repeat, rotate } from "./refresh-rotation.ts";
import {
  accessIssuedAtMs,
  firstRefreshToken,
  type RefreshToken,
  readRefreshToken,
  refreshVerdict,
  type SuccessorKeys,
} from "./refresh-token.ts";
import { asksForRefreshToken, grantedScope, narrowScope } from "./scopes.ts";
import { ACCESS_TOKEN_TYPE } from "./signing-keys.ts";

export interface GrantsDependencies {
  db: Db;
  clock: Clock;
  ids: Ids;
  audit: Audit;
  identity: Pick<Identity, "findUserById">;
  accessTokens: Pick<AccessTokens, "mint" | "read">;
  sealing: SuccessorKeys;
  isConfirmed: IsConfirmed;
  settings: {
    baseUrl(): string;
    accessTokenTtlSeconds: number;
    refreshTokenTtlSeconds: number;
    pollIntervalSeconds: number;
  };
}

/** The result of a transaction. The access token is signed after the commit. */
interface Issued {
  user: User;
  grant: Pick<store.GrantRow, "id" | "clientId" | "resource" | "loginSessionId">;
  scope: string;
  refreshToken: string | undefined;
  /** when the refresh token was first issued, which is earlier than `nowMs` in a repeated response */
  exchangedAtMs: number;
  nowMs: number;
}

/** Grants and their tokens; created once, in domain.ts. */
export class Grants {
  readonly #logins: PolledLogins;

  constructor(private readonly dependencies: GrantsDependencies) {
    this.#logins = new PolledLogins(dependencies.db);
  }

  /**
   * Answers one poll of a workstation: tokens once, to one caller. A poll before the decision reads at most one row and writes
   * nothing.
   * @throws OAuthError, first match: `invalid_request`, `invalid_client`, `invalid_grant`, `slow_down`, `expired_token`,
   *   `authorization_pending`, `access_denied`, `invalid_target`, and `invalid_grant` again if the approving login session has
   *   ended or the user is not active
   * @source RFC 8628 sections 3.4 and 3.5
   */
  async redeem(request: RedeemRequest): Promise<TokenResponse> {
    const deviceCode = requireParameter("device_code", request.deviceCode);
    const clientId = requireClient(request.clientId);
    const id = deviceLoginIdIn(deviceCode);
    const hash = sha256Hex(deviceCode);
    const polled = id === undefined ? undefined : this.#logins.find({ id, hash });
    if (polled?.login.clientId !== clientId) throw invalidDeviceCode();
    this.#answerPoll(polled);
    return await this.#exchange(polled.login, request);
  }

  async #exchange(login: PolledLogin, request: RedeemRequest): Promise<TokenResponse> {
    const resource = requireResource(
      request.resource,
      login.resource ?? this.dependencies.settings.baseUrl(),
    );
    const issued = await this.dependencies.db.write(
      (tx) => this.#redeem(tx, login, { resource, caller: request.caller }),
      "access",
    );
    this.#logins.forget(login.deviceCodeHash);
    return this.#sign(issued);
  }

  /**
   * Exchanges a refresh token for the next one. For REFRESH_GRACE_SECONDS the old token yields the same successor, because
   * clients share one file without a lock. After that, its use counts as theft and revokes this grant only.
   * @throws OAuthError `invalid_request`, `invalid_client`, `invalid_grant` (sign in again), `invalid_target`, `invalid_scope`
   * @source RFC 6749 section 6; RFC 9700 section 4.14.2
   */
  async refresh(request: RefreshRequest): Promise<TokenResponse> {
    const text = requireParameter("refresh_token", request.refreshToken);
    const clientId = requireClient(request.clientId);
    const presented = readRefreshToken(text);
    if (!presented) throw invalidRefreshToken();
    const outcome = await this.dependencies.db.write((tx) => {
      const family = store.findFamily(tx, presented);
      if (family?.grant.clientId !== clientId) throw invalidRefreshToken();
      return this.#refresh(tx, family, { presented, request });
    }, "unobserved");
    if ("stolen" in outcome) {
      // A separate write, because unlike a refresh it revokes access, so caches must see it.
      const { stolen } = outcome;
      const reuse = { reason: "refresh_token_reused", caller: request.caller };
      await this.dependencies.db.write((tx) => this.#revoke(tx, stolen, reuse), "access");
      throw invalidRefreshToken();
    }
    return this.#sign(outcome);
  }

  /**
   * Revokes the grant of a current or former refresh token, and with it the grant's access tokens. An unknown or expired token is
   * not an error.
   * @throws OAuthError `invalid_client` (unauthenticated), `invalid_request`, `unsupported_token_type` for an access token
   * @source RFC 7009 section 2
   */
  async revoke({ token, clientId, caller }: RevokeRequest): Promise<void> {
    const known = requireIdentifiedClient(clientId);
    const text = requireParameter("token", token);
    const { db } = this.dependencies;
    const presented = readRefreshToken(text);
    const family = presented && store.findFamily(db.read, presented);
    if (family?.grant.clientId === known) {
      return await db.write(
        (tx) => this.#revoke(tx, family.grant, { reason: "revoked_by_client", caller }),
        "access",
      );
    }
    if (isAccessToken(text)) throw notRevocable();
  }

  /** @throws OAuthError unless the state allows tokens */
  #answerPoll(polled: Polled): void {
    const nowMs = this.dependencies.clock.nowMs();
    const { poll } = DEVICE_LOGIN[stateAt(polled.login, nowMs)];
    if (poll === "invalid_grant") throw invalidDeviceCode();
    const intervalMs = this.dependencies.settings.pollIntervalSeconds * SECOND_MS;
    if (!acceptPoll(polled, { nowMs, intervalMs })) throw POLL_REFUSALS.slow_down;
    if (poll !== "tokens") throw POLL_REFUSALS[poll];
  }

  #redeem(
    tx: Tx,
    login: PolledLogin,
    { resource, caller }: { resource: string; caller: Caller | undefined },
  ): Issued {
    const { clock, ids, identity, settings, audit } = this.dependencies;
    const nowMs = clock.nowMs();
    const spent = deviceLogins.redeem(tx, { id: login.id, nowMs });
    const user = spent?.userId ? identity.findUserById(tx, spent.userId) : undefined;
    if (!spent?.loginSessionId || user?.status !== "active") throw invalidDeviceCode();
    const keepsGoing = asksForRefreshToken(spent.scope);
    const ttlSeconds = keepsGoing ? settings.refreshTokenTtlSeconds : settings.accessTokenTtlSeconds;
    const expiresAtMs = nowMs + ttlSeconds * SECOND_MS;
    const first = keepsGoing ? firstRefreshToken(ids) : undefined;
    const grant: store.NewGrant = {
      id: ids.uuid(),
      userId: user.id,
      loginSessionId: spent.loginSessionId,
      familyHash: first?.familyHash ?? null,
      clientId: spent.clientId,
      scope: grantedScope(spent.scope),
      resource,
      address: spent.address,
      createdAtMs: nowMs,
      refreshedAtMs: nowMs,
      expiresAtMs,
    };
    store.insert(tx, grant);
    if (first) {
      const { tokenHash } = first;
      store.addToken(tx, { grantId: grant.id, tokenHash, createdAtMs: nowMs, expiresAtMs });
    }
    const after = { device_login: spent.id, login_session: grant.loginSessionId, scope: grant.scope };
    audit.record(tx, { actor: userActor(user, caller), action: "grant.create", target: grant.id, after });
    return { user, grant, scope: grant.scope, refreshToken: first?.text, exchangedAtMs: nowMs, nowMs };
  }

  /** @returns the grant if the token was stolen; then nothing was exchanged, and the caller must revoke the grant */
  #refresh(
    tx: Tx,
    family: store.Family,
    { presented, request }: { presented: RefreshToken; request: RefreshRequest },
  ): Issued | { stolen: store.GrantRow } {
    const { clock, identity, settings, sealing: keys } = this.dependencies;
    const { grant } = family;
    const nowMs = clock.nowMs();
    const verdict = refreshVerdict(family, nowMs);
    if (verdict === "dead") throw invalidRefreshToken();
    if (verdict === "reused") return { stolen: grant };
    const user = identity.findUserById(tx, grant.userId);
    if (user?.status !== "active") throw invalidRefreshToken();
    if (!this.dependencies.isConfirmed(tx, { userId: user.id, nowMs })) throw invalidRefreshToken();
    requireResource(request.resource, grant.resource);
    const scope = narrowScope(grant.scope, request.scope);
    const expiresAtMs = nowMs + settings.refreshTokenTtlSeconds * SECOND_MS;
    const exchange = verdict === "repeated" ? repeat : rotate;
    const { next, exchangedAtMs } = exchange(tx, { grant, presented, keys, nowMs, expiresAtMs });
    return { user, grant, scope, refreshToken: next.text, exchangedAtMs, nowMs };
  }

  #revoke(
    tx: Tx,
    grant: store.GrantRow,
    { reason, caller }: { reason: string; caller: Caller | undefined },
  ): void {
    const { clock, identity, audit } = this.dependencies;
    if (endGrants(tx, { grantIds: [grant.id], reason, nowMs: clock.nowMs() }) === 0) return;
    const user = identity.findUserById(tx, grant.userId);
    invariant(user, "a grant belongs to a user");
    audit.record(tx, {
      actor: userActor(user, caller),
      action: "grant.revoke",
      target: grant.id,
      after: { reason },
    });
  }

  #sign({ user, grant, scope, refreshToken, exchangedAtMs, nowMs }: Issued): TokenResponse {
    const { accessTokens, settings } = this.dependencies;
    const ttlSeconds = settings.accessTokenTtlSeconds;
    const issuedAtMs = accessIssuedAtMs(exchangedAtMs, { nowMs, ttlSeconds });
    const minted = accessTokens.mint({ user, grant, scope, sid: grant.loginSessionId, issuedAtMs });
    return {
      access_token: minted.accessToken,
      token_type: "Bearer",
      expires_in: minted.expiresAtSeconds - Math.floor(nowMs / SECOND_MS),
      expires_at: minted.expiresAtSeconds,
      ...(refreshToken && { refresh_token: refreshToken }),
      scope,
    };
  }
}

/** Checks only the header: callers need no credential here, and verifying a signature takes longer than the whole request. */
const isAccessToken = (text: string): boolean => statedType(text) === ACCESS_TOKEN_TYPE;
