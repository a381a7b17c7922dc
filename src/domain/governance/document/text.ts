// A policy document as YAML or JSON text: finds the document in the text and the line of each member. draft.ts checks its content.

import type { Problem } from "../../../platform/errors.ts";
import { isJsonObject } from "../../../platform/json/json-object.ts";
import { ProblemList } from "../../../platform/text/problem-list.ts";
import { locate, readYamlText } from "../../../platform/text/yaml-text.ts";
import { DOCUMENT_BYTES_MAX } from "../model.ts";

/** Limit for YAML tokens; a document of DOCUMENT_BYTES_MAX with ordinary packages has about 480,000. */
export const DOCUMENT_TOKENS_MAX = 600_000;
const SECTION = "governance";
const BOUNDS = { bytesMax: DOCUMENT_BYTES_MAX, tokensMax: DOCUMENT_TOKENS_MAX, hidesText: true };

/** The unchecked text of a document. */
export interface DocumentText {
  /** the value of the document; undefined if the text could not be parsed */
  input: unknown;
  /** pointer to it in the text: empty for the whole text, /governance if it is wrapped or a section of a file */
  root: "" | "/governance";
  /** the other sections, besides `governance` */
  otherSections: readonly string[];
  /** problems of the text itself; pointers from the root of the text, with lines */
  problems: Problem[];
  /**
   * @param problems with pointers from the root of the document
   * @returns the same problems from the root of the text, with positions
   */
  locate(problems: readonly Problem[]): Problem[];
}

/** A text without quotes or with aliases may be shorter than its JSON, so the size as JSON is checked too. */
const checkSize = (content: unknown, problems: ProblemList): void => {
  const sizeBytes = Buffer.byteLength(JSON.stringify(content));
  if (sizeBytes <= DOCUMENT_BYTES_MAX) return;
  problems.add("", `has ${sizeBytes} bytes as JSON; the limit is ${DOCUMENT_BYTES_MAX}`);
};

/** Parses at most DOCUMENT_BYTES_MAX of untrusted text in bounded time. */
export const readDocumentText = (text: string | Uint8Array, isOver?: () => boolean): DocumentText => {
  const problems = new ProblemList();
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  const read = readYamlText(bytes, problems, { ...BOUNDS, isOver });
  const { content } = read;
  if (content !== undefined) checkSize(content, problems);
  const isSection = isJsonObject(content) && Object.hasOwn(content, SECTION);
  const root = isSection ? `/${SECTION}` : "";
  return {
    input: isSection ? content[SECTION] : content,
    root,
    otherSections: isSection ? Object.keys(content).filter((name) => name !== SECTION) : [],
    problems: problems.list(),
    locate: (found) => locate(read, root, found),
  };
};
