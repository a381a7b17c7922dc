// The cookies of the service: which name is read in which case, and the attributes of each.
import { describe, expect, test } from "bun:test";
import { ATTEMPT_TTL_MS } from "../../../src/domain/access/second-factor/model.ts";
import { PROVIDER_ATTEMPT_TTL_MS } from "../../../src/domain/sso/browser/attempts.ts";
import { SECOND_MS } from "../../../src/platform/clock.ts";
import { Secret } from "../../../src/platform/secret.ts";
import {
  attemptCookie,
  attemptsCookie,
  attemptsOf,
  attemptTokenOf,
  deviceCookie,
  deviceCookieOf,
  expiredAttemptCookie,
  expiredSessionCookie,
  formCookie,
  formSecretOf,
  renewSessionCookie,
  sessionCookie,
  sessionTokenOf,
  typedCodeCookie,
  typedCodeOf,
  waitingCodeCookie,
  waitingCodeOf,
  waitingNoticeCookie,
  waitingNoticeOf,
} from "../../../src/server/auth/cookies.ts";

const HTTP = "http://127.0.0.1:8080";
const HTTPS = "https://quartermaster.example.com";
const SECRET = "s".repeat(43);
const SESSION = "better-auth.session_token";

const requestWith = (cookie?: string): Request =>
  new Request(HTTP, cookie === undefined ? {} : { headers: { cookie } });

/** @returns the name, the value and the sorted attributes of a Set-Cookie value */
function partsOf(header: string): [string, string[]] {
  const [pair = "", ...attributes] = header.split("; ");
  return [pair, attributes.sort()];
}

const ours = ["HttpOnly", "Path=/"];
const options = (baseUrl: string) => ({ baseUrl, maxAgeSeconds: 60 });

describe("a cookie is set with the right name and attributes", () => {
  test.each([
    [
      "session",
      (base: string) => sessionCookie(SECRET, options(base)),
      SESSION,
      "__Secure-",
      ["Max-Age=60", "SameSite=Lax"],
    ],
    ["form", (base: string) => formCookie(SECRET, base), "quartermaster_form", "__Host-", ["SameSite=Lax"]],
    [
      "device",
      (base: string) => deviceCookie(SECRET, base),
      "quartermaster_device",
      "__Host-",
      ["Max-Age=34560000", "SameSite=Strict"],
    ],
    [
      "code",
      (base: string) => typedCodeCookie(SECRET, options(base)),
      "quartermaster_user_code",
      "__Host-",
      ["Max-Age=60", "SameSite=Lax"],
    ],
    [
      "waiting code",
      (base: string) => waitingCodeCookie(SECRET, options(base)),
      "quartermaster_waiting_code",
      "__Host-",
      ["Max-Age=60", "SameSite=Lax"],
    ],
    [
      "message of the console",
      (base: string) => waitingNoticeCookie(SECRET, options(base)),
      "quartermaster_notice",
      "__Host-",
      ["Max-Age=60", "SameSite=Lax"],
    ],
    [
      "sign-in attempts at the provider",
      (base: string) => attemptsCookie(SECRET, base),
      "quartermaster-sso",
      "__Host-",
      [`Max-Age=${PROVIDER_ATTEMPT_TTL_MS / SECOND_MS}`, "SameSite=Lax"],
    ],
    [
      "second factor",
      (base: string) => attemptCookie(new Secret(SECRET), base),
      "quartermaster_sign_in",
      "__Host-",
      [`Max-Age=${ATTEMPT_TTL_MS / SECOND_MS}`, "SameSite=Lax"],
    ],
  ])("%s", (_name, made, name, prefix, attributes) => {
    expect(partsOf(made(HTTP))).toEqual([`${name}=${SECRET}`, [...ours, ...attributes].sort()]);
    const secured = [...ours, "Secure", ...attributes].sort();
    expect(partsOf(made(HTTPS))).toEqual([`${prefix}${name}=${SECRET}`, secured]);
  });

  test.each([
    ["session at sign-out", expiredSessionCookie(HTTPS), `__Secure-${SESSION}`],
    ["sign-in attempts once none is left", attemptsCookie(undefined, HTTPS), "__Host-quartermaster-sso"],
    ["second factor once it was given", expiredAttemptCookie(HTTPS), "__Host-quartermaster_sign_in"],
  ])("%s", (_name, expired, name) => {
    expect(expired).toStartWith(`${name}=; `);
    expect(expired).toContain("Max-Age=0");
  });
});

describe("a cookie is read only under the name that the base URL requires", () => {
  test.each([
    ["session", sessionTokenOf, SESSION, "__Secure-"],
    ["form", formSecretOf, "quartermaster_form", "__Host-"],
    ["device", deviceCookieOf, "quartermaster_device", "__Host-"],
    ["code", typedCodeOf, "quartermaster_user_code", "__Host-"],
    ["waiting code", waitingCodeOf, "quartermaster_waiting_code", "__Host-"],
    ["message of the console", waitingNoticeOf, "quartermaster_notice", "__Host-"],
    ["sign-in attempts at the provider", attemptsOf, "quartermaster-sso", "__Host-"],
    [
      "second factor",
      (request: Request, base: string) => attemptTokenOf(request, base)?.reveal(),
      "quartermaster_sign_in",
      "__Host-",
    ],
  ] as const)("%s", (_name, read, name, prefix) => {
    const [bare, prefixed] = [`${name}=${SECRET}`, `${prefix}${name}=${SECRET}`].map((pair) =>
      requestWith(`a=b; ${pair}`),
    );
    if (!bare || !prefixed) throw new Error("both are there");
    expect([read(bare, HTTP), read(prefixed, HTTPS)]).toEqual([SECRET, SECRET]);
    expect([read(bare, HTTPS), read(prefixed, HTTP)]).toEqual([undefined, undefined]);
    expect(read(requestWith(), HTTP)).toBeUndefined();
  });
});

test.each([
  ["", undefined],
  ["s".repeat(42), undefined],
  ["s".repeat(44), undefined],
  [`${"s".repeat(42)}.`, undefined],
  ["aZ09_-".padEnd(43, "s"), "aZ09_-".padEnd(43, "s")],
])("the form cookie with the value %p is read as %p", (value, read) => {
  expect(formSecretOf(requestWith(`quartermaster_form=${value}`), HTTP)).toBe(read);
});

describe("the session cookie is renewed", () => {
  const renewed = (request: Request, ...set: string[]): string[] => {
    const response = new Response(null, { headers: set.map((value) => ["set-cookie", value]) });
    renewSessionCookie(request, response, options(HTTP));
    return response.headers.getSetCookie();
  };
  const signedIn = requestWith(`${SESSION}=token`);
  const other = formCookie(SECRET, HTTP);

  test("renews the cookie for a browser that sent it among other cookies", () => {
    const again = sessionCookie("token", options(HTTP));
    expect(renewed(signedIn)).toEqual([again]);
    expect(renewed(signedIn, other)).toEqual([other, again]);
  });

  test("renews the cookie unless the response signs in or out, even if it sets other cookies", () => {
    const out = expiredSessionCookie(HTTP);
    expect(renewed(signedIn, other, out)).toEqual([other, out]);
  });

  test("renews the cookie for no other caller", () => {
    expect(renewed(requestWith())).toEqual([]);
  });
});
