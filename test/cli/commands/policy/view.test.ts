// Formats values of a policy for the terminal.
import { expect, test } from "bun:test";
import { VALUE_CHARACTERS_MAX, valueText } from "../../../../cli/commands/policy/view.ts";

test.each([-1, 0, 1])("a value with %i characters more than the limit is cut to it", (step) => {
  const text = "x".repeat(VALUE_CHARACTERS_MAX + step - 2);
  expect(valueText(text)).toBe(step > 0 ? `"${text.slice(0, VALUE_CHARACTERS_MAX - 1)}…` : `"${text}"`);
});
