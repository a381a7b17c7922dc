// A database that records each write as a span of the request that waits for it. Without an active span, writes are passed on
// unchanged.
import type { Db } from "../database/database.ts";
import type { Steps } from "../steps.ts";
import type { Span, Tracer } from "./tracer.ts";

type WriteKind = "once" | "steps" | "grouped" | "background";

/**
 * @param tracer undefined while tracing is off
 * @returns the same database; every write of a traced request has a span with its waiting time
 */
export function tracedDatabase(db: Db, tracer: Tracer | undefined): Db {
  if (!tracer) return db;
  /** @param start begins the write; it gets a function to call when its turn comes */
  const traced = <T>(parent: Span, kind: WriteKind, start: (turn: () => void) => Promise<T>): Promise<T> => {
    const span = parent.child("database write", "internal");
    const startMs = performance.now();
    let waitedMs: number | undefined;
    const turn = () => {
      waitedMs ??= performance.now() - startMs;
    };
    const end = (failure?: string) => {
      span.set({ "db.system.name": "sqlite", "quartermaster.write.kind": kind });
      if (waitedMs !== undefined) span.set({ "quartermaster.write.waited_ms": rounded(waitedMs) });
      span.end(failure);
    };
    return start(turn).then(
      (value) => {
        end();
        return value;
      },
      (error: unknown) => {
        end(reasonOf(error));
        throw error;
      },
    );
  };
  return {
    get read() {
      return db.read;
    },
    readConsistently: (ask) => db.readConsistently(ask),
    hold: () => db.hold(),
    write(fn, topic) {
      const span = tracer.active();
      if (!span) return db.write(fn, topic);
      return traced(span, "once", (turn) => db.write((tx) => after(turn, () => fn(tx)), topic));
    },
    writeGrouped(fn, topic) {
      const span = tracer.active();
      if (!span) return db.writeGrouped(fn, topic);
      return traced(span, "grouped", (turn) => db.writeGrouped((tx) => after(turn, () => fn(tx)), topic));
    },
    writeInBackground(fn, topic) {
      const span = tracer.active();
      if (!span) return db.writeInBackground(fn, topic);
      return traced(span, "background", (turn) =>
        db.writeInBackground((tx) => after(turn, () => fn(tx)), topic),
      );
    },
    writeInSteps(fn, topic) {
      const span = tracer.active();
      if (!span) return db.writeInSteps(fn, topic);
      return traced(span, "steps", (turn) => db.writeInSteps((tx) => stepsAfter(turn, () => fn(tx)), topic));
    },
    revision: (topic) => db.revision(topic),
    close: () => db.close(),
  };
}

function after<T>(turn: () => void, work: () => T): T {
  turn();
  return work();
}

function* stepsAfter<T>(turn: () => void, work: () => Steps<T>): Steps<T> {
  turn();
  return yield* work();
}

const rounded = (ms: number): number => Math.round(ms * 1_000) / 1_000;

/** @returns a name that is the same for each failure of a kind, never a message */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "unknown";
  return "reason" in error && typeof error.reason === "string" ? error.reason : error.name;
};
