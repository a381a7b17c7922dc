// The text of a policy as a page shows it: its first lines, written by a thread (tasks.ts).
import { documentYaml } from "../document/yaml.ts";
import type { GovernanceConfig } from "../model.ts";
import { withHiddenVariables } from "./hidden-variables.ts";

/** Lines that a page shows; the command prints the whole text. */
export const LINES_SHOWN_MAX = 2_000;

export interface ShownText {
  /** the first LINES_SHOWN_MAX lines of canonical YAML */
  lines: readonly string[];
  /** number of all lines */
  count: number;
}

interface Whole {
  /** a GovernanceConfig as JSON */
  document: string;
  /** whether the values of variables of MCP servers are hidden */
  isHidden: boolean;
}

/** @returns the text as YAML, in the format that `policy apply` accepts */
export function shownText({ document, isHidden }: Whole): ShownText {
  const whole: GovernanceConfig = JSON.parse(document);
  const lines = documentYaml(isHidden ? withHiddenVariables(whole) : whole)
    .trimEnd()
    .split("\n");
  return { lines: lines.slice(0, LINES_SHOWN_MAX), count: lines.length };
}
