// Our cookies. The contract defines the session cookie's name and attributes. The form cookie binds a form of a signed-out
// visitor to the browser that loaded it. The device cookie marks a browser that has signed in before
// (sign-in/device-cookie.ts). The code cookie holds the typed user code that a browser is about to confirm. The attempt cookie
// stands for a sign-in that waits for the second factor. The provider cookie holds sign-ins under way at the identity provider.

import { ATTEMPT_TTL_MS } from "../../domain/access/second-factor/model.ts";
import { SESSION_COOKIE } from "../../domain/access/wire.ts";
import { PROVIDER_ATTEMPT_TTL_MS } from "../../domain/sso/browser/attempts.ts";
import { DAY_MS, SECOND_MS } from "../../platform/clock.ts";
import { Secret } from "../../platform/secret.ts";

const FORM_COOKIE = "quartermaster_form";
const DEVICE_COOKIE = "quartermaster_device";
const ATTEMPT_COOKIE = "quartermaster_sign_in";
const USER_CODE_COOKIE = "quartermaster_user_code";
/** Browsers cap cookie lifetimes at 400 days (RFC 6265bis section 5.5). */
const DEVICE_COOKIE_MAX_AGE_SECONDS = (400 * DAY_MS) / SECOND_MS;
const PROVIDER_COOKIE = "quartermaster-sso";
const FORM_SECRET = /^[A-Za-z0-9_-]{43}$/;

const isSecure = (baseUrl: string): boolean => baseUrl.startsWith("https:");

/** On https the name has the prefix that makes browsers require Secure. */
export const sessionCookieName = (baseUrl: string): string =>
  isSecure(baseUrl) ? `__Secure-${SESSION_COOKIE}` : SESSION_COOKIE;

const cookieOf = (request: Request, name: string): string | undefined => {
  const header = request.headers.get("cookie");
  return header ? (new Bun.CookieMap(header).get(name) ?? undefined) : undefined;
};

/**
 * Reads only the cookie name that matches `baseUrl`. On https, an attacker who can answer for the host over plain http can
 * set the unprefixed name, so that cookie is ignored.
 * @returns the session token in the request
 */
export const sessionTokenOf = (request: Request, baseUrl: string): string | undefined =>
  cookieOf(request, sessionCookieName(baseUrl));

export interface SessionCookieOptions {
  baseUrl: string;
  maxAgeSeconds: number;
}

/** @returns the Set-Cookie value that signs a browser in */
export function sessionCookie(token: string, options: SessionCookieOptions): string {
  return new Bun.Cookie(sessionCookieName(options.baseUrl), token, {
    httpOnly: true,
    path: "/",
    sameSite: "lax",
    secure: isSecure(options.baseUrl),
    maxAge: options.maxAgeSeconds,
  }).serialize();
}

/** @returns the Set-Cookie value that signs a browser out */
export const expiredSessionCookie = (baseUrl: string): string =>
  sessionCookie("", { baseUrl, maxAgeSeconds: 0 });

/** Sends the session cookie again with its full lifetime, unless the answer already sets it. */
export function renewSessionCookie(
  request: Request,
  response: Response,
  options: SessionCookieOptions,
): void {
  const token = sessionTokenOf(request, options.baseUrl);
  const name = sessionCookieName(options.baseUrl);
  const isSet = response.headers.getSetCookie().some((cookie) => cookie.startsWith(`${name}=`));
  if (token !== undefined && !isSet) response.headers.append("set-cookie", sessionCookie(token, options));
}

/** With the https prefix no other host can set the cookie, so a neighboring subdomain cannot choose our secret. */
const ownCookieName = (name: string, baseUrl: string): string =>
  isSecure(baseUrl) ? `__Host-${name}` : name;

/** @returns the device cookie in the request, not verified */
export const deviceCookieOf = (request: Request, baseUrl: string): string | undefined =>
  cookieOf(request, ownCookieName(DEVICE_COOKIE, baseUrl));

