// Checks that the collector takes the traces. Traces are all that is lost when it does not, so nothing here is worse than a warning.
import { DAY_MS, toRfc3339 } from "../../platform/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import { DROP_CAUSES } from "../../platform/tracing/span-queue.ts";
import type { Check, Finding } from "../doctor/finding.ts";
import type { TracingState } from "./tracing-state.ts";

/** Drops that are older are history. */
export const DROPS_LATELY_MS = DAY_MS;

/** @param state of the processes that run; undefined before the first attempt */
export function checkTracing(
  check: Check,
  config: Config,
  { state, nowMs }: { state: TracingState | undefined; nowMs: number },
): Finding {
  if (!config.has("tracing.url")) return check.ok("no traces are sent");
  if (!state) return check.ok("no traces were sent since the start");
  const { sent, failingSinceMs, error, lastDroppedMs } = state;
  if (failingSinceMs !== null)
    return check.warning(
      `the collector has taken no traces since ${toRfc3339(failingSinceMs)}: ${error}`,
      "check the collector and tracing.*; nothing but traces is lost",
    );
  const dropped = droppedIn(state);
  if (lastDroppedMs !== null && nowMs - lastDroppedMs < DROPS_LATELY_MS)
    return check.warning(
      `${dropped} spans were dropped since the start, the last at ${toRfc3339(lastDroppedMs)}`,
      "lower tracing.sample_ratio, or give the collector more room; quartermaster_trace_spans_dropped_total has the causes",
    );
  return check.ok(`the collector took ${sent} spans since the start`);
}

/** @returns the spans that were dropped since the start, whatever the cause */
export const droppedIn = ({ dropped }: Pick<TracingState, "dropped">): number =>
  DROP_CAUSES.reduce((sum, cause) => sum + dropped[cause], 0);
