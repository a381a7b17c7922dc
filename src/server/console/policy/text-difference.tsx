// The changed lines of two policies: side by side on a wide screen, below each other on a narrow one.
/** @jsxImportSource preact */
import type { VNode } from "preact";
import type { TextHunk, TextLine, TextRow } from "../../../domain/governance/shown/text-difference.ts";
import { TEXT_EDITS_MAX } from "../../../domain/governance/shown/text-difference.ts";
import { textHtml } from "../parts/values.tsx";

/** Rows of a page; the command prints all. */
export const TEXT_ROWS_SHOWN_MAX = 2_000;

/**
 * Not a component, so that callers can render thousands of lines in one turn and the rest of the page in the next.
 * @param hunks undefined if the texts differ too much to be compared
 * @returns the different lines; nothing for equal texts
 */
export function drawTextDifference(hunks: readonly TextHunk[] | undefined): VNode | null {
  if (!hunks)
    return <p>The texts differ in more than {TEXT_EDITS_MAX} lines, so they are not compared as text.</p>;
  if (hunks.length === 0) return null;
  const rows = hunks.flat().length;
  let left = TEXT_ROWS_SHOWN_MAX;
  return (
    <details>
      <summary>The same as text</summary>
      {hunks.map((hunk, at) => {
        const shown = hunk.slice(0, Math.max(0, left));
        left -= hunk.length;
        return shown.length === 0 ? null : drawHunk(shown, at);
      })}
      {rows > TEXT_ROWS_SHOWN_MAX && <p>{rows - TEXT_ROWS_SHOWN_MAX} more lines are not shown.</p>}
    </details>
  );
}

const drawHunk = (rows: readonly TextRow[], key: number): VNode => (
  <table key={key} class="text-difference">
    <caption class="visually-hidden">
      Lines from {rows[0]?.after?.number ?? rows[0]?.before?.number}, before and after
    </caption>
    <thead class="visually-hidden">
      <tr>
        <th scope="col">Before</th>
        <th scope="col">After</th>
      </tr>
    </thead>
    <tbody dangerouslySetInnerHTML={{ __html: rows.map(rowHtml).join("") }} />
  </table>
);

/** The renderer takes ten times as long for thousands of lines. */
const rowHtml = ({ before, after, isChanged }: TextRow): string =>
  `<tr${isChanged ? ' class="changed"' : ""}>${cellHtml(before, isChanged && "del")}${cellHtml(after, isChanged && "ins")}</tr>`;

/** @param change the element of a changed line */
function cellHtml(line: TextLine | undefined, change: "del" | "ins" | false): string {
  if (!line) return "<td></td>";
  const shown = textHtml(line.text);
  const text = change ? `<${change}>${shown}</${change}>` : shown;
  return `<td><span class="line-number">${line.number}</span><code>${text}</code></td>`;
}
