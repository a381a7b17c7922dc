// Checks that the collector accepts traces. A failing collector loses only traces, so no finding is worse than a warning.
import { DAY_MS, toRfc3339 } from "../../platform/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import { DROP_CAUSES } from "../../platform/tracing/span-queue.ts";
import type { Check, Finding } from "../doctor/finding.ts";
import type { TracingState } from "./tracing-state.ts";

/** Maximum age of reported drops. */
export const RECENT_DROPS_MS = DAY_MS;

/** @param state totals of the running processes; undefined before the first attempt to send */
export function checkTracing(
  check: Check,
  config: Config,
  { state, nowMs }: { state: TracingState | undefined; nowMs: number },
): Finding {
  if (!config.has("tracing.url")) return check.ok("no traces are sent");
  if (!state) return check.ok("no traces have been sent since the start");
  const { sent, failingSinceMs, error, lastDroppedMs } = state;
  if (failingSinceMs !== null)
    return check.warning(
      `the collector has accepted no traces since ${toRfc3339(failingSinceMs)}: ${error}`,
      "check the collector and tracing.*; only traces are lost",
    );
  const dropped = droppedIn(state);
  if (lastDroppedMs !== null && nowMs - lastDroppedMs < RECENT_DROPS_MS)
    return check.warning(
      `${dropped} spans were dropped since the start, the last at ${toRfc3339(lastDroppedMs)}`,
      "lower tracing.sample_ratio, or increase the capacity of the collector; quartermaster_trace_spans_dropped_total has the causes",
    );
  return check.ok(`the collector accepted ${sent} spans since the start`);
}

/** @returns the number of spans dropped since the start, for all causes */
export const droppedIn = ({ dropped }: Pick<TracingState, "dropped">): number =>
  DROP_CAUSES.reduce((sum, cause) => sum + dropped[cause], 0);
