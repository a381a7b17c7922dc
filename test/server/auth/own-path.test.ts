// The local paths that a browser may be sent to after signing in. Every spelling of another site is refused.
import { expect, test } from "bun:test";
import { OWN_PATH_LENGTH_MAX, readOwnPath } from "../../../src/server/auth/own-path.ts";

test.each([
  ["/", "/"],
  ["/device", "/device"],
  ["/device/abc?x=1", "/device/abc?x=1"],
  ["/device#part", "/device"],
  ["/a/../device", "/device"],
  ["/%2F%2Fevil.example", "/%2F%2Fevil.example"],
  ["/%5Cevil.example", "/%5Cevil.example"],
])("accepts the local path %s", (text, path) => {
  expect(readOwnPath(text)).toBe(path);
});

test.each([
  ["nothing", undefined],
  ["an empty text", ""],
  ["another origin", "https://evil.example/"],
  ["our own origin spelled out", "https://control.example.com/device"],
  ["a scheme that runs code", "javascript:alert(1)"],
  ["a relative path", "device"],
  ["a path without its host", "//evil.example"],
  ["a backslash for the second slash", "/\\evil.example"],
  ["two backslashes", "\\\\evil.example"],
  ["a tab between the slashes", "/\t/evil.example"],
  ["a line break between the slashes", "/\r\n/evil.example"],
  ["dots that leave two slashes", "/.//evil.example"],
  ["folders that leave two slashes", "/a/..//evil.example"],
  ["encoded dots that leave two slashes", "/%2e//evil.example"],
  ["a backslash behind dots", "/.\\/evil.example"],
  ["a space in front", " //evil.example"],
  ["a user name before a host", "//user@evil.example"],
])("refuses %s", (_, text) => {
  expect(readOwnPath(text)).toBeUndefined();
});

test("accepts the longest path and refuses one more character", () => {
  const longest = `/${"a".repeat(OWN_PATH_LENGTH_MAX - 1)}`;
  expect(readOwnPath(longest.slice(0, -1))).toBe(longest.slice(0, -1));
  expect(readOwnPath(longest)).toBe(longest);
  expect(readOwnPath(`${longest}a`)).toBeUndefined();
});
