// What a refresh token looks like and how it is judged: pure rules, at their edges.
import { expect, test } from "bun:test";
import {
  firstRefreshToken,
  graceStartMs,
  nextRefreshToken,
  REFRESH_GRACE_SECONDS,
  REFRESH_SUCCESSORS_MAX,
  readRefreshToken,
  refreshVerdict,
} from "../../../src/domain/access/refresh-token.ts";
import { SECOND_MS } from "../../../src/platform/clock.ts";
import { systemIds } from "../../../src/platform/ids.ts";

const FAMILY = "F".repeat(22);
const TOKEN = "T".repeat(43);

test("a token is read as it was made, and its successor belongs to the same family", () => {
  const first = firstRefreshToken(systemIds);
  expect(readRefreshToken(first.text)).toEqual(first);
  const next = nextRefreshToken(systemIds, first.familySecret);
  expect(readRefreshToken(next.text)).toEqual(next);
  expect(next.familyHash).toBe(first.familyHash);
  expect(next.tokenHash).not.toBe(first.tokenHash);
});

test("families have nothing in common", () => {
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
])("%p is no refresh token", (text) => {
  expect(readRefreshToken(`${FAMILY}.${TOKEN}`)).toBeDefined();
  expect(readRefreshToken(text)).toBeUndefined();
});

const GRACE_MS = REFRESH_GRACE_SECONDS * SECOND_MS;
const fresh = { expiresAtMs: 10 * GRACE_MS, rotatedAtMs: null, successors: 0 };
const grant = { expiresAtMs: 10 * GRACE_MS, revokedAtMs: null };

test("a rotated token works to the end of the grace window and is reused after it", () => {
  const token = { ...fresh, rotatedAtMs: 1_000, successors: 1 };
  expect(refreshVerdict({ grant, token }, 1_000 + GRACE_MS - 1)).toBe("usable");
  expect(refreshVerdict({ grant, token }, 1_000 + GRACE_MS)).toBe("usable");
  expect(refreshVerdict({ grant, token }, 1_000 + GRACE_MS + 1)).toBe("reused");
});

test("a rotated token has REFRESH_SUCCESSORS_MAX successors at most", () => {
  const rotated = (successors: number) => ({ grant, token: { ...fresh, rotatedAtMs: 0, successors } });
  expect(refreshVerdict(rotated(REFRESH_SUCCESSORS_MAX - 1), 1)).toBe("usable");
  expect(refreshVerdict(rotated(REFRESH_SUCCESSORS_MAX), 1)).toBe("exhausted");
  expect(refreshVerdict(rotated(REFRESH_SUCCESSORS_MAX + 1), 1)).toBe("exhausted");
});

test("every token dies with its grant's expiry and its grant's revocation, and is not reused then", () => {
  for (const token of [fresh, { ...fresh, rotatedAtMs: 0, successors: 1 }, null]) {
    expect(refreshVerdict({ grant: { ...grant, expiresAtMs: 5 }, token }, 5)).toBe("dead");
    expect(refreshVerdict({ grant: { ...grant, revokedAtMs: 1 }, token }, GRACE_MS * 2)).toBe("dead");
  }
});

test("what a living family does not accept any more is reused, with its row and without", () => {
  const living = { ...grant, expiresAtMs: 20 * GRACE_MS };
  expect(refreshVerdict({ grant: living, token: fresh }, fresh.expiresAtMs - 1)).toBe("usable");
  expect(refreshVerdict({ grant: living, token: fresh }, fresh.expiresAtMs)).toBe("reused");
  expect(refreshVerdict({ grant: living, token: null }, 1)).toBe("reused");
});

test("rows are forgotten only once their token is reused anyway", () => {
  const token = { ...fresh, rotatedAtMs: 1_000, successors: 1 };
  for (const nowMs of [999, 1_000, 1_000 + GRACE_MS, 1_001 + GRACE_MS]) {
    const isForgotten = token.rotatedAtMs < graceStartMs(nowMs);
    expect(refreshVerdict({ grant, token }, nowMs)).toBe(isForgotten ? "reused" : "usable");
  }
});
