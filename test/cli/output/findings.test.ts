// The text output of findings of `doctor` and `probe`.
import { expect, test } from "bun:test";
import { stripVTControlCharacters } from "node:util";
import { findingsText } from "../../../cli/output/findings.ts";
import type { Finding } from "../../../src/app/doctor/finding.ts";

const RESULTS = ["ok", "warning", "failed", "skipped"] as const;
const findings: Finding[] = RESULTS.map((result) => ({
  check: `check_${result}`,
  result,
  detail: `detail of ${result}`,
  remedy: result === "failed" ? "the remedy" : null,
}));

test("each result has its own color on a terminal", () => {
  const lines = findingsText(findings, true).split("\n");
  const colors = RESULTS.map((result) =>
    lines.find((line) => line.includes(`detail of ${result}`))?.slice(0, 5),
  );
  expect(new Set(colors).size).toBe(RESULTS.length);
  expect(colors.every((color) => color?.startsWith("\u001b["))).toBe(true);
});

test("color adds nothing but color", () => {
  const plain = findingsText(findings, false);
  expect(plain).not.toContain("\u001b");
  expect(stripVTControlCharacters(findingsText(findings, true))).toBe(plain);
});
