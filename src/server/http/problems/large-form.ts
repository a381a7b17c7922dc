// What a person reads about a form of the console that is so large that it is not read.
import { BULK_ROWS_MAX } from "../../../domain/shared/bulk.ts";

/** The form of every action on many rows of a list. */
const ACTION_PATH = /^(\/console\/.+)\/action$/;

interface LargeForm {
  title: string;
  detail: string;
  nextStep: { text: string; path: string };
}

/** @returns what the page says and where it leads; undefined for any other failure */
export function largeForm(
  { status, message }: { status: number; message: string },
  path: string,
): LargeForm | undefined {
  if (status !== 413 || !path.startsWith("/console/")) return undefined;
  const [, list] = ACTION_PATH.exec(path) ?? [];
  if (list !== undefined)
    return {
      title: "Too many rows at once",
      detail: `nothing was changed: one form names at most ${BULK_ROWS_MAX} rows. Select at most ${BULK_ROWS_MAX} rows of the list, or all that match the filters`,
      nextStep: { text: "Back to the list", path: list },
    };
  return {
    title: "The form is too large",
    detail: `nothing was changed: ${message}. Go back one page in your browser to shorten what you entered, which is still there`,
    nextStep: { text: "Go to the console", path: "/console" },
  };
}
