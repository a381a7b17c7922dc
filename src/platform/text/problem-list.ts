// Collects everything that is wrong with an input, but keeps only as much as a person can read.

import type { Problem } from "../errors.ts";

export const PROBLEMS_MAX = 100;
const QUOTE_CHARACTERS_MAX = 60;

/** Keeps the first problems in order and counts the rest. */
export class ProblemList {
  readonly #kept: Problem[] = [];
  #count = 0;

  /** every problem found, also those beyond the limit */
  get count(): number {
    return this.#count;
  }

  /** whether further problems are only counted, so that costly advice can be spared */
  get isFull(): boolean {
    return this.#kept.length >= PROBLEMS_MAX;
  }

  /** @param line 1-based, where the input is a file and no pointer leads to the place */
  add(pointer: string, detail: string, line?: number): void {
    this.#count += 1;
    if (this.isFull) return;
    this.#kept.push(line === undefined ? { pointer, detail } : { pointer, detail, line });
  }

  /** @returns at most PROBLEMS_MAX problems, closed by one line that says how many more there are */
  list(): Problem[] {
    const more = this.#count - this.#kept.length;
    return more === 0 ? [...this.#kept] : [...this.#kept, { pointer: "", detail: `and ${more} more` }];
  }
}

/** @returns the text in quotes, shortened, with control characters escaped, fit for a message */
export const quoted = (text: string): string =>
  JSON.stringify(
    text.length > QUOTE_CHARACTERS_MAX ? `${text.slice(0, QUOTE_CHARACTERS_MAX)}…` : text,
  ).replace(/[\u007f-\u009f]/g, (control) => `\\u00${control.charCodeAt(0).toString(16)}`);
