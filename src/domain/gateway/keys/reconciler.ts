// Background work on gateway keys: reconciles keys that are due and carries out queued revocations at the gateway.
// A job of the service runs it (src/app/service/service.ts), in one process at a time. attempts.ts implements an attempt.

import type { Tx } from "../../../platform/database/database.ts";
import { DomainError } from "../../../platform/errors.ts";
import { randomFraction } from "../../../platform/ids.ts";
import type { Actor } from "../../shared/actor.ts";
import { pseudonymOf } from "../../shared/personal-data.ts";
import type { GatewayDependencies, GatewayMode } from "../dependencies.ts";
import { dueKeys, dueRevocations, retryDelayMs } from "../model.ts";
import { ProvisionerError } from "../provisioners/provisioner.ts";
import type { Attempts } from "./attempts.ts";
import { systemActor } from "./key-changes.ts";
import * as store from "./store.ts";

/** Due keys read in one query. */
const DUE_BATCH = 200;
/** Due revocations handled in one run. */
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

  /** Marks keys created under another configuration as due. Runs once at start. @returns the number of keys */
  applyConfiguration(): Promise<number> {
    const { db, clock } = this.dependencies;
    const digest = this.mode.configurationDigest;
    return db.write((tx) => store.makeOutdatedDue(tx, { digest, nowMs: clock.nowMs() }), "gateway");
  }

  /**
   * Takes over the attempts of a service that ended without settling them. Call it once at start, and only in the process with the
   * directory's lock, which proves that no other service runs. Attempts of a command keep their lease.
   * @returns the number of attempts
   */
  takeOverAttempts(): Promise<number> {
    const { db, clock } = this.dependencies;
    return db.write((tx) => store.endServiceAttempts(tx, clock.nowMs()), "gateway");
  }

  /**
   * Works until nothing is due or the signal aborts, then waits for the attempts in progress.
   * @param onKey called after each key
   * @throws DomainError `storage.*`; Error, after all other keys, if a bug prevented some attempts from settling
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

  /** @returns an unexpected error of this user's key. Returned, not thrown, so that the other keys are still reconciled. */
  async #reconcile(userId: string): Promise<unknown> {
    const options = {
      actor: this.#actor(),
      manual: false,
      force: false,
      replace: true,
      patient: true,
    } as const;
    try {
      await this.attempts.run(userId, options);
      return undefined;
    } catch (error) {
      if (error instanceof DomainError) throw error;
      return error;
    }
  }

  /** @returns an iterator over due users. Each appears once per run; a key that stays due waits for the next run. */
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
      await this.attempts.calls.revoke({ identity: { id, email, organizationId, groups: [] }, externalId });
    } catch (error) {
      if (!(error instanceof ProvisionerError)) throw error;
      return error.code === "credential_invalid"
        ? await this.#finish(entry)
        : await this.#postpone(entry, error);
    }
    return await this.#finish(entry);
  }

  /** A later attempt for the same user has already superseded the leftover keys. */
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

  /** @returns the pseudonym if the user was erased while the revocation was pending */
  #nameOf(tx: Tx, { userId }: store.Revocation): string {
    const { identity, sealing } = this.dependencies;
    return identity.findUserById(tx, userId) ? userId : pseudonymOf(sealing, userId);
  }

  async #postpone({ id, attempts }: store.Revocation, { message }: ProvisionerError): Promise<boolean> {
    const { db, clock, ids } = this.dependencies;
    const nextAttemptAtMs = clock.nowMs() + retryDelayMs(attempts, randomFraction(ids));
    const later = { id, attempts: attempts + 1, nextAttemptAtMs, problem: message };
    await db.write((tx) => store.postponeRevocation(tx, later), "gateway");
    return false;
  }

  #actor(): Actor {
    return systemActor({ organizationId: this.dependencies.identity.organization()?.id ?? "" });
  }
}
