// Compares two policies as text, line by line and side by side. The library `diff` uses the algorithm of Myers. A pure function
// of plain values, because a thread may run it (tasks.ts).
import { structuredPatch } from "diff";
import { documentYaml } from "../document/yaml.ts";
import { parse } from "../publishing/validated.ts";
import { withHiddenSecrets } from "./hidden-secrets.ts";

/** Maximum number of inserted and removed lines. The time grows with their square, so texts that differ more are not compared. */
export const TEXT_EDITS_MAX = 2_000;
/** Number of context lines before and after a change. */
const CONTEXT_LINES = 3;

export interface TextLine {
  /** from 1 */
  number: number;
  text: string;
}

/** A line on both sides, or a removed line next to its replacement; a side may be empty. */
export interface TextRow {
  isChanged: boolean;
  before: TextLine | undefined;
  after: TextLine | undefined;
}

/** Rows without a gap. */
export type TextHunk = readonly TextRow[];

interface Compared {
  /** documents as JSON */
  before: string;
  after: string;
  /** whether secrets are hidden */
  isHidden?: boolean;
}

/** @returns undefined if they differ in more than TEXT_EDITS_MAX lines */
export function textDifference({ before, after, isHidden = false }: Compared): TextHunk[] | undefined {
  const [former, latter] = [parse(before), parse(after)];
  const from = isHidden ? withHiddenSecrets(former) : former;
  const to = isHidden ? withHiddenSecrets(latter, { former }) : latter;
  // Ignores the id of the revision, which always differs.
  const texts = [{ ...from, revision: to.revision }, to].map(documentYaml);
  const [old = "", next = ""] = texts;
  const options = { context: CONTEXT_LINES, maxEditLength: TEXT_EDITS_MAX };
  return structuredPatch("", "", old, next, undefined, undefined, options)?.hunks.map(rowsOf);
}

type Hunk = NonNullable<ReturnType<typeof structuredPatch>>["hunks"][number];

function rowsOf({ oldStart, newStart, lines }: Hunk): TextRow[] {
  const rows: TextRow[] = [];
  let [old, next] = [oldStart, newStart];
  /** removed lines that have no added line next to them yet */
  let waiting: TextRow[] = [];
  for (const line of lines) {
    const [sign, text] = [line[0], line.slice(1)];
    if (sign === " ") {
      rows.push({ isChanged: false, before: { number: old++, text }, after: { number: next++, text } });
      waiting = [];
    } else if (sign === "-") {
      const row: TextRow = { isChanged: true, before: { number: old++, text }, after: undefined };
      rows.push(row);
      waiting.push(row);
    } else if (sign === "+") {
      const after = { number: next++, text };
      const beside = waiting.shift();
      if (beside) beside.after = after;
      else rows.push({ isChanged: true, before: undefined, after });
    }
  }
  return rows;
}
