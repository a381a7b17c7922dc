// The state table of the device login and its codes: pure rules with their limits.
import { expect, test } from "bun:test";
import {
  DEVICE_LOGIN,
  type DeviceLoginEvent,
  type DeviceLoginState,
  isLinkToken,
  readUserCode,
  STORED_STATES,
  stateAt,
  TYPED_CODE_LENGTH_MAX,
  transitionOf,
  USER_CODE_LENGTH,
  userCodeOf,
} from "../../../../src/domain/access/model.ts";
import { randomToken, systemIds } from "../../../../src/platform/ids.ts";

const EVENTS: DeviceLoginEvent[] = ["claim", "approve", "refuse", "redeem"];

test("every event applies to exactly one state", () => {
  for (const event of EVENTS) {
    const states = Object.keys(DEVICE_LOGIN) as DeviceLoginState[];
    const from = states.filter((state) => DEVICE_LOGIN[state].on[event]);
    expect(from).toEqual([transitionOf(event).from]);
  }
});

test("refused, expired and redeemed logins accept no event", () => {
  for (const state of ["refused", "expired", "redeemed"] as const) expect(DEVICE_LOGIN[state].on).toEqual({});
});

test("a login in any state expires at its last millisecond, unless it was redeemed", () => {
  for (const state of STORED_STATES) {
    expect(stateAt({ state, expiresAtMs: 1_000 }, 999)).toBe(state);
    expect(stateAt({ state, expiresAtMs: 1_000 }, 1_000)).toBe(state === "redeemed" ? "redeemed" : "expired");
  }
});

test("the user code is derived from the link and is not part of it", () => {
  const link = randomToken(systemIds);
  expect(userCodeOf(link)).toBe(userCodeOf(link));
  expect(userCodeOf(link)).toMatch(/^[ABCDEFGHJKLMNPQRSTUVWXYZ2-9]{8}$/);
  expect(link.toUpperCase()).not.toContain(userCodeOf(link));
});

test("the user code of a known link never changes, because codes shown before an upgrade must match", () => {
  expect(userCodeOf("A".repeat(43))).toBe("HDWVCVGW");
});

test("every letter is equally likely", () => {
  const counts = new Map<string, number>();
  const links = 4_000;
  for (let index = 0; index < links; index += 1) {
    for (const letter of userCodeOf(`link ${index}`)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  }
  const expected = (links * USER_CODE_LENGTH) / 32;
  expect(counts.size).toBe(32);
  for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(expected / 5);
});

test.each([
  ["ABCD2345", "ABCD2345"],
  ["abcd-2345", "ABCD2345"],
  [" a b c d — 2345", undefined],
  ["a b-c d\t2345 ", "ABCD2345"],
  ["ABCD234", undefined],
  ["ABCD23456", undefined],
  ["ABCD234O", undefined],
  ["ABCD2341", undefined],
  ["", undefined],
])("the typed code %p is read as %p", (typed, code) => {
  expect(readUserCode(typed)).toBe(code);
});

test("a typed code may have TYPED_CODE_LENGTH_MAX characters with its spaces and no more", () => {
  const spaced = (length: number) => `ABCD2345${" ".repeat(length - USER_CODE_LENGTH)}`;
  expect(readUserCode(spaced(TYPED_CODE_LENGTH_MAX - 1))).toBe("ABCD2345");
  expect(readUserCode(spaced(TYPED_CODE_LENGTH_MAX))).toBe("ABCD2345");
  expect(readUserCode(spaced(TYPED_CODE_LENGTH_MAX + 1))).toBeUndefined();
});

test("a link token is 43 characters of base64url", () => {
  expect(isLinkToken(randomToken(systemIds))).toBe(true);
  expect(isLinkToken("A".repeat(42))).toBe(false);
  expect(isLinkToken("A".repeat(44))).toBe(false);
  expect(isLinkToken(`${"A".repeat(42)}/`)).toBe(false);
  expect(isLinkToken(`${"A".repeat(43)}\n`)).toBe(false);
});
