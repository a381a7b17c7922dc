// The log of requests that failed on our side: one line with the request id and the cause for each. Strangers can make the
// service busy, and then each of their requests fails so; in such a flood the rest is counted, by route and reason.
import { type Clock, SECOND_MS } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/observe/log.ts";
import { createRates, type RateLimit } from "../rate-limit.ts";

/** Lines about one reason on one route. */
export const FAILURE_LINES: RateLimit = { perSecond: 1, burst: 50 };
/** Counts are written so long after the first line was left out. */
export const FAILURE_COUNT_MS = 10 * SECOND_MS;

/** What failures are counted by. Both come from the code, so there are not many. */
interface Kind {
  route: string | undefined;
  /** undefined for an error that nobody expected */
  reason: string | undefined;
}

export interface FailureLog {
  /** @param line what the line says, when there is one */
  note(kind: Kind, line: Readonly<Record<string, unknown>>): void;
  /** Writes the counts that wait; a service that stops has no later turn. */
  flush(): void;
}

export function createFailureLog({ log, clock }: { log: Log; clock: Clock }): FailureLog {
  const lines = createRates(clock, FAILURE_LINES);
  const counts = new Map<string, Kind & { count: number }>();
  let dueAtMs = 0;
  let timer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    for (const counted of counts.values()) log.error("http.failures_counted", { ...counted });
    counts.clear();
  };
  return {
    flush,
    note(kind, line) {
      if (timer && clock.nowMs() >= dueAtMs) flush();
      const key = `${kind.route} ${kind.reason}`;
      if (lines.take(key) === 0) {
        log.error("http.failed", line);
        return;
      }
      counts.set(key, { ...kind, count: (counts.get(key)?.count ?? 0) + 1 });
      if (timer) return;
      dueAtMs = clock.nowMs() + FAILURE_COUNT_MS;
      timer = setTimeout(flush, FAILURE_COUNT_MS);
      timer.unref();
    },
  };
}
