// One attempt to give a user a working key: begin, call the provisioner, settle. The attempt does not end with the request that
// started it, and concurrent requests for the same user share it. Each transaction reads the row again, so it never overwrites
// newer data. A key that was created upstream but not stored is queued for revocation.
import pLimit from "p-limit";
import { SECOND_MS } from "../../../platform/clock.ts";
import type { Sync, Tx } from "../../../platform/database/database.ts";
import { randomFraction } from "../../../platform/ids.ts";
import type { User } from "../../identity/service.ts";
import type { Actor } from "../../shared/actor.ts";
import type { GatewayDependencies, GatewayMode } from "../dependencies.ts";
import {
  ATTEMPT_LEASE_MS,
  dueKeys,
  isPermanent,
  type KeyRow,
  leaseChanges,
  missingFields,
  newKeyRow,
  nextState,
  previousKey,
  RETRY_MAX_MS,
  ROTATION_OVERLAP_MS,
  reasonToCall,
  reconcileAtMs,
  retryDelayMs,
} from "../model.ts";
import {
  type ProvisionedKey,
  ProvisionerError,
  type ProvisionReason,
  type ProvisionRequest,
} from "../provisioners/provisioner.ts";
import { ProvisionerCalls } from "../provisioners/provisioner-calls.ts";
import { sealCredential } from "../sealing/sealed-credential.ts";
import { KeyChanges } from "./key-changes.ts";
import * as store from "./store.ts";

/** Attempts per allowed provisioner call: while some wait for the provisioner, others begin or settle, which can take as long. */
const ATTEMPTS_PER_PROVISIONER_CALL = 6;

export interface AttemptOptions {
  actor: Actor;
  /** a person requested it: ignore the retry delay */
  manual: boolean;
  /** call the gateway even if nothing is due */
  force: boolean;
  /** replace a key immediately if the gateway rejects it */
  replace: boolean;
  /** no caller waits for the result */
  patient?: true;
  /** replace a healthy key if it still has this version; the old key stays until the new one is stored */
  rotate?: { replaces: string | undefined };
}

export interface Outcome {
  row: KeyRow | undefined;
  /** why there is no key, or why the stored key could not be reconciled */
  failure?: ProvisionerError;
}

/** A running attempt, with the values that identify its row at the end. */
interface Begun {
  actor: Actor;
  request: ProvisionRequest;
  credentialVersion: string;
  leaseUntilMs: number;
  /** whether unknown keys may remain upstream, even after success */
  leavesLeftovers: boolean;
}

export class Attempts {
  readonly calls: ProvisionerCalls;
  readonly #running = new Map<string, Promise<Outcome>>();
  readonly #limit;
  readonly #changes: KeyChanges;

  constructor(
    private readonly dependencies: GatewayDependencies,
    private readonly mode: GatewayMode,
  ) {
    this.calls = new ProvisionerCalls(mode, dependencies.observe);
    this.#limit = pLimit(mode.settings.provisioner.maxConcurrency * ATTEMPTS_PER_PROVISIONER_CALL);
    this.#changes = new KeyChanges(dependencies);
  }

  /** Maximum number of concurrent attempts; further attempts wait. */
  get width(): number {
    return this.#limit.concurrency;
  }

