// The form of a refresh token and its rules, with their limits.
import { expect, test } from "bun:test";
import {
  accessIssuedAtMs,
  firstRefreshToken,
  graceStartMs,
  isCleanupDue,
  possibleSuccessorsOf,
  REFRESH_GRACE_SECONDS,
  ROTATIONS_PER_CLEANUP,
  readRefreshToken,
  refreshVerdict,
  successorOf,
} from "../../../../src/domain/access/tokens/refresh-token.ts";
import { SECOND_MS } from "../../../../src/platform/clock.ts";
import { macOf } from "../../../../src/platform/crypto/sealing.ts";
import { systemIds } from "../../../../src/platform/ids.ts";

const FAMILY = "F".repeat(22);
const TOKEN = "T".repeat(43);

/** The functions of a server with these keys, which marks tokens with the first one. */
const keysOf = (active: Buffer, ...older: Buffer[]) => ({
  mac: (text: string, purpose: string) => macOf(active, { text, purpose }),
  macs: (text: string, purpose: string) => [active, ...older].map((bytes) => macOf(bytes, { text, purpose })),
});
const [KEY, OTHER_KEY] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

test("a token is read as it was created, and its successor belongs to the same family", () => {
  const first = firstRefreshToken(systemIds);
  expect(readRefreshToken(first.text)).toEqual(first);
  const next = successorOf(first, keysOf(KEY));
  expect(readRefreshToken(next.text)).toEqual(next);
  expect(next.familyHash).toBe(first.familyHash);
  expect(next.tokenHash).not.toBe(first.tokenHash);
});

test("a token has one successor under one server key, and another one under another key", () => {
  const first = firstRefreshToken(systemIds);
  const next = successorOf(first, keysOf(KEY));
  expect(successorOf(first, keysOf(KEY))).toEqual(next);
  const others = [successorOf(first, keysOf(OTHER_KEY)), successorOf(next, keysOf(KEY))];
  for (const other of others) expect(other.text).not.toBe(next.text);
});

test("after a change of the server key the former successor is still among the possible ones", () => {
  const first = firstRefreshToken(systemIds);
  const [newer, older] = possibleSuccessorsOf(first, keysOf(OTHER_KEY, KEY));
  expect(newer).toEqual(successorOf(first, keysOf(OTHER_KEY)));
  expect(older).toEqual(successorOf(first, keysOf(KEY)));
});

test("families are independent", () => {
  const [one, other] = [firstRefreshToken(systemIds), firstRefreshToken(systemIds)];
  expect(one.familyHash).not.toBe(other.familyHash);
  expect(one.text.split(".")[1]).not.toBe(other.text.split(".")[1]);
});

test.each([
  "",
  ".",
  FAMILY,
  TOKEN,
  `${FAMILY}.`,
  `.${TOKEN}`,
  `${FAMILY.slice(1)}.${TOKEN}`,
  `${FAMILY}F.${TOKEN}`,
  `${FAMILY}.${TOKEN.slice(1)}`,
  `${FAMILY}.${TOKEN}T`,
  `${FAMILY}.${TOKEN}\n`,
  ` ${FAMILY}.${TOKEN}`,
  `${FAMILY}.${TOKEN}.${TOKEN}`,
  `${FAMILY}.${TOKEN.slice(1)}=`,
  `${FAMILY.slice(1)}ä.${TOKEN}`,
])("%p is not a refresh token", (text) => {
  expect(readRefreshToken(`${FAMILY}.${TOKEN}`)).toBeDefined();
  expect(readRefreshToken(text)).toBeUndefined();
});

const GRACE_MS = REFRESH_GRACE_SECONDS * SECOND_MS;
const fresh = { expiresAtMs: 10 * GRACE_MS, rotatedAtMs: null };
const grant = { expiresAtMs: 10 * GRACE_MS, revokedAtMs: null };

test("a rotated token is repeated until the end of the grace window and reused after it", () => {
  const token = { ...fresh, rotatedAtMs: 1_000 };
  expect(refreshVerdict({ grant, token }, 1_000 + GRACE_MS - 1)).toBe("repeated");
  expect(refreshVerdict({ grant, token }, 1_000 + GRACE_MS)).toBe("repeated");
  expect(refreshVerdict({ grant, token }, 1_000 + GRACE_MS + 1)).toBe("reused");
});

test("every token ends with the expiry or revocation of its grant and does not count as reused then", () => {
  for (const token of [fresh, { ...fresh, rotatedAtMs: 0 }, null]) {
    expect(refreshVerdict({ grant: { ...grant, expiresAtMs: 5 }, token }, 5)).toBe("dead");
    expect(refreshVerdict({ grant: { ...grant, revokedAtMs: 1 }, token }, GRACE_MS * 2)).toBe("dead");
  }
});

test("a token that an active family no longer accepts counts as reused, with or without its row", () => {
  const living = { ...grant, expiresAtMs: 20 * GRACE_MS };
  expect(refreshVerdict({ grant: living, token: fresh }, fresh.expiresAtMs - 1)).toBe("usable");
  expect(refreshVerdict({ grant: living, token: fresh }, fresh.expiresAtMs)).toBe("reused");
  expect(refreshVerdict({ grant: living, token: null }, 1)).toBe("reused");
});

test("rows are removed only once their token counts as reused anyway", () => {
  const token = { ...fresh, rotatedAtMs: 1_000 };
  for (const nowMs of [999, 1_000, 1_000 + GRACE_MS, 1_001 + GRACE_MS]) {
    const isForgotten = token.rotatedAtMs < graceStartMs(nowMs);
    expect(refreshVerdict({ grant, token }, nowMs)).toBe(isForgotten ? "reused" : "repeated");
  }
});

test("a refresh after a quiet grace window cleans up, and one of several in a burst", () => {
  const rotations = 1;
  expect(isCleanupDue({ refreshedAtMs: 1_000, rotations }, 1_000 + GRACE_MS)).toBe(false);
  expect(isCleanupDue({ refreshedAtMs: 1_000, rotations }, 1_001 + GRACE_MS)).toBe(true);
  const burst = Array.from({ length: 3 * ROTATIONS_PER_CLEANUP }, (_, at) =>
    isCleanupDue({ refreshedAtMs: 1_000, rotations: at }, 1_000),
  );
  expect(burst.filter(Boolean)).toHaveLength(3);
});

test("the access token of a repeated exchange expires with that of the first one, but has at least half of its lifetime", () => {
  const issued = (elapsedSeconds: number, ttlSeconds: number) =>
    accessIssuedAtMs(0, { nowMs: elapsedSeconds * SECOND_MS, ttlSeconds }) / SECOND_MS;
  expect([issued(0, 900), issued(60, 900)]).toEqual([0, 0]);
  expect([issued(29, 60), issued(30, 60), issued(31, 60), issued(60, 60)]).toEqual([0, 0, 1, 30]);
});
