// Identifies the browser behind a page request: who is signed in, and whether one of our pages sent a form. Pages look up the
// caller themselves instead of using the guard, because they redirect signed-out visitors to the sign-in page.
import { SecondFactorNeeded } from "../../domain/access/second-factor/errors.ts";
import type { Principal } from "../../domain/access/service.ts";
import type { AttemptRequest } from "../../domain/access/sign-in/factor-sign-in.ts";
import { isRecovery } from "../../domain/access/sign-in/sign-in-messages.ts";
import { equalInConstantTime } from "../../platform/crypto/constant-time.ts";
import { DomainError, invariant } from "../../platform/errors.ts";
import { randomToken, sha256Hex } from "../../platform/ids.ts";
import type { Secret } from "../../platform/secret.ts";
import { exchangeOf, noteRefusal } from "../http/exchange.ts";
import type { Branding } from "../pages/layout.tsx";
import type { RouteContext } from "../router.ts";
import {
  attemptTokenOf,
  deviceCookie,
  deviceCookieOf,
  formCookie,
  formSecretOf,
  sessionCookie,
  sessionTokenOf,
} from "./cookies.ts";

export interface Visitor {
  principal: Principal;
  sessionId: string;
  /** secret in the session cookie */
  sessionToken: string;
  /** CSRF token for this visitor's forms */
  csrf: string;
  /** identifies the visitor in the forms of a page, even after the session has ended */
  formOwner: string;
  /** name of the provider through which the visitor signed in; undefined for a password */
  through: string | undefined;
}

/** A sign-in with a correct password, for the domain. */
export interface BrowserAttempt extends AttemptRequest {
  /** CSRF token for its forms */
  csrf: string;
}

/** @returns the name, logo and icon of the organization */
export function brandingOf({
  identity,
  branding,
}: Pick<RouteContext["domain"], "identity" | "branding">): Branding {
  const { name: organizationName = "Quartermaster" } = identity.organization() ?? {};
  return { organizationName, ...branding.current() };
}

export type Browser = ReturnType<typeof createBrowser>;

/** @returns functions that pages and session routes use to identify the browser */
export function createBrowser({ domain, baseUrl, ids }: RouteContext) {
  const { authenticator, sessions, formOwners } = domain.access;

  /** @throws DomainError of kind `unauthenticated` if the session has ended */
  const visitorOf = (request: Request, sessionToken: string): Visitor => {
    const principal = authenticator.session(sessionToken);
    exchangeOf(request).principal = principal;
    const { sessionId, userId } = principal;
    invariant(sessionId, "a session cookie belongs to a login session");
    const isFromProvider = sessions.find(sessionToken)?.method === "oidc";
    const through = isFromProvider ? domain.sso.settings()?.providerName : undefined;
    const csrf = maskedToken(formTokenOf(sessionToken));
    return { principal, sessionId, sessionToken, csrf, formOwner: formOwners.mark(userId), through };
  };

  return {
    /** @returns the organization's branding for pages */
    branding: (): Branding => brandingOf(domain),

    /** @returns the signed-in visitor; also works as input of `principalOf` and `actorOf` */
    visitor(request: Request): Visitor | undefined {
      const sessionToken = sessionTokenOf(request, baseUrl());
      if (sessionToken === undefined) return undefined;
      try {
        return visitorOf(request, sessionToken);
      } catch (error) {
        if (error instanceof DomainError && error.kind === "unauthenticated") return undefined;
        throw error;
      }
    },

    /** @returns the visitor whose session was just opened */
    visitorOf,

    /** @returns whether the form with this mark was made for the visitor, in this session or an earlier one */
    isOwnForm: (mark: string | undefined, { principal }: Visitor): boolean =>
      formOwners.isOf(mark, principal.userId),

    ...createSignIn({ domain, baseUrl }),

    ...createAttempts(baseUrl),

    ...createForms(baseUrl, ids),
  };
}

/** @returns the functions that sign a browser in */
function createSignIn({ domain, baseUrl }: Pick<RouteContext, "domain" | "baseUrl">) {
  const { sessions, settings } = domain.access;

  /** @returns the Set-Cookie values for the session cookie and the device cookie */
  const cookiesOf = (given: { sessionToken: string; deviceCookie: string }) => ({
    cookie: sessionCookie(given.sessionToken, {
      baseUrl: baseUrl(),
      maxAgeSeconds: settings.browserSessionTtlSeconds,
    }),
    deviceCookie: deviceCookie(given.deviceCookie, baseUrl()),
  });

  /** Logs a warning about a password sign-in where people should sign in at the provider. */
  const noteRecovery = (request: Request): void => {
    if (isRecovery(settings)) exchangeOf(request).warning = "sign_in.recovery";
  };

  return {
    cookiesOf,

    /**
     * Signs the browser in.
     * @returns the session with its user, and the Set-Cookie values for the session cookie and the device cookie. The JSON
     *   sign-in omits the device cookie because its contract has one cookie.
     * @throws DomainError, SecondFactorNeeded as LoginSessions.signIn
     */
    async signIn(
      request: Request,
      credential: { email: string; password: Secret; code?: Secret | undefined },
    ) {
      const signingIn = sessions.signIn({ ...credential, ...signingInBrowser(request, baseUrl()) });
      const opened = await signingIn.catch((error: unknown) => {
        const account = sessions.nameForLog(credential.email);
        if (error instanceof SecondFactorNeeded) noteRecovery(request);
        else if (error instanceof DomainError) noteRefusal(request, { reason: error.reason, account });
        throw error;
      });
      noteRecovery(request);
      return { ...opened, ...cookiesOf({ ...opened, sessionToken: opened.session.token }) };
    },
  };
}

