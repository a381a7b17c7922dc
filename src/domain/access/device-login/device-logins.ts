// The device login up to the decision (RFC 8628 sections 3.1 to 3.3): a workstation requests it, and a signed-in user opens the
// link or types the code, then approves or refuses. grants.ts then issues the tokens.
import { SECOND_MS } from "../../../platform/clock.ts";
import type { Db, Tx } from "../../../platform/database/database.ts";
import { invariant } from "../../../platform/errors.ts";
import { type Ids, randomToken, sha256Hex } from "../../../platform/ids.ts";
import type { Audit } from "../../audit/service.ts";
import type { Actor } from "../../shared/actor.ts";
import * as budgets from "../budgets/budgets.ts";
import { type CountedAs, countedAddress, countedAs } from "../budgets/counted-address.ts";
import { loginClaimed, loginUnavailable, loginUnclaimed, tooManyPendingLogins } from "../errors.ts";
import {
  DEVICE_LOGIN,
  deviceCodeOf,
  isLinkToken,
  readUserCode,
  stateAt,
  USER_CODE_DRAWS_MAX,
  userCodeOf,
} from "../model.ts";
import { type ConfirmationsDependencies, createApprovalCheck } from "../second-factor/confirmations.ts";
import { type RequestedResource, requireClient, requireResource } from "../tokens/grant-checks.ts";
import { grantedScope, readRequestedScope } from "../tokens/scopes.ts";
import * as store from "./device-logins-store.ts";
import { PendingCount } from "./pending-count.ts";

export interface DeviceLoginsDependencies extends ConfirmationsDependencies {
  db: Db;
  ids: Ids;
  audit: Audit;
  settings: { baseUrl(): string; deviceCodeTtlSeconds: number; pollIntervalSeconds: number };
  limits: {
    deviceCodesPerAddress: number;
    pendingLoginsPerAddress: number;
    pendingLoginsPerNetwork: number;
    userCodeGuessesPerUser: number;
    userCodeGuessesPerAddress: number;
    windowSeconds: number;
  };
}

/** The parameters of RFC 8628 section 3.1 as received; ordinary OAuth clients omit `scope` and `resource`. */
export interface DeviceLoginRequest {
  clientId: string | undefined;
  scope?: string | undefined;
  resource?: RequestedResource;
  /** network address; null over a local socket, which is not rate-limited */
  address: string | null;
}

/** The secrets of a new device login; only the caller keeps them. */
export interface RequestedDeviceLogin {
  deviceCode: string;
  userCode: string;
  /** 43 characters; last segment of the opaque link */
  linkToken: string;
  expiresInSeconds: number;
  intervalSeconds: number;
}

/** A pending device login as shown to the user who decides. */
export interface DeviceLoginView {
  id: string;
  userCode: string;
  /** permissions that the workstation will receive */
  scopes: readonly string[];
  /** where the request came from */
  address: string | null;
  createdAtMs: number;
  expiresAtMs: number;
  /** id of the first signed-in user who opened it */
  claimedBy: string | null;
}

export interface Decision {
  /** login session of the deciding browser; it becomes `sid` of the tokens */
  loginSessionId: string;
  decision: "approve" | "refuse";
}

type NewLogin = Pick<store.NewDeviceLogin, "clientId" | "resource" | "scope" | "address"> & CountedAs;

/** Device logins until they are decided; created once, in domain.ts. */
export class DeviceLogins {
  readonly #pending = new PendingCount();
  readonly #requireApprover: ReturnType<typeof createApprovalCheck>;

  constructor(private readonly dependencies: DeviceLoginsDependencies) {
    this.#requireApprover = createApprovalCheck(dependencies);
  }

  /**
   * Starts a device login.
   * @throws OAuthError, first match: `invalid_request`, `invalid_client`, `invalid_target`, `invalid_scope`; then DomainError
   *   `access.too_many_attempts`, `device_login.too_many_pending`
   * @source RFC 8628 sections 3.1 and 3.2
   */
  async request(request: DeviceLoginRequest): Promise<RequestedDeviceLogin> {
    const { db, settings } = this.dependencies;
    const clientId = requireClient(request.clientId);
    const resource = requireResource(request.resource, settings.baseUrl());
    const scope = readRequestedScope(request.scope);
    const { address } = request;
    const caller = countedAs(address);
    const codes = await db.write((tx) => {
      this.#spendRequest(tx, caller);
      this.#pending.refuseFull(tx, { ...this.dependencies, caller });
      return this.#insert(tx, { clientId, resource, scope, address, ...caller });
    }, "unobserved");
    const { deviceCodeTtlSeconds, pollIntervalSeconds } = settings;
    return { ...codes, expiresInSeconds: deviceCodeTtlSeconds, intervalSeconds: pollIntervalSeconds };
  }

