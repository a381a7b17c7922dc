// Formats the findings of `doctor` and `probe` for people: one line per check, and the remedy below it.
import type { Finding } from "../../src/app/doctor/finding.ts";
import { colored, type StateColor } from "./color.ts";
import { printable } from "./printable.ts";

/** FAILED is uppercase so that failures stand out without color. */
const WORDS = { ok: "ok", warning: "warning", failed: "FAILED", skipped: "skipped" } as const;
const COLORS: Readonly<Record<Finding["result"], StateColor>> = {
  ok: "green",
  warning: "yellow",
  failed: "red",
  skipped: "dim",
};
const GAP = 2;

/** @param hasColor whether the results are colored */
export function findingsText(findings: readonly Finding[], hasColor: boolean): string {
  const width = Math.max(...findings.map(({ check }) => check.length)) + GAP;
  const margin = " ".repeat(WORDS.warning.length + GAP);
  return findings
    .flatMap(({ check, result, detail, remedy }) => {
      const word = WORDS[result].padEnd(margin.length);
      return [
        `${hasColor ? colored(word, COLORS[result]) : word}${nameOf(check).padEnd(width)}${printable(detail)}`,
        ...(remedy === null ? [] : [`${margin}${"".padEnd(width)}-> ${printable(remedy)}`]),
      ];
    })
    .join("\n");
}

const nameOf = (check: string): string => check.replaceAll("_", " ");
