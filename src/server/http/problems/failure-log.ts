// Logs requests that failed on our side, one line with request id and cause each. In an overload every request fails
// the same way, so beyond a rate limit failures are only counted, by route and reason. Anybody can forge a failure that
// only a browser reports, so it has its own event and level.
import { isReportedByBrowser } from "../../../domain/sso/service.ts";
import { type Clock, SECOND_MS } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/observe/log.ts";
import { createRates, type RateLimit } from "../../../platform/rate-limit.ts";

/** Log lines per reason and route. */
export const FAILURE_LINES: RateLimit = { perSecond: 1, burst: 50 };
/** Counts are logged this long after the first suppressed line. */
export const FAILURE_COUNT_MS = 10 * SECOND_MS;

/** Key for counting failures. Both members come from the code, so the number of keys is small. */
interface Kind {
  route: string | undefined;
  /** undefined for an unexpected error */
  reason: string | undefined;
}

const isReport = ({ reason }: Kind): boolean => reason !== undefined && isReportedByBrowser(reason);

export interface FailureLog {
  /** @param line content of the log line, used unless it is suppressed */
  note(kind: Kind, line: Readonly<Record<string, unknown>>): void;
  /** Logs the pending counts; call it before the service stops. */
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
    for (const counted of counts.values())
      if (isReport(counted)) log.warning("http.reports_counted", { ...counted });
      else log.error("http.failures_counted", { ...counted });
    counts.clear();
  };
  return {
    flush,
    note(kind, line) {
      if (timer && clock.nowMs() >= dueAtMs) flush();
      const key = `${kind.route} ${kind.reason}`;
      if (lines.take(key) === 0) {
        if (isReport(kind)) log.warning("http.failure_reported", line);
        else log.error("http.failed", line);
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
