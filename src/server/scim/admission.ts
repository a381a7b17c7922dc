// Lets identity providers in: finds the token in a request, has it checked, and keeps each token within its budget.
// What a token is and how it is compared is src/domain/scim's.
import { countedAddress } from "../../domain/access/budgets/counted-address.ts";
import { ScimError } from "../../domain/scim/errors.ts";
import type { Scim } from "../../domain/scim/service.ts";
import type { Clock } from "../../platform/clock.ts";
import { DomainError, type SpentBudget } from "../../platform/errors.ts";
import { type Exchange, exchangeOf, type ScimExchange } from "../http/exchange.ts";
import { createRates, type RateLimit } from "../http/rate-limit.ts";

/** Longer headers hold no token of ours and are not looked into (scim.md SCIM-5). */
export const AUTHORIZATION_LENGTH_MAX = 1024;
/** Failed authentications of one network address. */
export const FAILURE_LIMIT: RateLimit = { perSecond: 10, burst: 100 };

export interface Admission {
  /** Names the caller in the exchange. @throws ScimError 401; DomainError `scim.too_many` */
  admit(request: Request): void;
  /** Takes from a caller's budget what one request cost beyond itself (scim.md SCIM-8). */
  charge(request: Request, count: number): void;
}

/** @returns the door of the SCIM routes */
export function createAdmission(
  { tokens, settings }: Pick<Scim, "tokens" | "settings">,
  clock: Clock,
): Admission {
  const requestLimit = { perSecond: settings.requestsPerSecond, burst: settings.requestsBurst };
  const requests = createRates(clock, requestLimit);
  const failures = createRates(clock, FAILURE_LIMIT);

  /** A good token is let in however often others failed: strangers behind one proxy must not stop provisioning. */
  const authenticate = (request: Request, exchange: Exchange) => {
    try {
      return tokens.authenticate(presentedToken(request));
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
      const scim: ScimExchange = { caller: undefined, refusal: undefined, resourceId: undefined, ignored: 0 };
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

/** @returns what follows the scheme; undefined for a missing, malformed or over-long header */
function presentedToken(request: Request): string | undefined {
  const header = request.headers.get("authorization");
  if (header === null || header.length > AUTHORIZATION_LENGTH_MAX) return undefined;
  const [scheme] = /^bearer +/i.exec(header) ?? [];
  return scheme && header.slice(scheme.length).trim();
}

function tooMany(what: string, retryAfterSeconds: number, budget: SpentBudget): DomainError {
  const text = `too many ${what}; wait ${retryAfterSeconds} s and try again`;
  return new DomainError("too_many", "scim.too_many", text, { retryAfterSeconds, budget });
}

/** A window is as long as an empty bucket takes to be full. */
const budgetOf = (name: string, { perSecond, burst }: RateLimit): SpentBudget => ({
  name,
  limit: burst,
  windowSeconds: Math.ceil(burst / perSecond),
});
