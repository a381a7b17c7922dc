// The text of a policy for a page: its first lines, written by a thread (tasks.ts).
import { documentYaml } from "../document/yaml.ts";
import type { GovernanceConfig } from "../model.ts";
import { withHiddenSecrets } from "./hidden-secrets.ts";

/** Maximum number of lines that a page shows; the command prints the whole text. */
export const LINES_SHOWN_MAX = 2_000;

export interface ShownText {
  /** the first LINES_SHOWN_MAX lines of canonical YAML */
  lines: readonly string[];
  /** number of all lines */
  count: number;
  /** whether the document has secrets, hidden or not */
  hasSecrets: boolean;
}

interface Whole {
  /** a GovernanceConfig as JSON */
  document: string;
  /** whether secrets are hidden */
  isHidden: boolean;
}

/** @returns the text as YAML, in the format that `policy apply` accepts */
export function shownText({ document, isHidden }: Whole): ShownText {
  const whole: GovernanceConfig = JSON.parse(document);
  const safe = withHiddenSecrets(whole);
  const lines = documentYaml(isHidden ? safe : whole)
    .trimEnd()
    .split("\n");
  return {
    lines: lines.slice(0, LINES_SHOWN_MAX),
    count: lines.length,
    hasSecrets: safe !== whole,
  };
}
