// Operations on one user's gateway key, for the user and for administrators. The response for a healthy key comes from its row,
// without a lock or a write. Everything else needs an attempt (attempts.ts), for which the caller waits a bounded time.
import { SECOND_MS, within } from "../../../platform/clock.ts";
import { DomainError } from "../../../platform/errors.ts";
import { growingCache } from "../../../platform/memory/growing-cache.ts";
import type { User } from "../../identity/service.ts";
import type { Actor } from "../../shared/actor.ts";
import type { GatewayDependencies } from "../dependencies.ts";
import { type KeyRow, VALIDATE_EVERY_MS } from "../model.ts";
import { ProvisionerError } from "../provisioners/provisioner.ts";
import { type AttemptOptions, Attempts } from "./attempts.ts";
import { KeyChanges, systemActor } from "./key-changes.ts";
import { createKeyRetirement, type RetireGatewayKey } from "./key-retirement.ts";
import { type GatewayKeyStatus, toKeyStatus } from "./key-status.ts";
import * as store from "./store.ts";

/** Shorter than the client's timeout of 15 s. After this time the caller gets the current state and the work continues. */
const ENSURE_WAIT_MS = 12 * SECOND_MS;
/** Suggested retry delay when the response is sent before the work is done. */
const ASK_AGAIN_SECONDS = 2;

/** Maximum number of cached rows, about a kilobyte each. */
const CACHED_ROWS_MAX = 10_000;

export interface KeyResponse {
  status: GatewayKeyStatus;
  /** suggested retry delay if there is no usable key */
  retryAfterSeconds?: number;
}

/** The reasons the inference proxy may report, each with the text shown to the user at the workstation. */
const REJECTION_TEXTS = {
  not_found: "the gateway no longer knows your key",
  blocked: "the gateway has blocked your key",
  revoked: "the gateway has revoked your key",
} as const;
export type RejectionReason = keyof typeof REJECTION_TEXTS;

export interface RejectionReport {
  actor: Actor;
  userId: string;
  /** version of the refused key */
  credentialVersion: string;
  reason: RejectionReason;
}

/** The user who owns the key, reduced to what a request needs. */
export type KeyHolder = Pick<User, "id" | "email">;

/** The actor of a request, and the owner of the key. */
export interface KeyRequest {
  actor: Actor;
  user: KeyHolder;
}

/** A change of the key version that the caller saw. */
export interface KeyChange extends KeyRequest {
  /** from `versionOf`; a key with another version is not changed; default: any version */
  version?: string | undefined;
}

export class GatewayKeys {
  /** The attempts of this process; undefined when gateway mode is off. */
  readonly attempts: Attempts | undefined;
  readonly #changes: KeyChanges;
  readonly #retire: RetireGatewayKey;
  /** Cached rows with the secret still sealed. Any change of keys, users or groups, by any process, clears them. */
  readonly #rows = growingCache<KeyRow>(CACHED_ROWS_MAX);
  #revision = -1;

  constructor(private readonly dependencies: GatewayDependencies) {
    this.attempts = dependencies.mode && new Attempts(dependencies, dependencies.mode);
    this.#changes = new KeyChanges(dependencies);
    this.#retire = createKeyRetirement(dependencies);
  }

  /** @returns the status of the user's key, without network calls */
  status(user: KeyHolder): GatewayKeyStatus {
    return this.#view(user, this.#find(user));
  }

  /**
   * Gives the user a working key, or reconciles the existing key when it is due.
   * @param manual ignores the retry delay after failures
   * @throws ProvisionerError when there is still no usable key; DomainError `storage.*`
   */
  ensure({ actor, user, manual }: KeyRequest & { manual: boolean }): Promise<KeyResponse> {
    return this.#ensureKey(user, { actor, manual, force: false, replace: true });
  }

