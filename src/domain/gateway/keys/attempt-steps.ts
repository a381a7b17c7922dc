// The transactions of an attempt. Each one reads the row again, so that it never overwrites newer data. A key that was created
// upstream but is not stored is queued for revocation.

import { SECOND_MS } from "../../../platform/clock.ts";
import type { Tx } from "../../../platform/database/database.ts";
import type { JsonObject } from "../../../platform/text/json-object.ts";
import type { User } from "../../identity/service.ts";
import type { Actor } from "../../shared/actor.ts";
import type { GatewayDependencies, GatewayMode } from "../dependencies.ts";
import {
  ATTEMPT_LEASE_MS,
  dueKeys,
  isPermanent,
  type KeyRow,
  nextState,
  RETRY_MAX_MS,
  ROTATION_OVERLAP_MS,
  reasonToCall,
  reconcileAtMs,
  retryDelayMs,
  windowOf,
} from "../model.ts";
import {
  type PreviousKey,
  type ProvisionedKey,
  ProvisionerError,
  type ProvisionRequest,
} from "../provisioners/provisioner.ts";
import { sealCredential } from "../sealing/sealed-credential.ts";
import { KeyChanges } from "./key-changes.ts";
import * as store from "./store.ts";

/** What the caller of an attempt asks for. */
export interface AttemptOptions {
  actor: Actor;
  /** a person asked: ignore the retry delay */
  manual: boolean;
  /** call the gateway even if nothing is due */
  force: boolean;
  /** replace a key at once if the gateway disowns it */
  replace: boolean;
  /** no caller waits for the result */
  patient?: true;
  /** replace a healthy key; the old one stays until the new one is stored */
  rotate?: true;
}

export interface Outcome {
  row: KeyRow | undefined;
  /** why there is no key, or why the stored key could not be reconciled */
  failure?: ProvisionerError;
}

/** A running attempt, with the values that identify its row when it settles. */
export interface Begun {
  request: ProvisionRequest;
  credentialVersion: string;
  leaseUntilMs: number;
  /** whether unknown keys may remain upstream even after success */
  leavesLeftovers: boolean;
}

interface Settling {
  actor: Actor;
}

export class AttemptSteps {
  readonly #changes: KeyChanges;

  constructor(
    private readonly dependencies: GatewayDependencies,
    private readonly mode: GatewayMode,
  ) {
    this.#changes = new KeyChanges(dependencies);
  }

  /** @returns the attempt, or the stored state if there is nothing to do */
  begin(tx: Tx, userId: string, wish: AttemptOptions): Begun | Outcome {
    const nowMs = this.dependencies.clock.nowMs();
    const user = this.#activeUser(tx, userId);
    if (!user) return { row: undefined };
    const found = this.#changes.usable(tx, store.findKey(tx, userId), nowMs);
    const { configurationDigest, settings } = this.mode;
    const due = dueKeys(nowMs, settings.provisioner.reconcileTtlSeconds);
    const reason = reasonToCall(found, { ...wish, nowMs, due, configurationDigest });
    if (!reason) return { row: found };
    const previous = wish.rotate ? null : previousOf(found);
    const makesKey = previous === null;
    const supersedes = makesKey && (reason === "missing" || reason === "credential_invalidated");
    const row = this.#lease(tx, found ?? this.#firstRow(tx, user, nowMs), { nowMs, wish, makesKey });
    const { credentialVersion } = row;
    const identity = {
      id: user.id,
      email: user.email,
      organizationId: user.organizationId,
      groups: this.dependencies.groupsOf(tx, user.id),
    };
    return {
      request: { identity, reason, previous },
      credentialVersion,
      leaseUntilMs: nowMs + ATTEMPT_LEASE_MS,
      leavesLeftovers: found?.leftovers === true && !supersedes,
    };
  }

