// The limit on the YAML tokens in the settings of one harness.
import { expect, test } from "bun:test";
import {
  readSettings,
  SETTINGS_TOKENS_MAX,
} from "../../../../src/domain/governance/publishing/publications.ts";

test("settings may have a limited number of YAML tokens", () => {
  // An empty line is one token; the first line is five.
  const problems = [-1, 0, 1].map((step) => {
    const [problem] = readSettings(`{} #${"\n".repeat(SETTINGS_TOKENS_MAX + step - 5)}`).problems;
    return problem?.detail;
  });
  expect(problems).toEqual([undefined, undefined, expect.stringContaining("words and marks")]);
});
