// The rate limit of searches and of suggestions during typing. It is higher than the limits of administration, because each pause
// in typing sends a request.
import type { Principal } from "../../domain/access/service.ts";
import type { Clock } from "../../platform/clock.ts";
import { DomainError } from "../../platform/errors.ts";
import { createRates, type RateLimit } from "../../platform/rate-limit.ts";

/** Searches of one user: more than anybody types. */
export const SEARCH_LIMIT: RateLimit = { perSecond: 20, burst: 200 };

/**
 * Counts one search of the caller.
 * @throws DomainError `search.too_many`
 */
export type SpendSearch = (caller: Pick<Principal, "subject">) => void;

/** @returns the budget of this process */
export function createSearchBudget(clock: Clock): SpendSearch {
  const rates = createRates(clock, SEARCH_LIMIT);
  const { perSecond, burst: limit } = SEARCH_LIMIT;
  const budget = { name: "search.user", limit, windowSeconds: Math.ceil(limit / perSecond) };
  return ({ subject }) => {
    const retryAfterSeconds = rates.take(subject);
    if (retryAfterSeconds === 0) return;
    const text = `too many searches; wait ${retryAfterSeconds} s and try again`;
    throw new DomainError("too_many", "search.too_many", text, { retryAfterSeconds, budget });
  };
}
