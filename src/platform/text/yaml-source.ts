// Parses the bytes of an untrusted file into one YAML document (JSON is YAML), within limits of size, time and nesting.
// yaml-scan.ts checks the nodes, the caller checks the values; yaml-text.ts combines the steps.

import { Composer, type Document, Lexer, LineCounter, Parser, type YAMLError } from "yaml";
import { DomainError } from "../errors.ts";
import { type Position, PROBLEMS_MAX, type ProblemList } from "./problem-list.ts";

export const YAML_DEPTH_MAX = 64;

export interface YamlBounds {
  readonly bytesMax: number;
  /** limit for YAML tokens, which determine the cost of parsing */
  readonly tokensMax: number;
  /** called from time to time while YAML is parsed; true stops the parser because it has taken too long */
  readonly isOver?: (() => boolean) | undefined;
  /** problems must not quote the text, because it may hold secrets */
  readonly hidesText?: boolean;
}

export interface YamlSource {
  readonly document: Document.Parsed;
  /** @param offset in UTF-16 units, as in nodes @returns the 1-based line and column */
  positionAt(offset: number): Required<Position>;
}

export interface YamlText {
  /** the value of the text, null for an empty text; undefined if it could not be parsed */
  readonly content: unknown;
  /**
   * @param pointers from the root
   * @returns the position of each value, or of its nearest existing ancestor; empty for a text that could not be parsed
   */
  positionsOf(pointers: readonly string[]): Position[];
}

/** A problem at an offset in the text. */
interface Fault {
  readonly offset: number;
  readonly detail: string;
}

const TABBED = "is indented with a tab; use spaces";

/** tokens between two calls of `isOver` */
const TOKENS_PER_LOOK = 1_000;

/** @returns the error for a text that `isOver` stopped */
export const tooSlow = (): DomainError =>
  new DomainError("invalid", "document.too_slow", "the document takes too long to read as YAML", {
    hint: "write it as JSON, which is read much faster, or with fewer lines",
  });

/** the key that merges one mapping into another, unless it is quoted */
export const MERGE_KEY = "<<";

const YAML_OPTIONS = {
  schema: "core",
  merge: true,
  resolveKnownTags: false,
  stringKeys: true,
  // The library compares every key with every other, which takes hours for a large map; yaml-scan.ts finds duplicates instead.
  uniqueKeys: false,
};

/** Reports input that is too large or not text. @returns the text; undefined if a problem was reported */
export const decodeText = (
  bytes: Uint8Array,
  problems: ProblemList,
  { bytesMax }: Pick<YamlBounds, "bytesMax">,
): string | undefined => {
  if (bytes.length > bytesMax) {
    problems.add("", `has ${bytes.length} bytes; the limit is ${bytesMax}`);
    return undefined;
  }
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  const fault = encodingProblem(bytes, text);
  if (!fault) return text;
  const line = bytes.subarray(0, fault.offset).reduce((count, byte) => count + (byte === 0x0a ? 1 : 0), 1);
  problems.add("", `${fault.detail} at byte ${fault.offset} (counted from 0)`, { line });
  return undefined;
};

/** Decoding replaces invalid UTF-8, so the first difference after encoding again is the position of the problem. */
const encodingProblem = (bytes: Uint8Array, text: string): { offset: number; detail: string } | undefined => {
  const nul = bytes.indexOf(0);
  const encoded = new TextEncoder().encode(text);
  const wrong =
    Buffer.compare(bytes, encoded) === 0 ? -1 : bytes.findIndex((byte, at) => byte !== encoded[at]);
  if (wrong >= 0 && (nul < 0 || wrong < nul)) return { offset: wrong, detail: "is not UTF-8 text" };
  return nul >= 0 ? { offset: nul, detail: "is not text, it holds a NUL" } : undefined;
};

/** Reports syntax problems. @returns the only document of the text; undefined if a problem was reported */
export const parseYaml = (
  text: string,
  problems: ProblemList,
  bounds: Omit<YamlBounds, "bytesMax">,
): YamlSource | undefined => {
  const lines = new LineCounter();
  const positionAt = (offset: number): Required<Position> => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const plain = text.replace(/^\ufeff/, "");
  const { document, faults } = parseFirstDocument(plain, lines, bounds);
  const seen = new Set<number>();
  for (const { offset, detail } of faults) {
    const position = positionAt(offset);
    const { line } = position;
    // Further problems on the same line usually result from the first one.
    if (!seen.has(line))
      problems.add("", isTabbed(plain, lines.lineStarts[line - 1]) ? TABBED : detail, position);
    seen.add(line);
  }
  return document && faults.length === 0 ? { document, positionAt } : undefined;
};

