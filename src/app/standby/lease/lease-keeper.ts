// Holds the lease for the running service: takes it at the start, renews it, and stops accepting changes before it
// ends. A holder counts from the start of its renewal. Another machine waits for the same time after it has seen the
// last change. The holder therefore stops first, regardless of their clocks.
import { setTimeout as sleep } from "node:timers/promises";
import { toRfc3339 } from "../../../platform/clock.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Log } from "../../../platform/observe/log.ts";
import type { OwnTerm } from "../own-term.ts";
import { numberOf } from "../terms.ts";
import { type FoundLease, isReadable, type Lease, type LeaseObject } from "./lease-object.ts";
import {
  type ClockReading,
  elapsedMs,
  LEASE_MS,
  MARGIN_MS,
  RENEW_EVERY_MS,
  REQUEST_MS,
  RETRY_EVERY_MS,
  readClocks,
  waitedMs,
} from "./lease-times.ts";

export interface LeaseOptions {
  object: LeaseObject;
  own: OwnTerm;
  machine: string;
  log: Log;
  /** the last audit entry, for the machine that takes over; undefined before the database is open */
  auditEnd?: () => { id: number; atMs: number } | undefined;
  /** called after each renewal with the time until which changes are accepted, by the wall clock */
  onRenewed?: (untilMs: number) => void;
  /** @returns a command with the options that it needs here, for messages */
  command: (words: string) => string;
  /** called once another machine has the lease */
  onLost(error: DomainError): void;
  /** default: the clocks of this machine */
  now?: () => ClockReading;
  /** default: waits */
  wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export class LeaseKeeper {
  readonly #now: () => ClockReading;
  readonly #wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly #stop = new AbortController();
  #etag: string | undefined;
  /** start of the last successful renewal */
  #renewedAt: ClockReading | undefined;
  #loop: Promise<void> = Promise.resolve();
  #isLost = false;
  #failure: string | undefined;
  #count = 0;
  #auditEnd: LeaseOptions["auditEnd"];
  #replaced: Lease | undefined;

  constructor(private readonly options: LeaseOptions) {
    this.#now = options.now ?? readClocks;
    this.#wait =
      options.wait ?? (async (ms, signal) => void (await sleep(ms, undefined, { signal }).catch(() => {})));
    this.#auditEnd = options.auditEnd;
  }

  /** whether changes are accepted now */
  get isHeld(): boolean {
    return (
      !this.#isLost &&
      this.#renewedAt !== undefined &&
      elapsedMs(this.#renewedAt, this.#now()) < LEASE_MS - MARGIN_MS
    );
  }

  /** The lease that `take` replaced; undefined if there was none. */
  get replaced(): Lease | undefined {
    return this.#replaced;
  }

  /** @throws DomainError `standby.no_lease` unless the lease is held for long enough */
  admit(): void {
    if (!this.isHeld) throw noLease();
  }

  /** Includes the end of the audit log in each renewal from now on. */
  report(auditEnd: NonNullable<LeaseOptions["auditEnd"]>): void {
    this.#auditEnd = auditEnd;
  }

  /**
   * Takes the lease. Waits for the end of another data directory's lease, unless its term is newer.
   * @throws DomainError `standby.taken_over`, `standby.still_active`, `object_store.*`; the signal's reason
   */
  async take(signal: AbortSignal): Promise<void> {
    let seen: { etag: string; at: ClockReading } | undefined;
    let changes = 0;
    for (;;) {
      signal.throwIfAborted();
      const found = await this.options.object.read(requestSignal(signal));
      if (found && this.#isNewer(found.lease)) throw this.#takenBy(found.lease);
      const nowAt = this.#now();
      if (found && found.etag !== seen?.etag) {
        seen = { etag: found.etag, at: nowAt };
        changes += 1;
      }
      const isOver = !found || !seen || waitedMs(seen.at, nowAt) >= LEASE_MS;
      if ((isOver || this.#isFree(found)) && (await this.#change(found?.etag, signal))) {
        this.#replaced = found?.lease;
        return;
      }
      if (found && changes > RENEWALS_BY_DEAD_MACHINE) throw stillActive(found.lease);
      await this.#wait(RETRY_EVERY_MS, signal);
    }
  }

  /** Renews the lease until `release`. */
  start(): void {
    this.#loop = this.#renewAgain();
  }

  /** Stops renewing and gives up the lease, so that another machine need not wait. */
  async release(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
    const etag = this.#etag;
    this.#renewedAt = undefined;
    if (this.#isLost || etag === undefined) return;
    try {
      await this.options.object.change(
        this.#lease({ released: true }),
        etag,
        AbortSignal.timeout(REQUEST_MS),
      );
    } catch (error) {
      if (!(error instanceof DomainError)) throw error; // the lease expires
    }
  }

  async #renewAgain(): Promise<void> {
    for (let waitMs = RENEW_EVERY_MS; ; ) {
      await this.#wait(waitMs, this.#stop.signal);
      if (this.#stop.signal.aborted) return;
      const isRenewed = await this.#renew();
      if (this.#isLost) return;
      waitMs = isRenewed ? RENEW_EVERY_MS : RETRY_EVERY_MS;
    }
  }

  /** A failure is logged once. */
  async #renew(): Promise<boolean> {
    const { log, object } = this.options;
    try {
      if (await this.#change(this.#etag, this.#stop.signal)) {
        if (this.#failure !== undefined) log.info("standby.lease_renewed");
        this.#failure = undefined;
        return true;
      }
      const found = await object.read(requestSignal(this.#stop.signal));
      if (found && !this.#isOurs(found.lease))
        this.#lose(isReadable(found.lease) ? this.#takenBy(found.lease) : damaged());
      this.#etag = found?.etag; // our own change, whose response was lost; the next renewal counts
      return false;
    } catch (error) {
      if (this.#stop.signal.aborted) return false;
      const message = error instanceof Error ? error.message : String(error); // writing run/lease.json fails on a full disk
      if (message !== this.#failure) log.warning("standby.lease_not_renewed", { message });
      this.#failure = message;
      return false;
    }
  }

  #lose(error: DomainError): void {
    this.#isLost = true;
    this.options.onLost(error);
  }

  /** @returns false if another machine was faster */
  async #change(expected: string | undefined, signal: AbortSignal): Promise<boolean> {
    const beganAt = this.#now();
    const etag = await this.options.object.change(
      this.#lease({ released: false }),
      expected,
      requestSignal(signal),
    );
    if (etag === undefined) return false;
    this.#etag = etag;
    this.#renewedAt = beganAt;
    this.options.onRenewed?.(beganAt.wallMs + LEASE_MS - MARGIN_MS);
    return true;
  }

  #lease({ released }: { released: boolean }): Lease {
    const { own, machine } = this.options;
    const end = this.#auditEnd?.();
    this.#count += 1;
    return {
      term: own.term,
      holder: own.holder,
      machine,
      released,
      nonce: `${own.holder}-${this.#count}-${this.#now().wallMs}`,
      renewed_at: toRfc3339(this.#now().wallMs),
      audit: end ? { id: end.id, at: toRfc3339(end.atMs) } : null,
    };
  }

  #takenBy = ({ machine, term }: Lease): DomainError =>
    new DomainError(
      "conflict",
      "standby.taken_over",
      `${machine} holds the lease of the newer term ${term}`,
      {
        hint: `this machine no longer accepts changes; to make it the active one again, stop the other one and run here: ${this.options.command("takeover")}`,
      },
    );

  #isOurs = ({ term, holder }: Lease): boolean =>
    term === this.options.own.term && holder === this.options.own.holder;

  /** The lock of the data directory proves that no other process uses our name. */
  #isFree = (found: FoundLease | undefined): boolean =>
    found !== undefined && (found.lease.released || this.#isOurs(found.lease));

  #isNewer = ({ term }: Lease): boolean =>
    term !== this.options.own.term && numberOf(term) >= numberOf(this.options.own.term);
}

const requestSignal = (signal: AbortSignal): AbortSignal =>
  AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]);

/** A machine that fails while another one waits may have made this many renewals. More changes prove that it runs. */
const RENEWALS_BY_DEAD_MACHINE = 2;

const stillActive = ({ machine, term }: Lease): DomainError =>
  new DomainError("conflict", "standby.still_active", `${machine} is renewing its lease of term ${term}`, {
    hint: "stop the service there first: systemctl stop quartermaster quartermaster-litestream",
  });

const RETRY_AFTER_SECONDS = 5;

/** @returns the error of a change that is refused */
const noLease = (): DomainError =>
  new DomainError(
    "unavailable",
    "standby.no_lease",
    "this machine accepts no change now, because it could not renew its lease",
    { hint: "check the store of the lease: quartermaster doctor", retryAfterSeconds: RETRY_AFTER_SECONDS },
  );

/** The service may start again: it takes such a lease once nobody has changed it for the whole time. */
const damaged = (): DomainError =>
  new DomainError(
    "unavailable",
    "standby.lease_damaged",
    "another program has replaced the lease in the store with an object that is not a lease",
    {
      hint: "check who may write to the store of the replica; then start the service again: it takes the lease after 15 seconds",
    },
  );
