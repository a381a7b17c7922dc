// Assembles forwarding: one forwarder, its open calls, and the timers that check them.
import type { Registry } from "prom-client";
import type { ReplaceKey, SessionWatch } from "../../../domain/gateway/service.ts";
import type { RequestLog, UsageCounter } from "../../../domain/inference/log/record.ts";
import type { ProxySettings } from "../../../domain/inference/settings.ts";
import { type Clock, within } from "../../../platform/clock.ts";
import { collectGarbage } from "../../../platform/memory/garbage.ts";
import type { Upstream } from "../../../platform/outbound/upstream.ts";
import { IDLE_TIMEOUT_SECONDS } from "../../listener/listen.ts";
import type { Forward } from "../call.ts";
import type { RefusalReason } from "../refusals.ts";
import { EndedAccess } from "./ended-access.ts";
import type { ErrorResponseOptions } from "./error-response.ts";
import { Forwarder } from "./forward.ts";
import { ForwardingMetrics } from "./forwarding-metrics.ts";
import { type FinishedRequest, OpenCalls } from "./open-calls.ts";
import { BufferBudget } from "./request-body.ts";
import { Timers } from "./timers.ts";

export interface ForwardingOptions extends Pick<ErrorResponseOptions, "classify"> {
  settings: ProxySettings;
  upstream: Upstream;
  replaceKey: ReplaceKey;
  watch: SessionWatch;
  log: RequestLog;
  usage: UsageCounter;
  /** models that the organization has assigned; undefined if it has assigned none, which allows all */
  allowedModels(): ReadonlySet<string> | undefined;
  clock: Clock;
  /** idle time until a connection is closed; the listener's default if omitted */
  connectionIdleSeconds?: number;
  /** milliseconds of a monotonic clock; the system clock if omitted */
  nowMs?: () => number;
  /** the engine's if omitted */
  collectGarbage?: () => void;
  metrics: Registry;
  finished(request: FinishedRequest): void;
  refused(reason: RefusalReason): void;
  /** called for an error that no step expected */
  report(error: unknown, requestId?: string): void;
}

export interface Forwarding {
  readonly forward: Forward;
  readonly calls: Pick<OpenCalls, "size" | "streams">;
  /** Checks the open calls now; a timer does it several times a second. */
  beat(): void;
  /**
   * Lets running calls finish within the time of the settings, then ends the rest with a last event. The handler
   * refuses new requests.
   * @param limitMs instead of the time of the settings
   */
  drain(limitMs?: number): Promise<void>;
}

/** Called once per service. */
export function createForwarding(options: ForwardingOptions): Forwarding {
  const { settings, metrics, clock, watch, nowMs = () => performance.now() } = options;
  const { connectionIdleSeconds = IDLE_TIMEOUT_SECONDS } = options;
  const budget = new BufferBudget(settings.bufferTotalBytes);
  const figures: ForwardingMetrics = new ForwardingMetrics(metrics, {
    streams: () => calls.streams,
    bufferedBytes: () => budget.used,
  });
  const shared = { ...options, nowMs, budget, figures, connectionIdleSeconds };
  const calls: OpenCalls = new OpenCalls({ ...shared, onBusy: () => timers.start() });
  const access = new EndedAccess({ watch, clock });
  const timers = new Timers({ collectGarbage, ...shared, calls, access });
  return {
    forward: new Forwarder({ ...shared, calls }).forward,
    calls,
    beat: () => timers.beat(),
    async drain(limitMs = settings.drainMs) {
      await within(limitMs, calls.whenIdle());
      calls.stopAll({ outcome: "stopped", reason: "service.stopping" });
    },
  };
}
