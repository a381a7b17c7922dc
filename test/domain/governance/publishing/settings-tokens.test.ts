// The limit on the YAML tokens in the settings of one harness.
import { expect, test } from "bun:test";
import {
  readSettings,
  SETTINGS_TOKENS_MAX,
} from "../../../../src/domain/governance/publishing/publications.ts";

test("settings may have a limited number of YAML tokens", () => {
  // An empty line is one token; the first line is five. The tests of the reader test below and at a smaller limit.
  const [problem] = readSettings(`{} #${"\n".repeat(SETTINGS_TOKENS_MAX + 1 - 5)}`).problems;
  expect(problem?.detail).toContain(`more than ${SETTINGS_TOKENS_MAX} words and marks`);
});