  /**
   * Checks a stored key at the gateway, at most once a minute. A rejected key is removed but not replaced here.
   * @throws as `ensure`
   */
  async validate({ actor, user }: KeyRequest): Promise<KeyResponse> {
    const row = this.#find(user);
    const nowMs = this.dependencies.clock.nowMs();
    const isRecent = row?.validatedAtMs != null && Math.abs(nowMs - row.validatedAtMs) < VALIDATE_EVERY_MS;
    if (row?.state !== "ready" || isRecent) return { status: this.#view(user, row) };
    return await this.#ensureKey(user, { actor, manual: false, force: true, replace: false });
  }

  /**
   * Replaces a key. The old key is revoked upstream after the new one is stored.
   * @throws as `ensure`; DomainError `gateway.off`, `access.confirmation_needed`,
   *   `access.second_factor_enrollment_needed`
   */
  async rotate({ actor, user, version }: KeyChange): Promise<KeyResponse> {
    const { mode, db, requireConfirmation } = this.dependencies;
    if (!mode) throw gatewayOff();
    requireConfirmation(db.read, actor);
    const rotate = { replaces: version };
    return await this.#ensureKey(user, { actor, manual: true, force: true, replace: true, rotate });
  }

  /** @returns the version of the stored key, which each replacement changes; undefined without a key */
  versionOf(user: KeyHolder): string | undefined {
    return this.#find(user)?.credentialVersion;
  }

  /**
   * Removes a key and queues its revocation at the gateway. The user gets a new key on the next request.
   * @returns whether the user had the key
   */
  revoke({ actor, user, version }: KeyChange): Promise<boolean> {
    const { db, audit, clock } = this.dependencies;
    return db.write((tx) => {
      const row = store.findKey(tx, user.id);
      if (!row || (version !== undefined && row.credentialVersion !== version)) return false;
      this.#retire(tx, { userId: user.id, reason: "revoked", nowMs: clock.nowMs() });
      const before = { state: row.state, external_id: row.externalId, alias: row.alias };
      audit.record(tx, { actor, action: "gateway_key.revoke", target: user.id, before });
      return true;
    }, "gateway");
  }

  /**
   * Handles a report from the inference proxy that the gateway refused a key. The report applies only to the version the proxy
   * used, so a late report does no harm. Starts an attempt for a new key immediately.
   * @returns whether that version was still stored
   */
  async reportRejected({ actor, userId, credentialVersion, reason }: RejectionReport): Promise<boolean> {
    const rejected = await this.dependencies.db.write((tx) => {
      const row = store.findKey(tx, userId);
      if (row?.state !== "ready" || row.credentialVersion !== credentialVersion) return false;
      const nowMs = this.dependencies.clock.nowMs();
      this.#changes.invalidate(tx, row, {
        actor,
        reason: REJECTION_TEXTS[reason],
        queueAs: "disowned",
        nowMs,
      });
      return true;
    }, "gateway");
    if (rejected)
      void this.attempts?.run(userId, { actor, manual: false, force: false, replace: true }).catch(() => {});
    return rejected;
  }

  /**
   * Starts an attempt for a user without a usable key, if one is due.
   * @returns whether an attempt is running now, in this or another process
   */
  recover(user: User): boolean {
    const { attempts } = this;
    if (!attempts) return false;
    if (attempts.isRunning(user.id)) return true;
    const { db, clock } = this.dependencies;
    const row = store.findKey(db.read, user.id);
    const options = { actor: systemActor(user), manual: false, force: false, replace: true };
    const nowMs = clock.nowMs();
    if (!attempts.reasonFor(row, { ...options, nowMs })) return (row?.recoveringUntilMs ?? 0) > nowMs;
    void attempts.run(user.id, options).catch(() => {}); // the row records the result
    return true;
  }

  async #ensureKey(user: KeyHolder, options: AttemptOptions): Promise<KeyResponse> {
    const { attempts } = this;
    if (!attempts) return { status: this.#view(user, undefined) };
    const row = this.#find(user);
    const nowMs = this.dependencies.clock.nowMs();
    const isAwaited = attempts.isRunning(user.id) && row?.state !== "ready";
    if (!isAwaited && !attempts.reasonFor(row, { ...options, nowMs })) return this.#answer(user, row);
    const outcome = await within(ENSURE_WAIT_MS, attempts.run(user.id, options));
    if (!outcome) {
      return { status: this.status(user), retryAfterSeconds: ASK_AGAIN_SECONDS };
    }
    if (outcome.failure && outcome.row?.state !== "ready") throw this.#refusal(outcome.failure, outcome.row);
    return this.#answer(user, outcome.row);
  }

  #find({ id }: KeyHolder): KeyRow | undefined {
    const { db } = this.dependencies;
    const revision = db.revision("gateway") + db.revision("access") + db.revision("provisioning");
    if (revision !== this.#revision) this.#rows.clear();
    this.#revision = revision;
    const row = this.#rows.get(id) ?? store.findKey(db.read, id);
    if (row) this.#rows.set(id, row);
    return row;
  }

  #refusal({ code, diagnosis }: ProvisionerError, row: KeyRow | undefined): ProvisionerError {
    return new ProvisionerError(code, diagnosis, row && this.#retryOf(row));
  }

  #retryOf({ nextAttemptAtMs }: KeyRow): { retryAfterSeconds?: number } {
    if (nextAttemptAtMs === null) return {};
    const waitMs = Math.max(SECOND_MS, nextAttemptAtMs - this.dependencies.clock.nowMs());
    return { retryAfterSeconds: Math.ceil(waitMs / SECOND_MS) };
  }

  #answer(user: KeyHolder, row: KeyRow | undefined): KeyResponse {
    const status = this.#view(user, row);
    return row === undefined || row.state === "ready" ? { status } : { status, ...this.#retryOf(row) };
  }

  #view({ email }: KeyHolder, row: KeyRow | undefined): GatewayKeyStatus {
    const { mode, clock } = this.dependencies;
    return toKeyStatus(row, { email, enabled: mode !== undefined, nowMs: clock.nowMs() });
  }
}

export const gatewayOff = (): DomainError =>
  new DomainError("conflict", "gateway.off", "gateway mode is off", {
    hint: "set gateway.type and the related settings, or use --config to name the configuration that has them",
  });
