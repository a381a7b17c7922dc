// Which sign-ins a logout announced by the provider stops, and for how long.
import { expect, test } from "bun:test";
import { PROVIDER_ATTEMPT_TTL_MS } from "../../../src/domain/sso/browser/attempts.ts";
import { ANNOUNCED_MAX, AnnouncedLogouts } from "../../../src/domain/sso/logout/announced-logouts.ts";
import { heldClock } from "../../support/world.ts";

const ISSUER = "https://id.example.org/";
const SECOND_MS = 1_000;

function announced(token: { subject?: string; providerSessionId?: string }) {
  const clock = heldClock();
  const atMs = clock.nowMs();
  const logouts = new AnnouncedLogouts(clock);
  logouts.add({ issuer: ISSUER, issuedAtMs: atMs, ...token });
  const has = (claims: { subject?: string; sid?: string; authTimeMs?: number }, startedMs = atMs - 1) =>
    logouts.has(
      {
        issuer: ISSUER,
        subject: claims.subject ?? "ada",
        providerSessionId: claims.sid,
        authTimeMs: claims.authTimeMs,
      },
      startedMs,
    );
  return { clock, atMs, logouts, has };
}

test("SSO-27 a logout of a person stops all sign-ins of the person, and a logout of a session only those of the session", () => {
  const person = announced({ subject: "ada" });
  expect([person.has({}), person.has({ sid: "1" }), person.has({ subject: "eve" })]).toEqual([
    true,
    true,
    false,
  ]);
  const session = announced({ providerSessionId: "1" });
  expect([session.has({ sid: "1" }), session.has({ sid: "2" }), session.has({})]).toEqual([
    true,
    false,
    false,
  ]);
  const both = announced({ subject: "ada", providerSessionId: "1" });
  expect([both.has({ sid: "1" }), both.has({ sid: "2" }), both.has({})]).toEqual([true, false, true]);
});

test("SSO-27 a logout of another issuer stops nothing", () => {
  const { logouts, atMs } = announced({ subject: "ada" });
  const person = { subject: "ada", providerSessionId: undefined, authTimeMs: undefined };
  expect(logouts.has({ ...person, issuer: "https://other.example/" }, atMs - 1)).toBe(false);
});

test.each([
  ["logged on before", -SECOND_MS, 1, true],
  ["logged on after", SECOND_MS, -1, false],
  ["logged on in the same second, left before", 0, -1, true],
  ["logged on in the same second, left after", 0, 1, false],
  ["left before, and the provider gives no time", undefined, -1, true],
  ["left at the same time", undefined, 0, false],
  ["left after", undefined, 1, false],
])("SSO-27 decides about the sign-in of a person who %s", (_, logOnMs, leftMs, isStopped) => {
  const { atMs, has } = announced({ subject: "ada" });
  const authTimeMs = logOnMs === undefined ? {} : { authTimeMs: atMs + logOnMs };
  expect(has(authTimeMs, atMs + leftMs)).toBe(isStopped);
});

test("a logout is remembered for as long as a sign-in may take", () => {
  const { clock, atMs, has } = announced({ subject: "ada" });
  clock.set(atMs + PROVIDER_ATTEMPT_TTL_MS - 1);
  expect(has({})).toBe(true);
  clock.set(atMs + PROVIDER_ATTEMPT_TTL_MS);
  expect(has({})).toBe(false);
});

test("a flood of logouts is bounded: the oldest is forgotten", () => {
  const { atMs, logouts, has } = announced({ subject: "ada" });
  for (let count = 1; count < ANNOUNCED_MAX; count += 1)
    logouts.add({ issuer: ISSUER, subject: `other-${count}`, issuedAtMs: atMs });
  expect(has({ subject: "other-1" })).toBe(true);
  logouts.add({ issuer: ISSUER, subject: "one more", issuedAtMs: atMs });
  expect(has({})).toBe(false);
});
