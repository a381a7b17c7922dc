// A style sheet with the labels of columns on narrow screens, where each row is a card. Labels in each cell would be a
// fifth of the page. The address of the style sheet contains the labels, so the server stores nothing between the two
// requests.
import type { Problem } from "../../../platform/errors.ts";
import { CONSOLE_ASSETS_PATH } from "../frame/navigation.ts";

/** Path of the sheet, without its query. */
export const LABELS_PATH = `${CONSOLE_ASSETS_PATH}/labels.css`;

/** Columns of a table that have labels. */
export const LABELS_MAX = 40;
/** Characters of all labels. */
export const LABELS_LENGTH_MAX = 1_000;

/** Words only, because they are copied into quotes in the style sheet. */
const LABELS = /^[\p{L}\p{N} '’()/.,-]*$/u;

/** @returns the address of the sheet for these columns; a column with an empty label gets none */
export const labelsAddress = (labels: readonly string[]): string =>
  `${LABELS_PATH}?${new URLSearchParams({ columns: labels.join(",") })}`;

/** @returns the sheet, or the problem of the labels */
export function labelSheet(columns: string): { css: string } | { problem: Problem } {
  const labels = columns.split(",");
  if (columns.length > LABELS_LENGTH_MAX || labels.length > LABELS_MAX || !LABELS.test(columns)) {
    const detail = `must be at most ${LABELS_MAX} labels with ${LABELS_LENGTH_MAX} characters, separated by commas`;
    return { problem: { pointer: "/columns", detail } };
  }
  const rules = labels.map((label, index) =>
    label === "" ? "" : `#list .rows td:nth-child(${index + 1})::before{content:"${label}: "}\n`,
  );
  return { css: rules.join("") };
}
