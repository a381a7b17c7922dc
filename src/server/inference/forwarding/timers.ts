// Checks all open calls a few times a second: time limits, late event streams, access that has ended, and rows of long calls. One
// timer serves all calls, and it runs only while there are calls.
import type { ProxySettings } from "../../../domain/inference/settings.ts";
import { MINUTE_MS, SECOND_MS } from "../../../platform/clock.ts";
import type { Upstream } from "../../../platform/outbound/upstream.ts";
import type { EndedAccess } from "./ended-access.ts";
import type { OpenCall } from "./open-call.ts";
import type { OpenCalls } from "./open-calls.ts";
import { CLIENT_SILENCE_MS } from "./request-body.ts";

/** Maximum delay until an exceeded limit is detected. */
const CHECK_INTERVAL_MS = 250;
/** After this time without an event the head of an event stream is sent with a comment. */
const HEADERS_DELAY_MAX_MS = SECOND_MS;
const EARLY_ROW_MS = MINUTE_MS;
/**
 * After at least this many simultaneous calls, garbage is collected when the last one has ended: an idle process allocates
 * nothing, so the engine would keep the memory of the calls. A collection takes about 80 ms after 2,000 streams, while no call
 * is open.
 */
export const COLLECT_AFTER_CALLS = 200;

export interface TimersOptions {
  settings: Pick<
    ProxySettings,
    "connectTimeoutMs" | "headersTimeoutMs" | "idleTimeoutMs" | "streamMaxMs" | "cutStreams"
  >;
  calls: OpenCalls;
  upstream: Pick<Upstream, "reach" | "markDown">;
  access: EndedAccess;
  collectGarbage(): void;
  /** milliseconds of a monotonic clock */
  nowMs: () => number;
  /** called for an error that no step expected */
  report(error: unknown): void;
}

export class Timers {
  #timer: Timer | undefined;
  /** time of the upstream's last response to any call */
  #lastHeadMs = Number.NEGATIVE_INFINITY;
  /** maximum number of simultaneous calls since the last idle time */
  #most = 0;

  constructor(private readonly options: TimersOptions) {}

  /** Call it when there are calls again. */
  start(): void {
    this.#timer ??= setInterval(this.#guardedBeat, CHECK_INTERVAL_MS);
  }

  /** Runs once per interval. */
  beat(): void {
    const { calls, settings, access } = this.options;
    if (calls.size === 0) {
      this.#stop(); // the service may be closing: no more requests are sent
      return;
    }
    this.#most = Math.max(this.#most, calls.size);
    const nowMs = this.options.nowMs();
    for (const open of calls) this.#lastHeadMs = Math.max(this.#lastHeadMs, open.headMs ?? this.#lastHeadMs);
    for (const open of calls) this.#check(open, nowMs);
    if (settings.cutStreams) access.cut(calls);
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    const wereMany = this.#most >= COLLECT_AFTER_CALLS;
    this.#most = 0;
    if (wereMany) this.options.collectGarbage();
  }

  readonly #guardedBeat = (): void => {
    try {
      this.beat();
    } catch (error) {
      this.options.report(error);
    }
  };

  #check(open: OpenCall, nowMs: number): void {
    const { settings, calls } = this.options;
    if (nowMs - open.startedMs >= EARLY_ROW_MS && !open.hasEarlyRow) calls.writeEarlyRow(open);
    const isTooLong = nowMs - open.startedMs >= settings.streamMaxMs;
    if (open.phase !== "answer" && open.bodyAwaitedMs !== undefined) {
      const isSilent = nowMs - open.bodyAwaitedMs >= CLIENT_SILENCE_MS;
      if (isTooLong || isSilent) open.stop({ outcome: "refused", reason: "inference.slow_body" });
    } else if (isTooLong || this.#isOverdue(open, nowMs))
      open.stop({ outcome: "timeout", reason: "inference.upstream_timeout" });
    if (open.phase === "head" && nowMs - (open.sentMs ?? nowMs) >= settings.connectTimeoutMs / 2)
      void this.#checkReach(open);
    if (open.phase === "answer" && nowMs - (open.headMs ?? nowMs) >= HEADERS_DELAY_MAX_MS) {
      open.showHead?.();
      open.showHead = undefined;
    }
  }

  /** The upstream's time for a head starts when it has received everything that has arrived so far. */
  #isOverdue(open: OpenCall, nowMs: number): boolean {
    const { headersTimeoutMs, idleTimeoutMs } = this.options.settings;
    if (open.phase === "head") return nowMs - (open.bodyMovedMs ?? open.sentMs ?? nowMs) >= headersTimeoutMs;
    return open.phase === "answer" && nowMs - open.lastPieceMs >= idleTimeoutMs;
  }

  /**
   * The runtime does not report when a connection is established. A waiting request is therefore checked once, over a separate
   * connection, unless the upstream has answered another call since. Only silence counts: a refused connection fails the
   * request by itself.
   */
  async #checkReach(open: OpenCall): Promise<void> {
    if (open.isReachChecked) return;
    open.isReachChecked = true;
    if (this.#lastHeadMs >= (open.sentMs ?? 0)) return;
    const { upstream, settings } = this.options;
    const reach = await upstream.reach(settings.connectTimeoutMs / 2);
    if (reach !== "silent" || open.phase !== "head") return;
    upstream.markDown();
    open.stop({ outcome: "timeout", reason: "inference.upstream_unreachable" });
  }
}