/** @returns the Set-Cookie value that marks a browser as having signed in */
export const deviceCookie = (value: string, baseUrl: string): string =>
  new Bun.Cookie(ownCookieName(DEVICE_COOKIE, baseUrl), value, {
    httpOnly: true,
    path: "/",
    sameSite: "strict",
    secure: isSecure(baseUrl),
    maxAge: DEVICE_COOKIE_MAX_AGE_SECONDS,
  }).serialize();

/** @returns the secret of the form cookie; undefined if it is missing or malformed */
export function formSecretOf(request: Request, baseUrl: string): string | undefined {
  const secret = cookieOf(request, ownCookieName(FORM_COOKIE, baseUrl));
  return secret && FORM_SECRET.test(secret) ? secret : undefined;
}

/** @returns the Set-Cookie value of a form cookie, which lasts for the browser session */
export const formCookie = (secret: string, baseUrl: string): string =>
  new Bun.Cookie(ownCookieName(FORM_COOKIE, baseUrl), secret, {
    httpOnly: true,
    path: "/",
    sameSite: "lax",
    secure: isSecure(baseUrl),
  }).serialize();

/** @returns the sealed sign-in attempts in the request */
export const attemptsOf = (request: Request, baseUrl: string): string | undefined =>
  cookieOf(request, ownCookieName(PROVIDER_COOKIE, baseUrl));

/**
 * Lax, because the provider sends the browser back from another site.
 * @param sealed undefined removes the cookie
 * @returns the Set-Cookie value that stores the sign-in attempts of a browser
 */
export const attemptsCookie = (sealed: string | undefined, baseUrl: string): string =>
  new Bun.Cookie(ownCookieName(PROVIDER_COOKIE, baseUrl), sealed ?? "", {
    httpOnly: true,
    path: "/",
    sameSite: "lax",
    secure: isSecure(baseUrl),
    maxAge: sealed === undefined ? 0 : PROVIDER_ATTEMPT_TTL_MS / SECOND_MS,
  }).serialize();

/** @returns the user code in the code cookie, not verified */
export const typedCodeOf = (request: Request, baseUrl: string): string | undefined =>
  cookieOf(request, ownCookieName(USER_CODE_COOKIE, baseUrl));

/**
 * Needs no signature: the code only opens a device login that its user has claimed by typing the code.
 * @returns the Set-Cookie value that stores a typed user code
 */
export const typedCodeCookie = (userCode: string, { baseUrl, maxAgeSeconds }: SessionCookieOptions): string =>
  new Bun.Cookie(ownCookieName(USER_CODE_COOKIE, baseUrl), userCode, {
    httpOnly: true,
    path: "/",
    sameSite: "lax",
    secure: isSecure(baseUrl),
    maxAge: maxAgeSeconds,
  }).serialize();

/** @returns the token of a sign-in that waits for the second factor, not verified */
export function attemptTokenOf(request: Request, baseUrl: string): Secret | undefined {
  const token = cookieOf(request, ownCookieName(ATTEMPT_COOKIE, baseUrl));
  return token ? new Secret(token) : undefined;
}

/** @returns the Set-Cookie value for a sign-in that waits for the second factor */
export const attemptCookie = (token: Secret, baseUrl: string): string =>
  attemptCookieOf(token.reveal(), { baseUrl, maxAgeSeconds: ATTEMPT_TTL_MS / SECOND_MS });

/** @returns the Set-Cookie value that ends it */
export const expiredAttemptCookie = (baseUrl: string): string =>
  attemptCookieOf("", { baseUrl, maxAgeSeconds: 0 });

const attemptCookieOf = (value: string, { baseUrl, maxAgeSeconds }: SessionCookieOptions): string =>
  new Bun.Cookie(ownCookieName(ATTEMPT_COOKIE, baseUrl), value, {
    httpOnly: true,
    path: "/",
    sameSite: "lax",
    secure: isSecure(baseUrl),
    maxAge: maxAgeSeconds,
  }).serialize();
