// Admits identity providers: extracts the token, has it verified, and applies its rate limit. src/domain/scim defines and
// compares tokens.
import { countedAddress } from "../../domain/access/budgets/counted-address.ts";
import { ScimError } from "../../domain/scim/errors.ts";
import type { ScimCaller } from "../../domain/scim/model.ts";
import type { Scim } from "../../domain/scim/service.ts";
import type { Clock } from "../../platform/clock.ts";
import { DomainError, invariant, type SpentBudget } from "../../platform/errors.ts";
import { createRates, type RateLimit } from "../../platform/rate-limit.ts";
import { bearerTokenIn } from "../auth/bearer-token.ts";
import { type Exchange, exchangeOf, type ScimExchange } from "../http/exchange.ts";

/** Longer headers cannot contain one of our tokens and are not parsed. */
export const AUTHORIZATION_LENGTH_MAX = 1024;
/** Limit on failed authentications per network address. */
export const FAILURE_LIMIT: RateLimit = { perSecond: 10, burst: 100 };

export interface Admission {
  /**
   * Stores the caller in the exchange.
   * @throws ScimError 401; DomainError `scim.too_many`
   */
  admit(request: Request): void;
  /** Charges the caller's budget for the cost of a request beyond the first unit. */
  charge(request: Request, count: number): void;
}

/** @returns the admission check of the SCIM routes */
export function createAdmission(
  { tokens, settings }: Pick<Scim, "tokens" | "settings">,
  clock: Clock,
): Admission {
  const requestLimit = { perSecond: settings.requestsPerSecond, burst: settings.requestsBurst };
  const requests = createRates(clock, requestLimit);
  const failures = createRates(clock, FAILURE_LIMIT);

  /** A valid token is admitted regardless of failures: other callers behind the same proxy must not stop provisioning. */
  const authenticate = (request: Request, exchange: Exchange) => {
    try {
      return tokens.check.authenticate(presentedToken(request));
    } catch (error) {
      if (!(error instanceof ScimError)) throw error;
      const waitSeconds = failures.take(countedAddress(exchange.address));
      if (waitSeconds > 0)
        throw tooMany("failed authentications", waitSeconds, budgetOf("scim.address", FAILURE_LIMIT));
      throw error;
    }
  };

  return {
    admit(request) {
      const exchange = exchangeOf(request);
      const scim: ScimExchange = {
        caller: undefined,
        refusal: undefined,
        resourceId: undefined,
        ignored: 0,
      };
      exchange.scim = scim;
      scim.caller = authenticate(request, exchange);
      const waitSeconds = requests.take(scim.caller.tokenId);
      if (waitSeconds > 0) throw tooMany("requests", waitSeconds, budgetOf("scim.token", requestLimit));
    },
    charge(request, count) {
      const caller = exchangeOf(request).scim?.caller;
      if (caller) requests.charge(caller.tokenId, count);
    },
  };
}

/** @returns the caller of a guarded route */
export function providerOf(request: Request): ScimCaller {
  const caller = exchangeOf(request).scim?.caller;
  invariant(caller, "the route has a guard that needs an identity provider");
  return caller;
}

/** @returns the caller for the audit log, with request id and network address, which only changes need */
export function changingProviderOf(request: Request): ScimCaller {
  const { requestId, address } = exchangeOf(request);
  const { actor, profile } = providerOf(request);
  return { profile, actor: { ...actor, requestId, ...(address !== null && { address }) } };
}

/** @returns the bearer token; undefined if the header is missing, malformed or too long */
function presentedToken(request: Request): string | undefined {
  const header = request.headers.get("authorization");
  if (header === null || header.length > AUTHORIZATION_LENGTH_MAX) return undefined;
  return bearerTokenIn(request)?.trim();
}

function tooMany(what: string, retryAfterSeconds: number, budget: SpentBudget): DomainError {
  const text = `too many ${what}; wait ${retryAfterSeconds} s and try again`;
  return new DomainError("too_many", "scim.too_many", text, { retryAfterSeconds, budget });
}

/** The window is the time in which an empty bucket fills up. */
const budgetOf = (name: string, { perSecond, burst }: RateLimit): SpentBudget => ({
  name,
  limit: burst,
  windowSeconds: Math.ceil(burst / perSecond),
});