/** @returns the functions for the CSRF tokens of forms */
const createForms = (baseUrl: RouteContext["baseUrl"], ids: RouteContext["ids"]) => ({
  /** @returns a CSRF token for a form of a signed-out visitor, and the cookie that the form post must carry */
  anonymousForm(request: Request): { csrf: string; cookies: string[] } {
    const known = formSecretOf(request, baseUrl());
    const secret = known ?? randomToken(ids);
    const cookies = known === undefined ? [formCookie(secret, baseUrl())] : [];
    return { csrf: maskedToken(formTokenOf(secret)), cookies };
  },

  /** @throws DomainError `access.foreign_origin` for a form on a page of another site */
  checkOrigin: (request: Request): void => refuseForeignForm(request, baseUrl()),

  /** @throws DomainError `access.foreign_origin`, `form.stale` unless one of our pages made the form for this visitor */
  checkForm(request: Request, csrf: string | undefined, visitor: Visitor): void {
    refuseForeignForm(request, baseUrl());
    checkToken(csrf, formTokenOf(visitor.sessionToken));
  },

  /** Checks a form made by anonymousForm. @throws as checkForm */
  checkAnonymousForm(request: Request, csrf: string | undefined): void {
    refuseForeignForm(request, baseUrl());
    const secret = formSecretOf(request, baseUrl());
    if (!secret) throw formStale();
    checkToken(csrf, formTokenOf(secret));
  },
});

/** @returns the functions for a browser between the password and the second factor */
const createAttempts = (baseUrl: RouteContext["baseUrl"]) => ({
  /** @returns the sign-in of this browser that waits for the second factor; it may have ended */
  attempt(request: Request): BrowserAttempt | undefined {
    const token = attemptTokenOf(request, baseUrl());
    return token && attemptOf(request, { token, baseUrl: baseUrl() });
  },

  /** @returns the sign-in that was just begun */
  begun: (request: Request, token: Secret): BrowserAttempt =>
    attemptOf(request, { token, baseUrl: baseUrl() }),

  /** Checks a form of a sign-in that waits for the second factor. @throws as checkForm */
  checkAttemptForm(request: Request, csrf: string | undefined, attempt: BrowserAttempt): void {
    refuseForeignForm(request, baseUrl());
    checkToken(csrf, formTokenOf(attempt.token.reveal()));
  },
});

const attemptOf = (
  request: Request,
  { token, baseUrl }: { token: Secret; baseUrl: string },
): BrowserAttempt => ({
  token,
  csrf: maskedToken(formTokenOf(token.reveal())),
  ...signingInBrowser(request, baseUrl),
});

/** @returns the request, address and browser of a sign-in, and the cookies of earlier ones */
function signingInBrowser(request: Request, baseUrl: string) {
  const { requestId, address } = exchangeOf(request);
  return {
    requestId,
    address,
    userAgent: request.headers.get("user-agent"),
    deviceCookie: deviceCookieOf(request, baseUrl),
    sessionToken: sessionTokenOf(request, baseUrl),
  };
}

/** The page contains the form token, so the token must not reveal the session secret. */
const formTokenOf = (secret: string): string => sha256Hex(`csrf\0${secret}`);

/**
 * An attacker can guess repeated text in a compressed page from its length (BREACH), so every page masks the token with
 * a new mask.
 * @param token hexadecimal
 * @returns the mask and the masked token, hexadecimal
 */
function maskedToken(token: string): string {
  const plain = Buffer.from(token, "hex");
  const mask = crypto.getRandomValues(Buffer.alloc(plain.length));
  return Buffer.concat([mask, xor(plain, mask)]).toString("hex");
}

/** @throws DomainError `form.stale` */
function checkToken(sent: string | undefined, token: string): void {
  const bytes = Buffer.from(sent ?? "", "hex");
  const half = bytes.length / 2;
  const plain = xor(bytes.subarray(half), bytes.subarray(0, half)).toString("hex");
  if (!equalInConstantTime(plain, token)) throw formStale();
}

const xor = (one: Buffer, other: Buffer): Buffer =>
  Buffer.from(one.map((byte, at) => byte ^ (other[at] ?? 0)));

/**
 * Our pages set `Referrer-Policy: no-referrer`, so browsers send `Origin: null` even for our own forms; in that case
 * only the CSRF token decides. A named origin or `Sec-Fetch-Site: cross-site` decides by itself.
 */
function refuseForeignForm(request: Request, baseUrl: string): void {
  const origin = request.headers.get("origin");
  const site = request.headers.get("sec-fetch-site");
  const isOurs = origin === null || origin === "null" || origin === baseUrl;
  if (isOurs && site !== "cross-site" && site !== "same-site") return;
  throw new DomainError("forbidden", "access.foreign_origin", "a page of another site sent this form");
}

const formStale = () =>
  new DomainError("forbidden", "form.stale", "this form is out of date", {
    hint: "go back, reload the page and send the form again; the browser must accept cookies",
  });