  /** Joins a running attempt. A provisioner's failure is in the outcome, not a rejection. @throws DomainError `storage.*` */
  run(userId: string, options: AttemptOptions): Promise<Outcome> {
    const running = this.#running.get(userId);
    if (running) return running;
    const attempt = this.#limit(() => this.#perform(userId, options)).finally(() =>
      this.#running.delete(userId),
    );
    this.#running.set(userId, attempt);
    return attempt;
  }

  /** @returns whether this process has a running or waiting attempt for the user */
  isRunning(userId: string): boolean {
    return this.#running.has(userId);
  }

  /** Waits for the attempts that are running now, including those that fail. */
  async drain(): Promise<void> {
    await Promise.allSettled(this.#running.values());
  }

  /** @returns why the provisioner must be called; undefined if the row is the response */
  reasonFor(
    row: KeyRow | undefined,
    options: AttemptOptions & { nowMs: number },
  ): ProvisionReason | undefined {
    const replaces = options.rotate?.replaces;
    if (replaces !== undefined && row?.credentialVersion !== replaces) return undefined;
    const { configurationDigest, settings } = this.mode;
    const due = dueKeys(options.nowMs, settings.provisioner.reconcileTtlSeconds);
    return reasonToCall(row, { ...options, due, configurationDigest });
  }

  async #perform(userId: string, options: AttemptOptions): Promise<Outcome> {
    const outcome = await this.#once(userId, options);
    const isRejected = outcome.failure?.code === "credential_invalid" && outcome.row?.state === "invalid";
    if (!isRejected) return outcome;
    if (!options.replace) return { row: outcome.row };
    // The row got a new version when the rejected key was invalidated.
    const rotate = options.rotate && { replaces: undefined };
    return await this.#once(userId, { ...options, force: false, ...(rotate && { rotate }) });
  }

  async #once(userId: string, options: AttemptOptions): Promise<Outcome> {
    const { db } = this.dependencies;
    const write = <T>(fn: (tx: Tx) => Sync<T>) =>
      options.patient ? db.writeInBackground(fn, "gateway") : db.write(fn, "gateway");
    const begun = await write((tx) => this.#begin(tx, userId, options));
    if (!("request" in begun)) return begun;
    try {
      const key = await this.calls.provision(begun.request, options.actor.requestId);
      return await write((tx) => this.#succeed(tx, begun, key));
    } catch (error) {
      if (!(error instanceof ProvisionerError)) throw error;
      return await write((tx) => this.#fail(tx, begun, error));
    }
  }

  /** @returns the attempt, or the stored state if there is nothing to do */
  #begin(tx: Tx, userId: string, options: AttemptOptions): Begun | Outcome {
    const { attemptsBy, clock, groupsOf, ids } = this.dependencies;
    const nowMs = clock.nowMs();
    const user = this.#activeUser(tx, userId);
    if (!user) return { row: undefined };
    const found = this.#changes.usable(tx, store.findKey(tx, userId), nowMs);
    const reason = this.reasonFor(found, { ...options, nowMs });
    if (!reason) return { row: found };
    const { id, email, organizationId } = user;
    const previous = options.rotate ? null : previousKey(found);
    const supersedes = reason === "missing" || reason === "credential_invalidated";
    const row = found ?? newKeyRow({ userId, email, organizationId, credentialVersion: ids.uuid() }, nowMs);
    this.#changes.update(tx, row, {
      ...leaseChanges(row, { nowMs, manual: options.manual }),
      recoveringBy: attemptsBy,
      leftovers: row.leftovers || previous === null,
    });
    return {
      actor: options.actor,
      request: { identity: { id, email, organizationId, groups: groupsOf(tx, id) }, reason, previous },
      credentialVersion: row.credentialVersion,
      leaseUntilMs: nowMs + ATTEMPT_LEASE_MS,
      leavesLeftovers: found?.leftovers === true && !supersedes,
    };
  }

  /** Stores the provisioner's key, or queues it for revocation if the user or the row has changed since. */
  #succeed(tx: Tx, begun: Begun, key: ProvisionedKey): Outcome {
    const nowMs = this.dependencies.clock.nowMs();
    const row = this.#ownRow(tx, begun);
    if (!row) return this.#discard(tx, begun, key.externalId);
    const { externalId } = key;
    const incomplete = missingFields(row, key, nowMs);
    if (incomplete) {
      this.#changes.revokeUpstream(tx, row, { externalId, reason: "unsettled", nowMs });
      return this.#fail(tx, begun, new ProvisionerError("rejected", incomplete));
    }
    this.#supersede(tx, row, { externalId, nowMs });
    const { configurationDigest, settings } = this.mode;
    const expiresAtMs = key.credential ? key.expiresAtMs : (key.expiresAtMs ?? row.expiresAtMs);
    const ttlMs = settings.provisioner.reconcileTtlSeconds * SECOND_MS;
    const dueAtMs = reconcileAtMs(
      { nowMs, expiresAtMs },
      { ttlMs, fraction: randomFraction(this.dependencies.ids) },
    );
    const after = this.#changes.update(tx, row, {
      ...(key.credential && this.#newCredential(row, key.credential)),
      state: nextState(row.state, "succeeded"),
      email: begun.request.identity.email,
      externalId,
      alias: key.alias,
      metadata: key.metadata === null ? null : JSON.stringify(key.metadata),
      configurationDigest,
      expiresAtMs,
      invalidatedAtMs: null,
      invalidationReason: null,
      problemCode: null,
      problem: null,
      failures: 0,
      // If the key was marked as due during the attempt, it stays due.
      nextAttemptAtMs: row.nextAttemptAtMs === begun.leaseUntilMs ? dueAtMs : nowMs,
      recoveringUntilMs: null,
      leftovers: begun.leavesLeftovers,
      reconciledAtMs: nowMs,
      validatedAtMs: nowMs,
    });
    if (key.credential) {
      this.#changes.record(tx, { actor: begun.actor, action: "gateway_key.provision", row: after });
    }
    return { row: after };
  }

  /** Keeps a usable key after any failure, unless the gateway rejected the key. */
  #fail(tx: Tx, { actor, request, ...begun }: Begun, failure: ProvisionerError): Outcome {
    const nowMs = this.dependencies.clock.nowMs();
    const row = this.#ownRow(tx, { request, ...begun });
    if (!row) return { row: store.findKey(tx, request.identity.id), failure };
    const { code, message } = failure;
    if (code === "credential_invalid" && row.state === "ready") {
      const reason = { actor, reason: message, queueAs: "disowned", nowMs } as const;
      return { row: this.#changes.invalidate(tx, row, reason), failure };
    }
    const permanent = isPermanent(code);
    const waitMs = permanent
      ? RETRY_MAX_MS
      : retryDelayMs(row.failures, randomFraction(this.dependencies.ids));
    const retryAtMs = Math.min(nowMs + waitMs, row.expiresAtMs ?? Number.POSITIVE_INFINITY);
    const isReplacement = row.state === "recovering" && row.invalidatedAtMs !== null;
    const after = this.#changes.update(tx, row, {
      state: nextState(row.state, isReplacement ? "replacement_failed" : "failed"),
      problemCode: code,
      problem: message,
      // A usable key keeps its old digest, because it still needs an update to the new configuration.
      ...(row.state !== "ready" && { configurationDigest: this.mode.configurationDigest }),
      failures: permanent ? row.failures : row.failures + 1,
      nextAttemptAtMs: row.nextAttemptAtMs === begun.leaseUntilMs ? retryAtMs : nowMs,
      recoveringUntilMs: null,
    });
    return { row: after, failure };
  }

  /** @returns the row if it still belongs to this attempt and its user may have a key */
  #ownRow(
    tx: Tx,
    {
      request,
      credentialVersion,
      leaseUntilMs,
    }: Pick<Begun, "request" | "credentialVersion" | "leaseUntilMs">,
  ): KeyRow | undefined {
    const row = store.findKey(tx, request.identity.id);
    const isOwn = row?.credentialVersion === credentialVersion && row.recoveringUntilMs === leaseUntilMs;
    const user = this.#activeUser(tx, request.identity.id);
    return isOwn && user?.email === request.identity.email ? row : undefined;
  }

  #discard(tx: Tx, { request }: Begun, externalId: string): Outcome {
    const { id: userId, email, organizationId } = request.identity;
    const nowMs = this.dependencies.clock.nowMs();
    const row = store.findKey(tx, userId);
    if (externalId !== row?.externalId) {
      const owner = { userId, email, organizationId };
      this.#changes.revokeUpstream(tx, owner, { externalId, reason: "unsettled", nowMs });
    }
    return { row };
  }

  #supersede(tx: Tx, row: KeyRow, { externalId, nowMs }: { externalId: string; nowMs: number }): void {
    store.forgetRevocation(tx, externalId);
    if (row.externalId === null || row.externalId === externalId) return;
    const atMs = row.state === "ready" ? nowMs + ROTATION_OVERLAP_MS : nowMs;
    this.#changes.revokeUpstream(tx, row, { externalId: row.externalId, reason: "superseded", nowMs, atMs });
  }

  #newCredential({ userId }: KeyRow, credential: NonNullable<ProvisionedKey["credential"]>) {
    const credentialVersion = this.dependencies.ids.uuid();
    return {
      credentialVersion,
      ...sealCredential(this.dependencies.sealing, credential, { userId, credentialVersion }),
    };
  }

  #activeUser(tx: Tx, userId: string): User | undefined {
    const user = this.dependencies.identity.findUserById(tx, userId);
    return user?.status === "active" ? user : undefined;
  }
}
