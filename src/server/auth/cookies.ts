// Our cookies. The session cookie's name and attributes are the contract's (client-and-auth.md section 4.5); the form cookie
// ties a form that a stranger may send to the browser that was shown it; the device cookie says that a browser has signed in
// before (sign-in/device-cookie.ts); the code cookie says which typed user code a browser is about to confirm.

import { SESSION_COOKIE } from "../../domain/access/wire.ts";
import { DAY_MS, SECOND_MS } from "../../platform/clock.ts";

const FORM_COOKIE = "quartermaster_form";
const DEVICE_COOKIE = "quartermaster_device";
const USER_CODE_COOKIE = "quartermaster_user_code";
/** Browsers keep no cookie for longer (RFC 6265bis section 5.5). */
const DEVICE_COOKIE_MAX_AGE_SECONDS = (400 * DAY_MS) / SECOND_MS;
const FORM_SECRET = /^[A-Za-z0-9_-]{43}$/;

const isSecure = (baseUrl: string): boolean => baseUrl.startsWith("https:");

/** On https the name carries the prefix that makes browsers insist on Secure. */
export const sessionCookieName = (baseUrl: string): string =>
  isSecure(baseUrl) ? `__Secure-${SESSION_COOKIE}` : SESSION_COOKIE;

const cookieOf = (request: Request, name: string): string | undefined => {
  const header = request.headers.get("cookie");
  return header ? (new Bun.CookieMap(header).get(name) ?? undefined) : undefined;
};

/**
 * Reads only the name that `baseUrl` calls for. On https, anyone who can answer for the host over plain http can set the
 * unprefixed name, so that cookie is ignored.
 * @returns the session token that a request carries
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

/** Gives the browser its cookie again, with its full age, unless the answer itself signs in or out. */
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

/** On https no other host can set a cookie of that prefix: a neighbour cannot choose our secret. */
const ownCookieName = (name: string, baseUrl: string): string =>
  isSecure(baseUrl) ? `__Host-${name}` : name;

/** @returns the device cookie that a request carries, whoever made it */
export const deviceCookieOf = (request: Request, baseUrl: string): string | undefined =>
  cookieOf(request, ownCookieName(DEVICE_COOKIE, baseUrl));

/** @returns the Set-Cookie value that marks a browser as one that has signed in */
export const deviceCookie = (value: string, baseUrl: string): string =>
  new Bun.Cookie(ownCookieName(DEVICE_COOKIE, baseUrl), value, {
    httpOnly: true,
    path: "/",
    sameSite: "strict",
    secure: isSecure(baseUrl),
    maxAge: DEVICE_COOKIE_MAX_AGE_SECONDS,
  }).serialize();

/** @returns the secret of the form cookie, unless there is none or it cannot be ours */
export function formSecretOf(request: Request, baseUrl: string): string | undefined {
  const secret = cookieOf(request, ownCookieName(FORM_COOKIE, baseUrl));
  return secret && FORM_SECRET.test(secret) ? secret : undefined;
}

/** @returns the Set-Cookie value of a form cookie, for as long as the browser is open */
export const formCookie = (secret: string, baseUrl: string): string =>
  new Bun.Cookie(ownCookieName(FORM_COOKIE, baseUrl), secret, {
    httpOnly: true,
    path: "/",
    sameSite: "lax",
    secure: isSecure(baseUrl),
  }).serialize();

/** @returns the typed user code that a request carries, whoever put it there */
export const typedCodeOf = (request: Request, baseUrl: string): string | undefined =>
  cookieOf(request, ownCookieName(USER_CODE_COOKIE, baseUrl));

/**
 * Needs no signature: the code opens nothing but a device login that its user has bound by typing it.
 * @returns the Set-Cookie value that leads this browser to the device login of a typed code
 */
export const typedCodeCookie = (userCode: string, { baseUrl, maxAgeSeconds }: SessionCookieOptions): string =>
  new Bun.Cookie(ownCookieName(USER_CODE_COOKIE, baseUrl), userCode, {
    httpOnly: true,
    path: "/",
    sameSite: "lax",
    secure: isSecure(baseUrl),
    maxAge: maxAgeSeconds,
  }).serialize();
