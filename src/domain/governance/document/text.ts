// A policy document as text, YAML or JSON: finds the document in it and the line of each place. What it must be is read.ts.

import type { Problem } from "../../errors.ts";

/** A document as text, not yet judged. */
export interface DocumentText {
  /** the document's value; undefined when the text could not be read */
  input: unknown;
  /** where it stands in the text: empty for the whole of it, /governance when it is wrapped or a section of a file */
  root: "" | "/governance";
  /** the sections beside `governance`, which are not the document's */
  otherSections: readonly string[];
  /** what is wrong with the text itself; pointers from the root of the text, with lines */
  problems: Problem[];
  /** @param problems with pointers from the root of the document @returns the same from the root of the text, with lines */
  locate(problems: readonly Problem[]): Problem[];
}

/** Reads at most DOCUMENT_BYTES_MAX of text, hostile or not, in bounded time. */
export const readDocumentText = (_text: string | Uint8Array): DocumentText => {
  throw new Error("follows");
};
