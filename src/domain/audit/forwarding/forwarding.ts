// Sends the audit log to a receiver, in order and at least once. The position is in the database, so entries wait there while the
// receiver is down, and a restored or replicated database continues from its own position. The scheduler decides when to run.
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../../platform/clock.ts";
import type { Db } from "../../../platform/database/database.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Actor } from "../../shared/actor.ts";
import type { AuditLog } from "../log.ts";
import { listFollowing } from "../log-store.ts";
import type { Audit } from "../service.ts";
import * as store from "./forwarding-store.ts";
import { BATCH_ENTRIES_MAX, batchOf, type Receiver } from "./receiver.ts";

const RESEND_ACTION = "audit.resend";

export interface ForwardingDependencies {
  db: Db;
  clock: Clock;
  audit: Audit;
  auditLog: Pick<AuditLog, "size">;
  /** undefined if the log is not sent anywhere */
  auditReceiver?: Receiver | undefined;
}

export interface ForwardingState {
  /** id of the last entry that the receiver accepted; 0 for none */
  lastId: number;
  /** UTC milliseconds; null before the first delivery */
  deliveredAtMs: number | null;
  /** number of waiting entries */
  waiting: number;
  /** time of the oldest waiting entry, UTC milliseconds; null for none */
  waitingSinceMs: number | null;
  /** UTC milliseconds; null unless the last attempt failed */
  failingSinceMs: number | null;
  error: string | null;
}

/** The result of a run. */
export interface ForwardingRun {
  entries: number;
  /** why it stopped early; undefined if nothing waits */
  failure: string | undefined;
  /** whether the previous run had a different result */
  isStateChange: boolean;
}

export class AuditForwarding {
  #entries = 0;
  #failures = 0;

  constructor(private readonly dependencies: ForwardingDependencies) {}

  /** whether the settings name a receiver */
  get isOn(): boolean {
    return this.dependencies.auditReceiver !== undefined;
  }

  /** since the start of this process */
  get figures(): { entries: number; failures: number } {
    return { entries: this.#entries, failures: this.#failures };
  }

  /** @returns the id of the last entry that the receiver accepted; undefined without a receiver */
  sentUpTo(): number | undefined {
    return this.isOn ? store.findProgress(this.dependencies.db.read).entryId : undefined;
  }

  state(): ForwardingState {
    const { db, auditLog } = this.dependencies;
    const { entryId, ...rest } = store.findProgress(db.read);
    const [oldest] = listFollowing(db.read, { after: entryId, limit: 1 });
    const waiting = oldest ? auditLog.size(entryId) : 0;
    return { lastId: entryId, ...rest, waiting, waitingSinceMs: oldest?.atMs ?? null };
  }

  /** Sends the waiting entries batch by batch, up to the first failure. Does nothing without a receiver. */
  async run(signal: AbortSignal): Promise<ForwardingRun> {
    const { db, auditReceiver: receiver } = this.dependencies;
    const wasFailing = store.findProgress(db.read).failingSinceMs !== null;
    let entries = 0;
    for (;;) {
      const { entryId: after } = store.findProgress(db.read);
      const batch = batchOf(listFollowing(db.read, { after, limit: BATCH_ENTRIES_MAX }));
      const last = batch.at(-1);
      if (!receiver || !last || signal.aborted)
        return { entries, failure: undefined, isStateChange: wasFailing && entries > 0 };
      try {
        await receiver.send(batch, signal);
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        if (signal.aborted) return { entries, failure: undefined, isStateChange: false }; // an abort says nothing about the receiver
        const isStateChange = await this.#fail(after, textOf(error));
        return { entries, failure: textOf(error), isStateChange };
      }
      await this.#move(after, last.id);
      entries += batch.length;
      this.#entries += batch.length;
      await setImmediate(); // lets requests run
    }
  }

  /**
   * Sends the entries after an id again, to a receiver that lost them.
   * @returns the id up to which they had been sent
   * @throws DomainError `audit.not_sent` if the receiver has not accepted the entry with that id yet
   */
  resend(actor: Actor, after: number): Promise<number> {
    const { db, audit } = this.dependencies;
    return db.write((tx) => {
      const { entryId } = store.findProgress(tx);
      if (after > entryId) throw notSent(entryId);
      if (after === entryId) return entryId;
      store.change(tx, entryId, { entryId: after });
      const change = { before: { sent_up_to: entryId }, after: { sent_up_to: after } };
      audit.record(tx, { actor, action: RESEND_ACTION, target: actor.organizationId, ...change });
      return entryId;
    }, "unobserved");
  }

  #move(from: number, entryId: number): Promise<void> {
    const deliveredAtMs = this.dependencies.clock.nowMs();
    return this.dependencies.db.write((tx) => {
      store.begin(tx);
      store.change(tx, from, { entryId, deliveredAtMs, failingSinceMs: null, error: null });
    }, "unobserved");
  }

  /** Writes only changes, because a receiver may be down for days. @returns whether the reason has changed */
  async #fail(entryId: number, error: string): Promise<boolean> {
    this.#failures += 1;
    const { db, clock } = this.dependencies;
    const known = store.findProgress(db.read);
    if (known.error === error) return false;
    const failingSinceMs = known.failingSinceMs ?? clock.nowMs();
    await db.write((tx) => {
      store.begin(tx);
      store.change(tx, entryId, { failingSinceMs, error });
    }, "unobserved");
    return true;
  }
}

const ERROR_LENGTH_MAX = 300;

/** Shows wrong settings and the text of the system error, because only operators see them. */
function textOf({ message, problems, cause }: DomainError): string {
  const settings = problems.map(({ detail }) => detail).join(", ");
  const reason = settings || (cause instanceof Error ? cause.message : "");
  return `${message}${reason && ` (${reason})`}`.slice(0, ERROR_LENGTH_MAX);
}

const notSent = (entryId: number): DomainError =>
  new DomainError("conflict", "audit.not_sent", `the receiver has confirmed entries only up to ${entryId}`, {
    hint: "the entries after it are sent anyway; see: quartermaster audit forwarding",
  });