  /** Stores the provisioner's key, or queues it for revocation if the user or the row has changed meanwhile. */
  succeed(tx: Tx, begun: Begun, { key, actor }: Settling & { key: ProvisionedKey }): Outcome {
    const nowMs = this.dependencies.clock.nowMs();
    const row = this.#ownRow(tx, begun);
    if (!row) return this.#discard(tx, begun, { key, nowMs });
    const incomplete = missingFields(row, key, nowMs);
    if (incomplete) {
      this.#changes.revokeUpstream(tx, row, { externalId: key.externalId, reason: "unsettled", nowMs });
      return this.fail(tx, begun, { error: new ProvisionerError("rejected", incomplete), actor });
    }
    this.#supersede(tx, row, { externalId: key.externalId, nowMs });
    const { configurationDigest, settings } = this.mode;
    const expiresAtMs = key.credential ? key.expiresAtMs : (key.expiresAtMs ?? row.expiresAtMs);
    const ttlMs = settings.provisioner.reconcileTtlSeconds * SECOND_MS;
    const dueAtMs = reconcileAtMs({ nowMs, expiresAtMs }, { ttlMs, fraction: this.#fraction() });
    const after = this.#changes.update(tx, row, {
      ...(key.credential && this.#newCredential(row, key.credential)),
      state: nextState(row.state, "succeeded"),
      email: begun.request.identity.email,
      externalId: key.externalId,
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
    if (key.credential) this.#changes.record(tx, { actor, action: "gateway_key.provision", row: after });
    return { row: after };
  }

  /** Keeps a usable key whatever the failure, unless the gateway disowned the key. */
  fail(tx: Tx, begun: Begun, { error, actor }: Settling & { error: ProvisionerError }): Outcome {
    const nowMs = this.dependencies.clock.nowMs();
    const row = this.#ownRow(tx, begun);
    if (!row) return { row: store.findKey(tx, begun.request.identity.id), failure: error };
    if (error.code === "credential_invalid" && row.state === "ready") {
      const reason = error.message;
      return {
        row: this.#changes.disown(tx, row, { actor, reason, queueAs: "disowned", nowMs }),
        failure: error,
      };
    }
    const permanent = isPermanent(error.code);
    const waitMs = permanent ? RETRY_MAX_MS : retryDelayMs(row.failures, this.#fraction());
    const retryAtMs = Math.min(nowMs + waitMs, row.expiresAtMs ?? Number.POSITIVE_INFINITY);
    const after = this.#changes.update(tx, row, {
      state: nextState(row.state, failureOf(row)),
      problemCode: error.code,
      problem: error.message,
      // A usable key keeps its old digest, because it still has to be brought in line with the new configuration.
      ...(row.state !== "ready" && { configurationDigest: this.mode.configurationDigest }),
      failures: permanent ? row.failures : row.failures + 1,
      nextAttemptAtMs: row.nextAttemptAtMs === begun.leaseUntilMs ? retryAtMs : nowMs,
      recoveringUntilMs: null,
    });
    return { row: after, failure: error };
  }

  #firstRow(tx: Tx, user: User, nowMs: number): KeyRow {
    return store.insertKey(tx, {
      userId: user.id,
      organizationId: user.organizationId,
      state: nextState("missing", "begun"),
      email: user.email,
      credentialVersion: this.dependencies.ids.uuid(),
      failures: 0,
      replacements: 0,
      leftovers: false,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    });
  }

  #lease(
    tx: Tx,
    row: KeyRow,
    { nowMs, wish, makesKey }: { nowMs: number; wish: AttemptOptions; makesKey: boolean },
  ): KeyRow {
    const untilMs = nowMs + ATTEMPT_LEASE_MS;
    const isAutomaticReplacement = row.invalidatedAtMs !== null && !wish.manual;
    const windowMs = windowOf(row, nowMs);
    return this.#changes.update(tx, row, {
      state: row.state === "ready" ? "ready" : nextState(row.state, "begun"),
      recoveringUntilMs: untilMs,
      recoveringBy: this.dependencies.attemptsBy,
      nextAttemptAtMs: untilMs,
      leftovers: row.leftovers || makesKey,
      ...(isAutomaticReplacement && {
        replacements: windowMs === undefined ? 1 : row.replacements + 1,
        replacementsSinceMs: windowMs ?? nowMs,
      }),
    });
  }

  /** @returns the row if it still belongs to this attempt and its user may have a key */
  #ownRow(tx: Tx, { request, credentialVersion, leaseUntilMs }: Begun): KeyRow | undefined {
    const row = store.findKey(tx, request.identity.id);
    const isOwn = row?.credentialVersion === credentialVersion && row.recoveringUntilMs === leaseUntilMs;
    const user = this.#activeUser(tx, request.identity.id);
    return isOwn && user?.email === request.identity.email ? row : undefined;
  }

  #discard(tx: Tx, { request }: Begun, { key, nowMs }: { key: ProvisionedKey; nowMs: number }): Outcome {
    const { id: userId, email, organizationId } = request.identity;
    const row = store.findKey(tx, userId);
    const { externalId } = key;
    if (externalId !== row?.externalId && externalId.trim() !== "") {
      this.#changes.revokeUpstream(
        tx,
        { userId, email, organizationId },
        { externalId, reason: "unsettled", nowMs },
      );
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

  #fraction(): number {
    return Buffer.from(this.dependencies.ids.bytes(4)).readUInt32BE() / 2 ** 32;
  }
}

/** @returns the stored key of the last success; null for none */
const previousOf = (row: KeyRow | undefined): PreviousKey | null =>
  row?.state === "ready" && row.externalId !== null && row.alias !== null
    ? { externalId: row.externalId, alias: row.alias, metadata: parseMetadata(row.metadata) }
    : null;

const failureOf = ({ state, invalidatedAtMs }: KeyRow): "failed" | "replacement_failed" =>
  state === "recovering" && invalidatedAtMs !== null ? "replacement_failed" : "failed";

/** @returns what is missing in a successful answer; undefined if it is complete */
function missingFields(row: KeyRow, key: ProvisionedKey, nowMs: number): string | undefined {
  if (key.externalId.trim() === "") return "the provisioner gave no external id";
  if (key.alias.trim() === "") return "the provisioner gave no alias";
  if (key.credential?.reveal().trim() === "") return "the provisioner gave a blank credential";
  if (!key.credential && row.sealedCredential === null) return "the provisioner gave no credential";
  if (key.expiresAtMs !== null && key.expiresAtMs <= nowMs)
    return "the provisioner gave a key that has expired";
  return undefined;
}

function parseMetadata(text: string | null): JsonObject | null {
  return text === null ? null : JSON.parse(text);
}
