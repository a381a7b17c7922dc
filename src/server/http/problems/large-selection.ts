// A form for rows of a list that is so large that it is not read: it names far more rows than one form may.
import { BULK_ROWS_MAX } from "../../../domain/shared/bulk.ts";

/** The form of every action on many rows of a list of the console. */
const ACTION_PATH = /^(\/console\/.+)\/action$/;

interface LargeSelection {
  title: string;
  detail: string;
  nextStep: { text: string; path: string };
}

/** @returns what the page says and the list that it leads to; undefined for any other failure */
export function largeSelection({ status }: { status: number }, path: string): LargeSelection | undefined {
  const [, list] = ACTION_PATH.exec(path) ?? [];
  if (status !== 413 || list === undefined) return undefined;
  return {
    title: "Too many rows at once",
    detail: `nothing was changed: one form names at most ${BULK_ROWS_MAX} rows. Select at most ${BULK_ROWS_MAX} rows of the list, or all that match the filters`,
    nextStep: { text: "Back to the list", path: list },
  };
}