  /** @returns the pending login of an opaque link; undefined if it is unknown, used or expired */
  findByLink(linkToken: string): DeviceLoginView | undefined {
    const row = this.#openRow(linkToken);
    return row && viewOf(row, userCodeOf(linkToken));
  }

  /**
   * Binds the login to the signed-in user who opens its link. Idempotent.
   * @throws DomainError `device_login.unavailable`, `device_login.claimed` if another user was first
   */
  async claim(actor: Actor, linkToken: string): Promise<DeviceLoginView> {
    const userId = userIdOf(actor);
    const row = this.#openRow(linkToken);
    if (!row) throw loginUnavailable();
    const bound = row.userId === userId ? row : await this.#bind(userId, row.id);
    return viewOf(bound, userCodeOf(linkToken));
  }

  /**
   * Finds a login by its typed code and binds it to the user. Wrong guesses count for the user and the address. A code that is
   * unknown, used, expired or bound to another user gives the same error.
   * @param typed letters in any case; spaces and dashes are ignored
   * @throws DomainError `device_login.unavailable`, `access.too_many_attempts`
   * @source RFC 8628 section 5.1
   */
  async claimByUserCode(actor: Actor, typed: string): Promise<DeviceLoginView> {
    const userCode = readUserCode(typed);
    if (!userCode) throw loginUnavailable();
    const row = this.#openOnly(store.findByUserCode(this.dependencies.db.read, sha256Hex(userCode)));
    if (row?.userId === userIdOf(actor)) return viewOf(row, userCode);
    const bound = await this.dependencies.db.write((tx) => this.#guess(tx, { actor, userCode }), "access");
    if (!bound) throw loginUnavailable();
    return viewOf(bound, userCode);
  }

  /**
   * Records the decision of the user who opened the link; the link cannot be used again.
   * @throws DomainError `device_login.unavailable`, also if the login session has ended; `device_login.claimed`,
   *   `device_login.unclaimed`; for an approval `access.confirmation_needed`, `access.second_factor_enrollment_needed`
   * @source RFC 8628 section 3.3
   */
  async decide(actor: Actor, { linkToken, ...decision }: Decision & { linkToken: string }): Promise<void> {
    const row = this.#openRow(linkToken);
    if (!row) throw loginUnavailable();
    if (row.userId === null) throw loginUnclaimed();
    if (row.userId !== actor.id) throw loginClaimed();
    await this.#decide(actor, row.id, decision);
  }

  /**
   * Finds a login that is already bound to the user. It does not count as a guess and changes nothing.
   * @throws DomainError `device_login.unavailable`, also if it is not bound to the user
   */
  getClaimed(actor: Actor, userCode: string): DeviceLoginView {
    const known = readUserCode(userCode);
    const row = known && this.#openOnly(store.findByUserCode(this.dependencies.db.read, sha256Hex(known)));
    if (!row || row.userId !== userIdOf(actor)) throw loginUnavailable();
    return viewOf(row, known);
  }

  /** `getClaimed`, then `decide`. */
  async decideClaimed(
    actor: Actor,
    { userCode, ...decision }: Decision & { userCode: string },
  ): Promise<void> {
    await this.#decide(actor, this.getClaimed(actor, userCode).id, decision);
  }

  /** `claimByUserCode`, then `decide`. */
  async decideByUserCode(
    actor: Actor,
    { userCode, ...decision }: Decision & { userCode: string },
  ): Promise<void> {
    const { id } = await this.claimByUserCode(actor, userCode);
    await this.#decide(actor, id, decision);
  }

  #spendRequest(tx: Tx, { countedAddress }: CountedAs): void {
    const { limits, clock } = this.dependencies;
    const { deviceCodesPerAddress: limit, windowSeconds } = limits;
    budgets.consumeBudget(tx, {
      name: "device_code.address",
      subject: countedAddress,
      limit,
      windowSeconds,
      nowMs: clock.nowMs(),
    });
  }

