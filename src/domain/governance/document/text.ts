// A policy document as text, YAML or JSON: finds the document in it and the line of each place. What it must be is draft.ts.

import type { Problem } from "../../../platform/errors.ts";
import { isJsonObject } from "../../../platform/text/json-object.ts";
import { ProblemList } from "../../../platform/text/problem-list.ts";
import { locate, readYamlText } from "../../../platform/text/yaml-text.ts";
import { DOCUMENT_BYTES_MAX } from "../model.ts";

/** of words and marks of YAML; a document of DOCUMENT_BYTES_MAX with ordinary packages has some 480,000 */
export const DOCUMENT_TOKENS_MAX = 600_000;
const SECTION = "governance";
const BOUNDS = { bytesMax: DOCUMENT_BYTES_MAX, tokensMax: DOCUMENT_TOKENS_MAX };

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

/** Without quotes and with aliases a text may hold more than the same in JSON could, which must be allowed, too. */
const checkSize = (content: unknown, problems: ProblemList): void => {
  const sizeBytes = Buffer.byteLength(JSON.stringify(content));
  if (sizeBytes <= DOCUMENT_BYTES_MAX) return;
  problems.add("", `has ${sizeBytes} bytes as JSON; the limit is ${DOCUMENT_BYTES_MAX}`);
};

/** Reads at most DOCUMENT_BYTES_MAX of text, hostile or not, in bounded time. */
export const readDocumentText = (text: string | Uint8Array, isOver?: () => boolean): DocumentText => {
  const problems = new ProblemList();
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  const { content, lineOf } = readYamlText(bytes, problems, { ...BOUNDS, isOver });
  if (content !== undefined) checkSize(content, problems);
  const isSection = isJsonObject(content) && Object.hasOwn(content, SECTION);
  const root = isSection ? `/${SECTION}` : "";
  const part = { root, lineOf: (pointer: string) => lineOf(root + pointer) };
  return {
    input: isSection ? content[SECTION] : content,
    root,
    otherSections: isSection ? Object.keys(content).filter((name) => name !== SECTION) : [],
    problems: problems.list(),
    locate: (found) => locate(part, found),
  };
};
