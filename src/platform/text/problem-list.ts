// Collects the problems of an input, but keeps only as many as a person can read.

import type { Problem } from "../errors.ts";

export const PROBLEMS_MAX = 100;
/** Maximum characters of the input in one message. */
export const QUOTE_CHARACTERS_MAX = 60;

/** Maximum characters of the input in one error. */
export const EXCERPT_CHARACTERS_MAX = 200;

/** @returns the text, shortened with an ellipsis if it exceeds the limit */
export const excerpt = (text: string, charactersMax: number = EXCERPT_CHARACTERS_MAX): string =>
  text.length > charactersMax ? `${text.slice(0, charactersMax - 1).toWellFormed()}…` : text;

/** A place in a text. */
export type Position = Pick<Problem, "line" | "column">;

/** Keeps the first problems in order and counts the rest. */
export class ProblemList {
  readonly #kept: Problem[] = [];
  #count = 0;

  /** number of all problems, including those beyond the limit */
  get count(): number {
    return this.#count;
  }

  /** whether further problems are only counted, so that callers can skip an expensive message */
  get isFull(): boolean {
    return this.#kept.length >= PROBLEMS_MAX;
  }

  /** @param position in a file, for a problem without a pointer */
  add(pointer: string, detail: string, position: Position = {}): void {
    this.#count += 1;
    if (!this.isFull) this.#kept.push({ pointer, detail, ...position });
  }

  /** @returns at most PROBLEMS_MAX problems, followed by one that counts the omitted ones */
  list(): Problem[] {
    const more = this.#count - this.#kept.length;
    return more === 0 ? [...this.#kept] : [...this.#kept, { pointer: "", detail: `and ${more} more` }];
  }
}

/** @returns the text for a message: in quotes, shortened, with control characters escaped */
export const quoted = (text: string): string =>
  JSON.stringify(
    text.length > QUOTE_CHARACTERS_MAX ? `${text.slice(0, QUOTE_CHARACTERS_MAX)}…` : text,
  ).replace(/[\u007f-\u009f]/g, (control) => `\\u00${control.charCodeAt(0).toString(16)}`);
