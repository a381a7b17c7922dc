// Stores the numbers of sent and dropped spans of a running process in a small file in run/ of the data directory, for
// `doctor` and `status`.
import { rmSync } from "node:fs";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { SECOND_MS } from "../../platform/clock.ts";
import type { DataDirectory } from "../../platform/data-directory/data-directory.ts";
import { readOwnFile, writeRunFile } from "../../platform/files/data-files.ts";
import type { QueueFigures } from "../../platform/tracing/span-queue.ts";

const Time = Type.Union([Type.Null(), Type.Integer({ minimum: 0 })]);
const Count = Type.Integer({ minimum: 0 });
const TracingStateSchema = Type.Object({
  waiting: Count,
  sent: Count,
  dropped: Type.Object({ queue_full: Count, refused: Count, stopped: Count }),
  lastDroppedMs: Time,
  failingSinceMs: Time,
  error: Type.Union([Type.Null(), Type.String()]),
});
export type TracingState = Static<typeof TracingStateSchema>;

const WRITE_EVERY_MS = 10 * SECOND_MS;

/** @returns a function that writes the file at most every ten seconds, and immediately when attempts start or stop failing */
export function keepTracingState(file: string, nowMs: () => number): (figures: QueueFigures) => void {
  let writtenMs = Number.NEGATIVE_INFINITY;
  let wasFailing = false;
  return (figures) => {
    const isFailing = figures.error !== null;
    if (isFailing === wasFailing && nowMs() - writtenMs < WRITE_EVERY_MS) return;
    [writtenMs, wasFailing] = [nowMs(), isFailing];
    writeRunFile(file, `${JSON.stringify(figures)}\n`);
  };
}

/** Removes the file of this process, or of an earlier one that was killed. */
export const forgetTracingState = (file: string): void => rmSync(file, { force: true });

/** @returns the totals of all running processes; undefined if none has sent anything yet */
export function findTracingState({
  tracing,
  forwarderTracing,
}: Pick<DataDirectory, "tracing" | "forwarderTracing">): TracingState | undefined {
  const states = [tracing, forwarderTracing].flatMap(readState);
  return states.length === 0 ? undefined : states.reduce(sumOf);
}

function readState(file: string): TracingState[] {
  try {
    const found: unknown = JSON.parse(readOwnFile(file).text);
    return Value.Check(TracingStateSchema, found) ? [found] : [];
  } catch {
    return []; // absent, or written by another version
  }
}

const sumOf = (one: TracingState, other: TracingState): TracingState => ({
  waiting: one.waiting + other.waiting,
  sent: one.sent + other.sent,
  dropped: {
    queue_full: one.dropped.queue_full + other.dropped.queue_full,
    refused: one.dropped.refused + other.dropped.refused,
    stopped: one.dropped.stopped + other.dropped.stopped,
  },
  lastDroppedMs: latest(one.lastDroppedMs, other.lastDroppedMs),
  failingSinceMs: latest(one.failingSinceMs, other.failingSinceMs),
  error: one.error ?? other.error,
});

const latest = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.max(one, other);
