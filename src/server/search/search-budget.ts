// The rate limit of searches and suggestions. It is higher than the limits of administration, because each pause in
// typing sends a request.
import type { Clock } from "../../platform/clock.ts";
import type { RateLimit } from "../../platform/rate-limit.ts";
import { createCallerBudget, type SpendRequest } from "../http/caller-budget.ts";

/** Limit on searches of one user, more than anybody types. */
export const SEARCH_LIMIT: RateLimit = { perSecond: 20, burst: 200 };

/** @returns a function that throws DomainError `search.too_many` */
export const createSearchBudget = (clock: Clock): SpendRequest =>
  createCallerBudget(clock, {
    name: "search.user",
    limit: SEARCH_LIMIT,
    reason: "search.too_many",
    nouns: "searches",
  });
