// The lines in which two policies differ as text, beside each other. The library `diff` finds them with the algorithm of Myers. A
// pure function of plain values, because a thread may run it (tasks.ts).
import { structuredPatch } from "diff";
import { documentYaml } from "../document/yaml.ts";
import { parse } from "../publishing/validated.ts";
import { withHiddenSecrets } from "./hidden-secrets.ts";

/** Inserted and removed lines. The work grows with their square, so texts that differ more are not compared. */
export const TEXT_EDITS_MAX = 2_000;
/** Lines before and after a change that are shown with it. */
const CONTEXT_LINES = 3;

export interface TextLine {
  /** from 1 */
  number: number;
  text: string;
}

/** One line on both sides, or a removed line beside the one that took its place; a side may be empty. */
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
  // The id of a revision differs always and means nothing.
  const texts = [{ ...from, revision: to.revision }, to].map(documentYaml);
  const [old = "", next = ""] = texts;
  const options = { context: CONTEXT_LINES, maxEditLength: TEXT_EDITS_MAX };
  return structuredPatch("", "", old, next, undefined, undefined, options)?.hunks.map(rowsOf);
}

type Hunk = NonNullable<ReturnType<typeof structuredPatch>>["hunks"][number];

function rowsOf({ oldStart, newStart, lines }: Hunk): TextRow[] {
  const rows: TextRow[] = [];
  let [old, next] = [oldStart, newStart];
  /** removed lines that no added line stands beside yet */
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
