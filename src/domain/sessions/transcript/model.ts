// A captured session for readers: entries in order, page by page.
import { DomainError } from "../../../platform/errors.ts";

/**
 * `system`: text that the agent's program wrote for the model; `usage`: token counts without text; `note`: anything else worth
 * showing
 */
export const ENTRY_KINDS = [
  "user",
  "assistant",
  "reasoning",
  "system",
  "call",
  "result",
  "usage",
  "note",
] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

/** Tokens that a model read and wrote. */
export interface Tokens {
  input: number;
  output: number;
}

export interface TranscriptEntry {
  kind: EntryKind;
  /** for a call, its tool */
  name: string | null;
  /** plain text, never markup */
  text: string;
  /** whether the text was truncated */
  isCut: boolean;
  /** UTC milliseconds */
  atMs: number | null;
  tokens: Tokens | null;
  isError: boolean;
}

/** The position at which a page begins. */
export interface Place {
  /** offset of the record in the transcript's file, in bytes */
  offset: number;
  /** number of that record's entries before the page */
  skipped: number;
  /** number of entries before the page */
  before: number;
}

export interface TranscriptPage {
  entries: readonly TranscriptEntry[];
  /** number of entries before the first one */
  before: number;
  /** beginning of the next page; null at the end */
  next: Place | null;
  /** whether the transcript has more than RECORDS_MAX records */
  isCut: boolean;
}

export const START: Place = { offset: 0, skipped: 0, before: 0 };

const CURSOR = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/;

/** @throws DomainError `sessions.invalid` */
export function readCursor(text: string | undefined): Place {
  if (text === undefined) return START;
  const [offset, skipped, before] = (CURSOR.exec(text) ?? []).slice(1).map(Number);
  if (offset === undefined || skipped === undefined || before === undefined) throw wrongCursor();
  return { offset, skipped, before };
}

/** @returns the cursor of a page, for `readCursor` */
export const cursorOf = ({ offset, skipped, before }: Place): string => `${offset}.${skipped}.${before}`;

export function wrongCursor(): DomainError {
  const detail = "cursor must be the next_cursor of an earlier page of this version";
  return new DomainError("invalid", "sessions.invalid", detail, {
    problems: [{ pointer: "/cursor", detail }],
    hint: "begin with the first page",
  });
}

/** @param why ends the sentence "the transcript cannot be shown: …" */
export const noTranscript = (why: string): DomainError =>
  new DomainError("unverified", "sessions.no_transcript", `the transcript cannot be shown: ${why}`, {
    hint: "download the session; its bytes are unchanged",
  });
