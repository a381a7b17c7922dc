// Sign-in at the identity provider for browsers: builds the redirect to the provider, checks the callback, and signs the person
// in. The sso area talks to the provider and decides; this file handles cookies and addresses.
import { countedAddress } from "../../domain/access/budgets/counted-address.ts";
import type { OpenedSession } from "../../domain/access/service.ts";
import { type Attempt, CALLBACK_PATH, type Person, type SsoSettings } from "../../domain/sso/service.ts";
import { DomainError } from "../../platform/errors.ts";
import { createRates } from "../../platform/rate-limit.ts";
import { exchangeOf } from "../http/exchange.ts";
import { HttpError } from "../http/problems/problem.ts";
import type { RouteContext } from "../router.ts";
import { attemptsCookie, attemptsOf, sessionCookie, sessionTokenOf } from "./cookies.ts";
import { readOwnPath } from "./own-path.ts";

/** Requests of one address to the sign-in link and to the callback, together, in SIGN_INS_WINDOW_SECONDS. */
export const SIGN_INS_PER_ADDRESS = 60;
const SIGN_INS_WINDOW_SECONDS = 900;

/** @returns functions for the pages before and after the sign-in at the provider */
export function createProviderSignIn({ domain, baseUrl, clock }: RouteContext) {
  const { sso, access } = domain;
  const rates = createRates(clock, {
    perSecond: SIGN_INS_PER_ADDRESS / SIGN_INS_WINDOW_SECONDS,
    burst: SIGN_INS_PER_ADDRESS,
  });
  const redirectUriOf = ({ providerId }: SsoSettings): string => `${baseUrl()}${CALLBACK_PATH}/${providerId}`;

  return {
    redirectUriOf,

    /** @throws DomainError `access.too_many_attempts` */
    limit(request: Request): void {
      const seconds = rates.take(countedAddress(exchangeOf(request).address));
      if (seconds > 0) throw tooManySignIns(seconds);
    },

    /** @returns the address at the provider; the response to this request gets the cookie @throws DomainError `sso.*` */
    async begin(request: Request, settings: SsoSettings, { next, ...start }: Beginning): Promise<string> {
      const begun = await sso.provider.begin({ redirectUri: redirectUriOf(settings), ...start });
      const sealed = sso.attempts.add(attemptsOf(request, baseUrl()), begun.attempt, next);
      exchangeOf(request).cookies = [attemptsCookie(sealed, baseUrl())];
      return begun.url;
    },

    /** @returns whether this browser began the sign-in that the callback names and has not finished it */
    isUnderWay: (request: Request): boolean =>
      sso.attempts.has(attemptsOf(request, baseUrl()), new URL(request.url).searchParams.get("state")),

    /**
     * Consumes the attempt that the callback names, even if the sign-in then fails.
     * @throws DomainError `sso.state`
     */
    take(request: Request): TakenAttempt {
      const query = new URL(request.url).searchParams;
      const taken = sso.attempts.take(attemptsOf(request, baseUrl()), query.get("state"));
      const { callbackURL, startedMs, ...attempt } = taken.attempt;
      exchangeOf(request).cookies = [attemptsCookie(taken.rest, baseUrl())];
      return { attempt, startedMs, query, next: readOwnPath(callbackURL) };
    },

    /** @returns the person that the provider signed in @throws DomainError `sso.*` */
    async finish({ attempt, query }: TakenAttempt, settings: SsoSettings): Promise<Person> {
      const claims = await sso.provider.complete({ redirectUri: redirectUriOf(settings), query, attempt });
      return sso.personIn(claims);
    },

    /** @returns the Set-Cookie value that signs the browser in */
    cookieOf: (session: OpenedSession): string =>
      sessionCookie(session.token, {
        baseUrl: baseUrl(),
        maxAgeSeconds: access.settings.browserSessionTtlSeconds,
      }),
  };
}

interface Beginning {
  /** path to continue at */
  next: string | undefined;
  /** address to fill in at the provider */
  loginHint: string | undefined;
  /** the provider must authenticate the person again */
  isForced: boolean;
}

/** @returns the origin of the request of a returning browser */
export function returningBrowser(request: Request, baseUrl: string) {
  const { requestId, address } = exchangeOf(request);
  const userAgent = request.headers.get("user-agent");
  return { requestId, address, userAgent, sessionToken: sessionTokenOf(request, baseUrl) };
}

/** An unfinished sign-in that the browser sent back in its cookie. */
interface TakenAttempt {
  attempt: Attempt;
  /** when the browser left for the provider, in UTC milliseconds */
  startedMs: number;
  query: URLSearchParams;
  /** path to continue at */
  next: string | undefined;
}

/** The last part of the path is not the id of the configured provider. */
export const unknownProvider = () =>
  new HttpError(404, "sso.unknown_provider", "no identity provider is configured under this address");

const tooManySignIns = (retryAfterSeconds: number) =>
  new DomainError("too_many", "access.too_many_attempts", "too many sign-ins from your network address", {
    hint: `try again in ${Math.ceil(retryAfterSeconds / 60)} minutes`,
    retryAfterSeconds,
    budget: {
      name: "sso.address",
      limit: SIGN_INS_PER_ADDRESS,
      windowSeconds: SIGN_INS_WINDOW_SECONDS,
    },
  });
