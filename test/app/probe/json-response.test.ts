// Texts of the server that the probe includes in its findings.
import { expect, test } from "bun:test";
import { shortened, TEXT_CHARACTERS_MAX } from "../../../src/app/probe/json-response.ts";

test.each([-1, 0, 1])("a text with %i characters more than the limit is cut to it", (step) => {
  const text = "x".repeat(TEXT_CHARACTERS_MAX + step);
  expect(shortened(text)).toBe(step > 0 ? `${text.slice(0, TEXT_CHARACTERS_MAX)}…` : text);
});