  #insert(tx: Tx, login: NewLogin) {
    const { clock, ids, settings } = this.dependencies;
    const createdAtMs = clock.nowMs();
    const expiresAtMs = createdAtMs + settings.deviceCodeTtlSeconds * SECOND_MS;
    for (let draw = 0; draw < USER_CODE_DRAWS_MAX; draw += 1) {
      const id = ids.uuid();
      const linkToken = randomToken(ids);
      const deviceCode = deviceCodeOf(id, randomToken(ids));
      const codes = { deviceCode, linkToken, userCode: userCodeOf(linkToken) };
      const row = { ...login, ...hashesOf(codes), id, createdAtMs, expiresAtMs };
      if (!store.insert(tx, row)) continue;
      this.#pending.add(login);
      return codes;
    }
    throw tooManyPendingLogins();
  }

  #openRow(linkToken: string): store.DeviceLoginRow | undefined {
    if (!isLinkToken(linkToken)) return undefined;
    const userCodeHash = sha256Hex(userCodeOf(linkToken));
    const linkHash = sha256Hex(linkToken);
    return this.#openOnly(store.findByLink(this.dependencies.db.read, { userCodeHash, linkHash }));
  }

  /** @returns the row if a user can still open it */
  #openOnly(row: store.DeviceLoginRow | undefined): store.DeviceLoginRow | undefined {
    if (!row) return undefined;
    return DEVICE_LOGIN[stateAt(row, this.dependencies.clock.nowMs())].on.claim ? row : undefined;
  }

  async #bind(userId: string, id: string): Promise<store.DeviceLoginRow> {
    const { db, clock } = this.dependencies;
    const bound = await db.write((tx) => store.claim(tx, { id, userId, nowMs: clock.nowMs() }), "access");
    if (!bound) throw loginClaimed();
    return bound;
  }

  /** Counts the guess first and refunds it if it was right, so that concurrent guesses cannot all pass. */
  #guess(tx: Tx, { actor, userCode }: { actor: Actor; userCode: string }): store.DeviceLoginRow | undefined {
    const guesses = this.#guessesOf(actor);
    for (const budget of guesses) budgets.consumeBudget(tx, budget);
    const row = store.findByUserCode(tx, sha256Hex(userCode));
    const bound =
      row && store.claim(tx, { id: row.id, userId: userIdOf(actor), nowMs: this.dependencies.clock.nowMs() });
    if (bound) for (const budget of guesses) budgets.refund(tx, budget);
    return bound;
  }

  #guessesOf(actor: Actor): budgets.Budget[] {
    const { windowSeconds, userCodeGuessesPerUser, userCodeGuessesPerAddress } = this.dependencies.limits;
    const window = { windowSeconds, nowMs: this.dependencies.clock.nowMs() };
    const ofUser = {
      name: "user_code.user",
      subject: userIdOf(actor),
      limit: userCodeGuessesPerUser,
      ...window,
    };
    const limit = userCodeGuessesPerAddress;
    const subject = countedAddress(actor.address ?? null);
    return [ofUser, { name: "user_code.address", subject, limit, ...window }];
  }

  #decide(actor: Actor, id: string, { decision, loginSessionId }: Decision): Promise<void> {
    const { db, clock, audit } = this.dependencies;
    const change = { id, userId: userIdOf(actor), loginSessionId, decision, nowMs: clock.nowMs() };
    return db.write((tx) => {
      if (decision === "approve") this.#requireApprover(tx, change);
      const decided = store.decide(tx, change);
      if (!decided) throw loginUnavailable();
      const after = { scope: grantedScope(decided.scope), requested_from: decided.address };
      audit.record(tx, { actor, action: `device_login.${decision}`, target: id, after });
    }, "access");
  }
}

const hashesOf = ({
  deviceCode,
  linkToken,
  userCode,
}: Record<"deviceCode" | "linkToken" | "userCode", string>) => ({
  deviceCodeHash: sha256Hex(deviceCode),
  linkHash: sha256Hex(linkToken),
  userCodeHash: sha256Hex(userCode),
});

function userIdOf(actor: Actor): string {
  invariant(
    actor.kind === "user" && actor.id !== null,
    "only a signed-in user may open and decide device logins",
  );
  return actor.id;
}

function viewOf(row: store.DeviceLoginRow, userCode: string): DeviceLoginView {
  const { id, scope, address, createdAtMs, expiresAtMs, userId } = row;
  const scopes = grantedScope(scope).split(" ");
  return { id, userCode, scopes, address, createdAtMs, expiresAtMs, claimedBy: userId };
}
