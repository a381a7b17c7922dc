// The background work on gateway keys: looks after keys that are due, and takes away upstream what is queued for revocation.
// A job of the service runs it (src/app/service/service.ts), in one process at a time; how an attempt goes is in attempts.ts.
// Source: gateway-keys.md sections 3, 8.1 and 11.9.

import type { Tx } from "../../../platform/database/database.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Actor } from "../../shared/actor.ts";
import { pseudonymOf } from "../../shared/personal-data.ts";
import type { GatewayDependencies, GatewayMode } from "../dependencies.ts";
import { dueKeys, dueRevocations, retryDelayMs } from "../model.ts";
import type { ProvisionerError } from "../provisioners/provisioner.ts";
import { type Attempts, asProvisionerError } from "./attempts.ts";
import { systemActor } from "./key-changes.ts";
import * as store from "./store.ts";

/** Due keys that are looked up together. */
export const DUE_BATCH = 200;
/** Due revocations that one run takes on. */
export const REVOCATION_BATCH = 100;

export interface Reconciled {
  keys: number;
  revocations: number;
}

export class Reconciler {
  constructor(
    private readonly dependencies: GatewayDependencies,
    private readonly mode: GatewayMode,
    private readonly attempts: Attempts,
  ) {}

  /** Makes every key due that was made under another configuration. @returns how many; run once at start */
  applyConfiguration(): Promise<number> {
    const { db, clock } = this.dependencies;
    const digest = this.mode.configurationDigest;
    return db.write((tx) => store.makeOutdatedDue(tx, { digest, nowMs: clock.nowMs() }), "gateway");
  }

  /**
   * Takes over the attempts of a service that ended without settling them. Call it once at start, and only in the process that
   * holds the directory's lock: that lock proves that no other service runs. An attempt of a command keeps its lease.
   * @returns how many
   */
  takeOverAttempts(): Promise<number> {
    const { db, clock } = this.dependencies;
    return db.write((tx) => store.endServiceAttempts(tx, clock.nowMs()), "gateway");
  }

  /**
   * Works until nothing is due, or until the signal; attempts under way are waited for.
   * @param onKey told after each key
   * @throws DomainError `storage.*`; Error, after all other keys, when a bug kept some keys from being settled
   */
  async run(signal: AbortSignal, onKey: () => void = () => {}): Promise<Reconciled> {
    const revocations = await this.#drainRevocations(signal);
    const keys = await this.#reconcileDue(signal, onKey);
    return { keys, revocations };
  }

  async #reconcileDue(signal: AbortSignal, onKey: () => void): Promise<number> {
    const due = this.#dueUsers();
    const bugs: unknown[] = [];
    let done = 0;
    const work = async (): Promise<void> => {
      for (let userId = due(); userId !== undefined && !signal.aborted; userId = due()) {
        const bug = await this.#reconcile(userId);
        if (bug) bugs.push(bug);
        done += 1;
        onKey();
      }
    };
    await Promise.all(Array.from({ length: this.attempts.width }, work));
    if (bugs.length === 0) return done;
    throw new Error(`${bugs.length} of ${done} keys could not be settled`, { cause: bugs[0] });
  }

  /** @returns a bug that concerns this user only, so that the others still get their keys */
  async #reconcile(userId: string): Promise<unknown> {
    const wish = { actor: this.#actor(), manual: false, force: false, replace: true, patient: true } as const;
    try {
      await this.attempts.run(userId, wish);
      return undefined;
    } catch (error) {
      if (error instanceof DomainError) throw error;
      return error;
    }
  }

  /** @returns a function that gives the next user who is due, each once in a run: a key that stays due waits for the next */
  #dueUsers(): () => string | undefined {
    const { db, clock } = this.dependencies;
    const { reconcileTtlSeconds } = this.mode.settings.provisioner;
    const seen = new Set<string>();
    let batch: string[] = [];
    return () => {
      if (batch.length === 0) {
        const due = dueKeys(clock.nowMs(), reconcileTtlSeconds);
        const found = store.dueUsers(db.read, due, DUE_BATCH);
        batch = found.filter((userId) => !seen.has(userId));
      }
      const userId = batch.shift();
      if (userId !== undefined) seen.add(userId);
      return userId;
    };
  }

  async #drainRevocations(signal: AbortSignal): Promise<number> {
    const { db, clock } = this.dependencies;
    const due = store.dueRevocations(db.read, dueRevocations(clock.nowMs()), REVOCATION_BATCH);
    const outcomes = await Promise.all(due.map((entry) => (signal.aborted ? false : this.#revoke(entry))));
    return outcomes.filter(Boolean).length;
  }

  async #revoke(entry: store.Revocation): Promise<boolean> {
    if (entry.externalId === null && this.#hasSuccessor(entry.userId)) return await this.#finish(entry);
    const { userId: id, email, organizationId, externalId } = entry;
    try {
      await this.attempts.revoke({ identity: { id, email, organizationId, groups: [] }, externalId });
    } catch (thrown) {
      const error = asProvisionerError(thrown);
      return error.code === "credential_invalid"
        ? await this.#finish(entry)
        : await this.#postpone(entry, error);
    }
    return await this.#finish(entry);
  }

  /** A later attempt for the same user has superseded whatever was left behind. */
  #hasSuccessor(userId: string): boolean {
    return this.attempts.isRunning(userId) || store.findKey(this.dependencies.db.read, userId) !== undefined;
  }

  #finish(entry: store.Revocation): Promise<boolean> {
    const { db, audit } = this.dependencies;
    const { id, externalId, reason } = entry;
    const after = { external_id: externalId, reason };
    const event = { actor: systemActor(entry), action: "gateway_key.revoke_upstream", after };
    return db.write((tx) => {
      const isOurs = store.finishRevocation(tx, id);
      if (isOurs) audit.record(tx, { ...event, target: this.#nameOf(tx, entry) });
      return isOurs;
    }, "gateway");
  }

  /** Whoever was erased while the key waited is named by the pseudonym. */
  #nameOf(tx: Tx, { userId }: store.Revocation): string {
    const { identity, sealing } = this.dependencies;
    return identity.findUserById(tx, userId) ? userId : pseudonymOf(sealing, userId);
  }

  async #postpone({ id, attempts }: store.Revocation, { message }: ProvisionerError): Promise<boolean> {
    const { db, clock, ids } = this.dependencies;
    const fraction = Buffer.from(ids.bytes(4)).readUInt32BE() / 2 ** 32;
    const nextAttemptAtMs = clock.nowMs() + retryDelayMs(attempts, fraction);
    const later = { id, attempts: attempts + 1, nextAttemptAtMs, problem: message };
    await db.write((tx) => store.postponeRevocation(tx, later), "gateway");
    return false;
  }

  #actor(): Actor {
    return systemActor({ organizationId: this.dependencies.identity.organization()?.id ?? "" });
  }
}
