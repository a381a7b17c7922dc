// The part of `status` about traces.
import { droppedIn } from "../../../src/app/tracing/check.ts";
import { type Fact, timeOf } from "../../output/details.ts";
import type { Machine } from "./read.ts";

/** @returns nothing while tracing is off */
export function tracingFacts(tracing: Machine["tracing"]): Fact[] {
  if (!tracing) return [];
  const { state } = tracing;
  if (!state) return [["traces", "none were sent since the start"]];
  const dropped = droppedIn(state);
  return [
    ["traces", `${state.sent} spans sent since the start${dropped > 0 ? `, ${dropped} dropped` : ""}`],
    ...(state.error === null ? [] : [["", state.error] satisfies Fact]),
  ];
}

/** @returns the JSON document; null while tracing is off */
export const tracingDocument = (tracing: Machine["tracing"]) =>
  tracing
    ? {
        spans_sent: tracing.state?.sent ?? 0,
        spans_dropped: tracing.state?.dropped ?? null,
        last_dropped_at: timeOf(tracing.state?.lastDroppedMs ?? null),
        failing_since: timeOf(tracing.state?.failingSinceMs ?? null),
        error: tracing.state?.error ?? null,
      }
    : null;
