// Our two cookies. The session cookie's name and attributes are the contract's (client-and-auth.md section 4.5); the form
// cookie ties a form that a stranger may send to the browser that was shown it.
import { SESSION_COOKIE } from "../domain/access/wire.ts";

const FORM_COOKIE = "quartermaster_form";
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
const formCookieName = (baseUrl: string): string =>
  isSecure(baseUrl) ? `__Host-${FORM_COOKIE}` : FORM_COOKIE;

/** @returns the secret of the form cookie, unless there is none or it cannot be ours */
export function formSecretOf(request: Request, baseUrl: string): string | undefined {
  const secret = cookieOf(request, formCookieName(baseUrl));
  return secret && FORM_SECRET.test(secret) ? secret : undefined;
}

/** @returns the Set-Cookie value of a form cookie, for as long as the browser is open */
export const formCookie = (secret: string, baseUrl: string): string =>
  new Bun.Cookie(formCookieName(baseUrl), secret, {
    httpOnly: true,
    path: "/",
    sameSite: "lax",
    secure: isSecure(baseUrl),
  }).serialize();
