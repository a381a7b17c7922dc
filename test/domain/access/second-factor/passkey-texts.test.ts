// The texts that a browser sends with a passkey: its name and the response of the authenticator.
import { expect, test } from "bun:test";
import {
  PASSKEY_NAME_LENGTH_MAX,
  PASSKEY_RESPONSE_LENGTH_MAX,
  readPasskeyName,
  readUsedPasskey,
} from "../../../../src/domain/access/second-factor/model.ts";

test.each([-1, 0, 1])("a name of the maximum length %d is cut only beyond it", (more) => {
  const name = "n".repeat(PASSKEY_NAME_LENGTH_MAX + more);
  expect(readPasskeyName(name)).toBe(name.slice(0, PASSKEY_NAME_LENGTH_MAX));
});

test.each([
  ["control characters", "a\u0000b", "a b"],
  ["spaces around it", "  key  ", "key"],
  ["nothing else", " \u001b ", "Passkey"],
  [
    "half a character at its end",
    `${"n".repeat(PASSKEY_NAME_LENGTH_MAX - 1)}😀`,
    `${"n".repeat(PASSKEY_NAME_LENGTH_MAX - 1)}\ufffd`,
  ],
])("a name is stored without %s", (_, given, stored) => {
  expect(readPasskeyName(given)).toBe(stored);
});

test.each([
  [-1, true],
  [0, true],
  [1, false],
])("a response of the maximum length %d is read: %p", (more, isRead) => {
  const part = { clientDataJSON: "AA", authenticatorData: "AA", signature: "AA" };
  const response = { id: "AA", rawId: "AA", type: "public-key", response: part, padding: "" };
  const length = PASSKEY_RESPONSE_LENGTH_MAX + more - JSON.stringify(response).length;
  const text = JSON.stringify({ ...response, padding: "x".repeat(length) });
  expect(readUsedPasskey(text) !== undefined).toBe(isRead);
});
