// Our cookies. The contract defines the session cookie's name and attributes. The form cookie binds a form of a signed-out
// visitor to the browser that loaded it. The device cookie marks a browser that has signed in before
// (sign-in/device-cookie.ts). The code cookie holds the typed user code that a browser is about to confirm, and the waiting
// code cookie one that was typed after the session ended, until the next sign-in. The attempt cookie identifies a sign-in that
// waits for the second factor. The provider cookie holds sign-ins under way at the identity provider. The notice cookie holds a
// message for the next page of the console (console/frame/notice.ts).
import { ATTEMPT_TTL_MS } from "../../domain/access/second-factor/model.ts";
import { SESSION_COOKIE } from "../../domain/access/wire.ts";
import { PROVIDER_ATTEMPT_TTL_MS } from "../../domain/sso/browser/attempts.ts";
import { DAY_MS, SECOND_MS } from "../../platform/clock.ts";
import { Secret } from "../../platform/secret.ts";

const FORM_COOKIE = "quartermaster_form";
const DEVICE_COOKIE = "quartermaster_device";
const ATTEMPT_COOKIE = "quartermaster_sign_in";
const USER_CODE_COOKIE = "quartermaster_user_code";
const WAITING_CODE_COOKIE = "quartermaster_waiting_code";
/** Browsers cap cookie lifetimes at 400 days (RFC 6265bis section 5.5). */
const DEVICE_COOKIE_MAX_AGE_SECONDS = (400 * DAY_MS) / SECOND_MS;
const PROVIDER_COOKIE = "quartermaster-sso";
const NOTICE_COOKIE = "quartermaster_notice";
const FORM_SECRET = /^[A-Za-z0-9_-]{43}$/;

const isSecure = (baseUrl: string): boolean => baseUrl.startsWith("https:");

/** On https the name has the prefix that makes browsers require Secure. */
export const sessionCookieName = (baseUrl: string): string =>
  isSecure(baseUrl) ? `__Secure-${SESSION_COOKIE}` : SESSION_COOKIE;

/** Most requests lack most cookies, and this check is faster than parsing the header. */
const cookieOf = (request: Request, name: string): string | undefined => {
  const header = request.headers.get("cookie");
  return header?.includes(name) ? (new Bun.CookieMap(header).get(name) ?? undefined) : undefined;
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

interface CookieOptions {
  baseUrl: string;
  /** undefined for a cookie that ends with the browser's session */
  maxAgeSeconds?: number;
  sameSite?: "strict" | "lax";
}

/** @returns the Set-Cookie value of a cookie for the whole site, which scripts cannot read */
const setCookie = (
  name: string,
  value: string,
  { baseUrl, maxAgeSeconds, sameSite = "lax" }: CookieOptions,
): string =>
  new Bun.Cookie(name, value, {
    httpOnly: true,
    path: "/",
    sameSite,
    secure: isSecure(baseUrl),
    ...(maxAgeSeconds !== undefined && { maxAge: maxAgeSeconds }),
  }).serialize();

/** @returns the Set-Cookie value that signs a browser in */
export const sessionCookie = (token: string, options: SessionCookieOptions): string =>
  setCookie(sessionCookieName(options.baseUrl), token, options);

/** @returns the Set-Cookie value that signs a browser out */
export const expiredSessionCookie = (baseUrl: string): string =>
  sessionCookie("", { baseUrl, maxAgeSeconds: 0 });

/** Sends the session cookie again with its full lifetime, unless the response already sets it. */
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

const readOwn =
  (name: string) =>
  (request: Request, baseUrl: string): string | undefined =>
    cookieOf(request, ownCookieName(name, baseUrl));

const setOwn = (name: string, value: string, options: CookieOptions): string =>
  setCookie(ownCookieName(name, options.baseUrl), value, options);

/** @returns the device cookie in the request, not verified */
export const deviceCookieOf = readOwn(DEVICE_COOKIE);

/** @returns the Set-Cookie value that marks a browser as having signed in */
export const deviceCookie = (value: string, baseUrl: string): string =>
  setOwn(DEVICE_COOKIE, value, {
    baseUrl,
    maxAgeSeconds: DEVICE_COOKIE_MAX_AGE_SECONDS,
    sameSite: "strict",
  });

/** @returns the secret of the form cookie; undefined if it is missing or malformed */
export function formSecretOf(request: Request, baseUrl: string): string | undefined {
  const secret = readOwn(FORM_COOKIE)(request, baseUrl);
  return secret && FORM_SECRET.test(secret) ? secret : undefined;
}

/** @returns the Set-Cookie value of a form cookie, which lasts for the browser session */
export const formCookie = (secret: string, baseUrl: string): string =>
  setOwn(FORM_COOKIE, secret, { baseUrl });

/** @returns the sealed sign-in attempts in the request */
export const attemptsOf = readOwn(PROVIDER_COOKIE);

/**
 * Lax, because the provider sends the browser back from another site.
 * @param sealed undefined removes the cookie
 * @returns the Set-Cookie value that stores the sign-in attempts of a browser
 */
export const attemptsCookie = (sealed: string | undefined, baseUrl: string): string =>
  setOwn(PROVIDER_COOKIE, sealed ?? "", {
    baseUrl,
    maxAgeSeconds: sealed === undefined ? 0 : PROVIDER_ATTEMPT_TTL_MS / SECOND_MS,
  });

/** @returns the user code in the code cookie, not verified */
export const typedCodeOf = readOwn(USER_CODE_COOKIE);

/**
 * Needs no signature: the code only opens a device login that this user has claimed by typing the code.
 * @returns the Set-Cookie value that stores a typed user code
 */
export const typedCodeCookie = (userCode: string, options: SessionCookieOptions): string =>
  setOwn(USER_CODE_COOKIE, userCode, options);

/** @returns the user code that waits for a sign-in, not verified */
export const waitingCodeOf = readOwn(WAITING_CODE_COOKIE);

/**
 * The code fills in a field of a form that the user sends, and opens nothing by itself.
 * @param options.maxAgeSeconds 0 removes the cookie
 * @returns the Set-Cookie value that carries a typed user code through a sign-in
 */
export const waitingCodeCookie = (userCode: string, options: SessionCookieOptions): string =>
  setOwn(WAITING_CODE_COOKIE, userCode, options);

/** @returns the token of a sign-in that waits for the second factor, not verified */
export function attemptTokenOf(request: Request, baseUrl: string): Secret | undefined {
  const token = readOwn(ATTEMPT_COOKIE)(request, baseUrl);
  return token ? new Secret(token) : undefined;
}

/** @returns the Set-Cookie value for a sign-in that waits for the second factor */
export const attemptCookie = (token: Secret, baseUrl: string): string =>
  setOwn(ATTEMPT_COOKIE, token.reveal(), { baseUrl, maxAgeSeconds: ATTEMPT_TTL_MS / SECOND_MS });

/** @returns the Set-Cookie value that ends it */
export const expiredAttemptCookie = (baseUrl: string): string =>
  setOwn(ATTEMPT_COOKIE, "", { baseUrl, maxAgeSeconds: 0 });

/** @returns the message that waits for the next page of the console, not verified */
export const waitingNoticeOf = readOwn(NOTICE_COOKIE);

/** @returns the Set-Cookie value that carries a message to the next page of the console */
export const waitingNoticeCookie = (message: string, options: SessionCookieOptions): string =>
  setOwn(NOTICE_COOKIE, message, options);
