// Which parts of a provider's texts are written to the log.
import { expect, test } from "bun:test";
import { forLog, LOGGED_TEXT_LENGTH_MAX } from "../../../../src/domain/sso/provider/failures.ts";
import { offsetText } from "../../../../src/domain/sso/provider/tokens/token-checks.ts";

test.each([-1, 0, 1])("a text of the maximum length %d is cut only beyond it", (more) => {
  const text = "x".repeat(LOGGED_TEXT_LENGTH_MAX + more);
  expect(forLog(text)).toBe(more > 0 ? `${text.slice(0, -1)}…` : text);
});

test.each([
  ["a line break", "\n", "\\u000a"],
  ["an escape", "\u001b", "\\u001b"],
  ["a change of direction", "\u202e", "\\u202e"],
  ["a line separator", "\u2028", "\\u2028"],
  ["an invisible letter of a higher plane", "\u{e0041}", "\\ue0041"],
])("%s is escaped", (_, character, escaped) => {
  expect(forLog(`a${character}b`)).toBe(`a${escaped}b`);
});

test.each([
  [undefined, "the provider sent no time"],
  [0, "by the header Date the provider's clock is 0 s ahead of ours"],
  [2_000, "by the header Date the provider's clock is 2 s ahead of ours"],
  [-2_000, "by the header Date the provider's clock is 2 s behind ours"],
])("reports the offset %p of the provider's clock", (offsetMs, text) => {
  expect(offsetText(offsetMs)).toBe(text);
});