/** The library rarely names a tab as the cause. In JSON, tabs are allowed. */
const isTabbed = (text: string, lineStart = 0): boolean =>
  !/^\s*[[{]/.test(text) && /^[ -]*\t/.test(text.slice(lineStart));

/** Parses token by token, so that excessive nesting and length are rejected before they cost time. */
const parseFirstDocument = (
  text: string,
  lines: LineCounter,
  { tokensMax, isOver = () => false }: Pick<YamlBounds, "tokensMax" | "isOver">,
): { document: Document.Parsed | undefined; faults: Fault[] } => {
  const composer = new Composer(YAML_OPTIONS);
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  const documents: Document.Parsed[] = [];
  const faults: Fault[] = [];
  let tokensLeft = tokensMax;
  let errorsLeft = PROBLEMS_MAX;
  let quoteOffset = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme.startsWith('"') || lexeme.startsWith("'")) quoteOffset = parser.offset;
    tokensLeft -= 1;
    if (tokensLeft % TOKENS_PER_LOOK === 0 && isOver()) throw tooSlow();
    for (const token of parser.next(lexeme)) {
      if (token.type === "error") errorsLeft -= 1;
      documents.push(...composer.next(token));
    }
    if (tokensLeft < 0)
      faults.push({
        offset: parser.offset,
        detail: `has more than ${tokensMax} words and marks; split the file`,
      });
    // One level for the document and one for the current scalar; yaml-scan.ts counts exactly.
    if (parser.stack.length > YAML_DEPTH_MAX + 2)
      faults.push({ offset: parser.offset, detail: `is nested deeper than ${YAML_DEPTH_MAX} levels` });
    if (faults.length > 0 || errorsLeft <= 0 || documents.length > 1) break;
  }
  for (const token of parser.end()) documents.push(...composer.next(token));
  documents.push(...composer.end(true, text.length));
  const [document, second] = documents;
  if (second)
    faults.push({ offset: second.range[0], detail: "starts a second document; write one document only" });
  return { document, faults: [...faults, ...(document ? faultsOf(document, quoteOffset) : [])] };
};

/** @param quoteOffset of the last opening quote; the library reports an unclosed quote only at the end of the text */
const faultsOf = ({ errors, warnings }: Document.Parsed, quoteOffset: number): Fault[] =>
  [...errors.slice(0, PROBLEMS_MAX), ...warnings.slice(0, PROBLEMS_MAX)].map((fault) => ({
    offset: isOpenQuote(fault) ? quoteOffset : fault.pos[0],
    detail: wordsOf(fault),
  }));

const isOpenQuote = ({ code, message }: YAMLError): boolean =>
  code === "MISSING_CHAR" && /^Missing closing ["']quote/.test(message);

/** The problem in our own words, without quoting the text, which may hold secrets. */
const wordsOf = ({ code, message }: YAMLError): string => {
  if (code === "TAB_AS_INDENT") return TABBED;
  if (code === "NON_STRING_KEY") return "has a key that is not plain text";
  if (code === "TAG_RESOLVE_FAILED") return "has an unknown tag; remove it";
  const [, words = code.toLowerCase().replaceAll("_", " ")] =
    FAULTS.find(([form]) => form.test(`${code} ${message}`)) ?? [];
  return `cannot be read as YAML: ${words}`;
};

/** by the library's code and message */
const FAULTS: readonly (readonly [RegExp, string])[] = [
  [/closing ["']quote/, "this quote is never closed"],
  [/Missing , /, "a comma or a colon is missing between two items"],
  [/Missing space after :/, "a blank is missing after the colon"],
  [/Sequence item without/, "a dash is missing before an item of the list"],
  [/Comments must be separated/, "a blank is missing before the comment"],
  [/followed by map values|^MULTILINE_IMPLICIT_KEY/, "a key has no colon after it"],
  [/end with a [\]}]/, "a bracket is not closed, or its content is not indented"],
  [/^BAD_INDENT/, "the line is indented differently from those around it"],
  [/Nested mappings/, "a value has a colon and a blank in it; write it in quotes"],
  [/^BAD_SCALAR_START/, "a value begins with a character that has a meaning in YAML; write it in quotes"],
  [/^BAD_DQ_ESCAPE/, "a backslash starts an unknown escape; write two of them, or use single quotes"],
  [/Block scalar header/, "text follows | or > on the same line"],
  [/ALIAS|ANCHOR|BAD_PROP_ORDER/, "an anchor or an alias is not allowed here"],
  [
    /^UNEXPECTED_TOKEN|^BLOCK_/,
    "this is not expected here; check quotes, brackets and indentation before it",
  ],
];
