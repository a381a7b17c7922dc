// Rate limits of one user for expensive read-only requests. They are kept in memory.
import type { Principal } from "../../domain/access/service.ts";
import type { Clock } from "../../platform/clock.ts";
import { DomainError } from "../../platform/errors.ts";
import { createRates, type RateLimit } from "../../platform/rate-limit.ts";

/**
 * Counts one request of the caller.
 * @throws DomainError of kind `too_many`
 */
export type SpendRequest = (caller: Pick<Principal, "subject">) => void;

interface CallerBudget {
  /** of the budget in metrics */
  name: string;
  limit: RateLimit;
  /** of the refusal */
  reason: string;
  /** the counted requests, for the error text */
  nouns: string;
}

/** @returns the budget of this process */
export function createCallerBudget(
  clock: Clock,
  { name, limit: { perSecond, burst }, reason, nouns }: CallerBudget,
): SpendRequest {
  const rates = createRates(clock, { perSecond, burst });
  const budget = { name, limit: burst, windowSeconds: Math.ceil(burst / perSecond) };
  return ({ subject }) => {
    const retryAfterSeconds = rates.take(subject);
    if (retryAfterSeconds === 0) return;
    const text = `too many ${nouns}; wait ${retryAfterSeconds} s and try again`;
    throw new DomainError("too_many", reason, text, { retryAfterSeconds, budget });
  };
}
