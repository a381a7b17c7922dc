// The browser behind a page request: who is signed in, and whether a form was sent by a page of ours. Pages find the
// caller themselves instead of leaving it to the guard, because a stranger is led to the sign-in page, not refused.
import type { Principal } from "../../domain/access/service.ts";
import { DomainError, invariant } from "../../platform/errors.ts";
import { randomToken, sha256Hex } from "../../platform/ids.ts";
import type { Secret } from "../../platform/secret.ts";
import { exchangeOf, noteRefusal } from "../http/exchange.ts";
import type { Branding } from "../pages/layout.tsx";
import type { RouteContext } from "../router.ts";
import { equalInConstantTime } from "./constant-time.ts";
import {
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
  /** the secret in the cookie */
  sessionToken: string;
  /** token for the forms of this visitor */
  csrf: string;
}

export type Browser = ReturnType<typeof createBrowser>;

/** @returns what pages and session routes ask about the browser in front of them */
export function createBrowser({ domain, baseUrl, ids }: RouteContext) {
  const { authenticator, sessions, settings } = domain.access;

  /** @returns the Set-Cookie values that give a browser the token of its session, and its device cookie */
  const cookiesOf = (given: { sessionToken: string; deviceCookie: string }) => ({
    cookie: sessionCookie(given.sessionToken, {
      baseUrl: baseUrl(),
      maxAgeSeconds: settings.browserSessionTtlSeconds,
    }),
    deviceCookie: deviceCookie(given.deviceCookie, baseUrl()),
  });

  return {
    /** @returns how pages introduce the organization */
    branding(): Branding {
      const { name: organizationName = "Quartermaster" } = domain.identity.organization() ?? {};
      return { organizationName, logoUrl: domain.branding.current().logoUrl };
    },

    /** @returns who is signed in, also for `principalOf` and `actorOf` */
    visitor(request: Request): Visitor | undefined {
      const sessionToken = sessionTokenOf(request, baseUrl());
      if (sessionToken === undefined) return undefined;
      try {
        const principal = authenticator.session(sessionToken);
        exchangeOf(request).principal = principal;
        const { sessionId } = principal;
        invariant(sessionId, "a cookie stands for a login session");
        return { principal, sessionId, sessionToken, csrf: formTokenOf(sessionToken) };
      } catch (error) {
        if (error instanceof DomainError && error.kind === "unauthenticated") return undefined;
        throw error;
      }
    },

    /**
     * Opens a login session for the browser that asks.
     * @returns the session with its user, and the Set-Cookie values for the browser: the session cookie, and the device
     *   cookie, which the JSON sign-in leaves out because its contract has one cookie
     * @throws DomainError as LoginSessions.signIn
     */
    async signIn(request: Request, credential: { email: string; password: Secret }) {
      const { requestId, address } = exchangeOf(request);
      const userAgent = request.headers.get("user-agent");
      const known = { deviceCookie: deviceCookieOf(request, baseUrl()) };
      const signingIn = sessions.signIn({ ...credential, ...known, requestId, address, userAgent });
      const opened = await signingIn.catch((error: unknown) => {
        const account = sessions.nameForLog(credential.email);
        if (error instanceof DomainError) noteRefusal(request, { reason: error.reason, account });
        throw error;
      });
      return { ...opened, ...cookiesOf({ ...opened, sessionToken: opened.session.token }) };
    },

    cookiesOf,

    /** @returns the token for a form of somebody who is not signed in, and the cookie that must come back with it */
    anonymousForm(request: Request): { csrf: string; cookies: string[] } {
      const known = formSecretOf(request, baseUrl());
      const secret = known ?? randomToken(ids);
      const cookies = known === undefined ? [formCookie(secret, baseUrl())] : [];
      return { csrf: formTokenOf(secret), cookies };
    },

    /** @throws DomainError `access.foreign_origin`, `form.stale` unless a page of ours made the form for this visitor */
    checkForm(request: Request, csrf: string | undefined, visitor: Visitor): void {
      refuseForeignForm(request, baseUrl());
      if (csrf === undefined || !equalInConstantTime(csrf, visitor.csrf)) throw formStale();
    },

    /** The same for a form of anonymousForm. */
    checkAnonymousForm(request: Request, csrf: string | undefined): void {
      refuseForeignForm(request, baseUrl());
      const secret = formSecretOf(request, baseUrl());
      if (!csrf || !secret || !equalInConstantTime(csrf, formTokenOf(secret))) throw formStale();
    },
  };
}

/** The page shows the token, so it must not be the secret itself, nor lead back to it. */
const formTokenOf = (secret: string): string => sha256Hex(`csrf\0${secret}`);

/**
 * Our pages forbid the Referer, and browsers then call even our own origin `null`: that says nothing, and the token
 * decides. An origin that has a name, or the browser's word that the form came from elsewhere, is believed.
 */
function refuseForeignForm(request: Request, baseUrl: string): void {
  const origin = request.headers.get("origin");
  const site = request.headers.get("sec-fetch-site");
  const isOurs = origin === null || origin === "null" || origin === baseUrl;
  if (isOurs && site !== "cross-site" && site !== "same-site") return;
  throw new DomainError("forbidden", "access.foreign_origin", "this form came from another site's page");
}

const formStale = () =>
  new DomainError("forbidden", "form.stale", "this form is out of date", {
    hint: "go back, reload the page and send it again; cookies must be allowed",
  });
