// The session cookie: its name and attributes are the contract's (client-and-auth.md section 4.5).
import { SESSION_COOKIE } from "../domain/access/wire.ts";

/** On https the name carries the prefix that makes browsers insist on Secure. */
const cookieName = (baseUrl: string): string =>
  baseUrl.startsWith("https:") ? `__Secure-${SESSION_COOKIE}` : SESSION_COOKIE;

/** @returns the session token a request carries, under either spelling of the cookie's name */
export function sessionTokenOf(request: Request): string | undefined {
  const header = request.headers.get("cookie");
  if (!header) return undefined;
  const cookies = new Bun.CookieMap(header);
  return cookies.get(`__Secure-${SESSION_COOKIE}`) ?? cookies.get(SESSION_COOKIE) ?? undefined;
}

/** @returns the Set-Cookie value that signs a browser in */
export function sessionCookie(token: string, options: { baseUrl: string; maxAgeSeconds: number }): string {
  return new Bun.Cookie(cookieName(options.baseUrl), token, {
    httpOnly: true,
    path: "/",
    sameSite: "lax",
    secure: options.baseUrl.startsWith("https:"),
    maxAge: options.maxAgeSeconds,
  }).serialize();
}

/** @returns the Set-Cookie value that signs a browser out */
export const expiredSessionCookie = (baseUrl: string): string =>
  sessionCookie("", { baseUrl, maxAgeSeconds: 0 });
