// Logs refused callers, one line for each 401, 403 and 429 answer. An operator can look up the request id that a user
// quotes, and fail2ban can find addresses that guess. Beyond a rate limit refusals are only counted, by address and
// reason. Names and order of the members are stable because src/app/monitoring/fail2ban.ts parses them.
import { countedAddress } from "../../../domain/access/budgets/counted-address.ts";
import { operatorRemedy } from "../../../domain/sso/service.ts";
import { type Clock, SECOND_MS } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/observe/log.ts";
import { createRates, type RateLimit } from "../../../platform/rate-limit.ts";

/** Log lines per address (per network for IPv6), and for all addresses together. */
export const REFUSAL_LINES_PER_ADDRESS: RateLimit = { perSecond: 0.1, burst: 20 };
export const REFUSAL_LINES: RateLimit = { perSecond: 2, burst: 200 };
/** Counts are logged this long after the first suppressed line. */
export const REFUSAL_COUNT_MS = 10 * SECOND_MS;
/** Limit on separate counters; further addresses and reasons share one. */
export const REFUSAL_COUNTS_MAX = 100;

/** The refused request as logged. */
export interface Refused {
  address: string | null;
  status: number;
  reason: string | undefined;
  method: string;
  route: string;
  requestId: string;
  traceId: string | undefined;
  userId: string | undefined;
  /** keyed hash of a sign-in name that belongs to no user */
  account: string | undefined;
}

export interface RefusalLog {
  /** @returns whether the refusal was logged on its own line */
  note(refused: Refused): boolean;
  /** Logs the pending counts; call it before the service stops. */
  flush(): void;
}

type Counted = Pick<Refused, "status" | "reason"> & { address: string | null; count: number };

const ALL = "";

export function createRefusalLog({ log, clock }: { log: Log; clock: Clock }): RefusalLog {
  const ofAddress = createRates(clock, REFUSAL_LINES_PER_ADDRESS);
  const ofAll = createRates(clock, REFUSAL_LINES);
  const counts = new Map<string, Counted>();
  let dueAtMs = 0;
  let timer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    for (const { address, ...counted } of counts.values())
      log.info("http.refusals_counted", { address: address ?? undefined, ...counted });
    counts.clear();
  };
  const count = ({ address, status, reason }: Refused): void => {
    const who = address === null ? null : countedAddress(address);
    const key = [who, status, reason].join(" ");
    const isNew = !counts.has(key);
    const place = isNew && counts.size >= REFUSAL_COUNTS_MAX ? `${status}` : key;
    const counted = counts.get(place) ?? { address: place === key ? who : null, status, reason, count: 0 };
    counts.set(place, { ...counted, reason: place === key ? reason : undefined, count: counted.count + 1 });
    if (timer) return;
    dueAtMs = clock.nowMs() + REFUSAL_COUNT_MS;
    timer = setTimeout(flush, REFUSAL_COUNT_MS);
    timer.unref();
  };
  return {
    flush,
    note(refused) {
      if (timer && clock.nowMs() >= dueAtMs) flush();
      const isWithinRate = ofAddress.take(countedAddress(refused.address)) === 0 && ofAll.take(ALL) === 0;
      if (isWithinRate) log.info("http.refused", lineOf(refused));
      else count(refused);
      return isWithinRate;
    },
  };
}

/** The address comes before any member whose value a caller controls. */
const lineOf = (refused: Refused) => ({
  address: refused.address ?? undefined,
  status: refused.status,
  reason: refused.reason,
  method: refused.method,
  route: refused.route,
  request_id: refused.requestId,
  trace_id: refused.traceId,
  user_id: refused.userId,
  account: refused.account,
  next: refused.reason === undefined ? undefined : operatorRemedy(refused.reason),
});
