// Basic types of the platform: identifiers, time, secrets.
import { expect, test } from "bun:test";
import { inspect } from "node:util";
import { DAY_MS, systemClock, toRfc3339 } from "../../src/platform/clock.ts";
import { isOwnId, randomToken, sha256Hex, systemIds, UUID_PATTERN } from "../../src/platform/ids.ts";
import { Secret } from "../../src/platform/secret.ts";
import { heldClock, START_MS } from "../support/world.ts";

test("identifiers are UUIDs of version 7 that sort by creation", () => {
  const made = Array.from({ length: 1_000 }, () => systemIds.uuid());
  expect(made[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect([...made].sort()).toEqual(made);
  expect(new Set(made).size).toBe(made.length);
});

test("random bytes have the requested length and do not repeat", () => {
  expect([0, 1, 32].map((length) => systemIds.bytes(length).length)).toEqual([0, 1, 32]);
  expect(Buffer.from(systemIds.bytes(32)).equals(systemIds.bytes(32))).toBe(false);
});

test("a random token is URL-safe, without padding, and made of exactly the bytes it was given", () => {
  expect(randomToken(systemIds)).toMatch(/^[A-Za-z0-9_-]{43}$/);
  const fixed = { uuid: systemIds.uuid, bytes: (length: number) => new Uint8Array(length).fill(0xff) };
  expect(randomToken(fixed, 3)).toBe("____");
});

test("the digest is SHA-256 in lower-case hexadecimal, both for text and for bytes", () => {
  // FIPS 180-4, the example for "abc"
  const expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  expect(sha256Hex("abc")).toBe(expected);
  expect(sha256Hex(new TextEncoder().encode("abc"))).toBe(expected);
});

test("time is shown in UTC with milliseconds", () => {
  expect(toRfc3339(0)).toBe("1970-01-01T00:00:00.000Z");
  expect(toRfc3339(START_MS + DAY_MS - 1)).toBe("2026-01-01T23:59:59.999Z");
});

test("the machine's clock runs, and a test clock moves only on request", () => {
  expect(Number.isInteger(systemClock.nowMs())).toBe(true);
  expect(systemClock.nowMs()).toBeGreaterThan(START_MS - 365 * DAY_MS);
  const clock = heldClock(10);
  clock.advance(5);
  expect(clock.nowMs()).toBe(15);
  clock.set(3);
  expect(clock.nowMs()).toBe(3);
});

test("a secret shows itself only on request", () => {
  const secret = new Secret("hunter2");
  const shown = [
    String(secret),
    `${secret}`,
    JSON.stringify({ secret }),
    inspect({ deep: [secret] }),
    Bun.inspect(secret),
    new Error(`refused ${secret}`).message,
    Object.entries(secret).join(),
  ];
  expect(shown.filter((text) => text.includes("hunter2"))).toEqual([]);
  expect(shown[2]).toBe('{"secret":"[secret]"}');
  expect(secret.reveal()).toBe("hunter2");
});

test.each([
  ["one of ours", "0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b", true, true],
  ["upper case", "0198A1B2-C3D4-7E5F-8A9B-0C1D2E3F4A5B", true, false],
  ["one digit less", "0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5", false, false],
  ["one digit more", "0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5bc", false, false],
  ["no dashes", "0198a1b2c3d47e5f8a9b0c1d2e3f4a5b", false, false],
])("distinguishes a UUID from an id of this service: %s", (_, text, isUuid, isOurs) => {
  expect([UUID_PATTERN.test(text), isOwnId(text)]).toEqual([isUuid, isOurs]);
});
