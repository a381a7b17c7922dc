// Notifies the service manager: ready, reloading, stopping, a status line, and the watchdog. The watchdog is fed only while the
// database can be read and the scheduler advances.
import { MINUTE_MS } from "../../platform/clock.ts";
import type { Log } from "../../platform/observe/log.ts";
import type { Assignments, ServiceManager } from "../../platform/systemd/notify.ts";

/** Probes of the service. */
export interface Liveness {
  /** throws if the database cannot be read */
  readDatabase(): void;
  /** changes with each complete turn of the scheduler */
  beatMs(): number;
  /** one line for `systemctl status` */
  statusLine(): string;
}

export interface SupervisionOptions {
  /** undefined if the service was started by hand; no messages are sent then */
  manager: ServiceManager | undefined;
  log: Log;
  /** milliseconds of a monotonic clock */
  monotonicMs?: () => number;
}

/** How often the status line is recomputed: counting the clients of a large fleet takes a moment. */
export const STATUS_EVERY_MS = MINUTE_MS;
/** Checks per watchdog interval, so that one failed check is harmless. */
const CHECKS_PER_INTERVAL = 4;

export class Supervision implements Disposable {
  #liveness: Liveness | undefined;
  #timer: Timer | undefined;
  #reloads: Promise<void> = Promise.resolve();
  #beat = { ms: -1, seenAtMs: 0 };
  #status = { text: "", madeAtMs: 0 };
  readonly #nowMs: () => number;

  constructor(private readonly options: SupervisionOptions) {
    this.#nowMs = options.monotonicMs ?? (() => performance.now());
  }

  /** Call it once requests are answered; the watchdog is fed from then on. */
  ready(liveness: Liveness): void {
    this.#liveness = liveness;
    const { manager } = this.options;
    if (!manager) return;
    this.#notify({ READY: "1", ...this.#newStatus(liveness) });
    const checkMs = (manager.watchdogMs ?? Number.POSITIVE_INFINITY) / CHECKS_PER_INTERVAL;
    this.#timer = setInterval(() => this.checkLiveness(), Math.min(checkMs, STATUS_EVERY_MS));
  }

  /** Reloads run one after another. Each is announced and ends with READY, even if it fails. */
  reload(work: () => Promise<void>): Promise<void> {
    const run = async () => {
      this.options.manager?.notifyReloading();
      try {
        await work();
      } finally {
        this.#notify({ READY: "1", ...(this.#liveness && this.#newStatus(this.#liveness)) });
      }
    };
    this.#reloads = this.#reloads.then(run, run);
    return this.#reloads;
  }

  /** Call it when the service begins to stop; the manager's time limit counts from here. */
  stopping(): void {
    clearInterval(this.#timer);
    this.#notify({ STOPPING: "1", STATUS: "ending running requests" });
  }

  /** Feeds the watchdog if the service works; a timer calls it. */
  checkLiveness(): void {
    if (!this.#liveness) return;
    const { manager, log } = this.options;
    const watchdogMs = manager?.watchdogMs;
    const fault = watchdogMs === undefined ? undefined : this.#fault(this.#liveness, watchdogMs);
    if (fault !== undefined) {
      log.warning("watchdog.skipped", { because: fault });
      return;
    }
    const isStatusOld = this.#nowMs() - this.#status.madeAtMs >= STATUS_EVERY_MS;
    this.#notify({
      ...(watchdogMs !== undefined && { WATCHDOG: "1" }),
      ...(isStatusOld && this.#newStatus(this.#liveness)),
    });
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.options.manager?.close();
  }

  #fault(liveness: Liveness, watchdogMs: number): unknown {
    const nowMs = this.#nowMs();
    const ms = liveness.beatMs(); // compared only with its own earlier value, because the wall clock may be changed
    if (ms !== this.#beat.ms) this.#beat = { ms, seenAtMs: nowMs };
    if (nowMs - this.#beat.seenAtMs >= watchdogMs) return "the scheduler missed a turn";
    try {
      liveness.readDatabase();
      return undefined;
    } catch (error) {
      return error;
    }
  }

  #newStatus(liveness: Liveness): Assignments {
    let text: string;
    try {
      text = liveness.statusLine();
    } catch {
      return {}; // the status line is optional; `checkLiveness` detects a failing database
    }
    const isNew = text !== this.#status.text;
    this.#status = { text, madeAtMs: this.#nowMs() };
    return isNew ? { STATUS: text } : {};
  }

  #notify(state: Assignments): void {
    if (Object.keys(state).length === 0 || !this.options.manager) return;
    if (!this.options.manager.notify(state))
      this.options.log.warning("service_manager.notify_failed", { ...state });
  }
}
