// Cuts long lists out of a JSON text while it arrives, in slices of whole elements, so that the whole text and all of its values
// are never in memory. In the rest of the text a placeholder replaces each list. Callers parse the slices and the rest, which shows
// whether both are valid.
import { endOfString } from "./names.ts";

/** Characters of a slice; parsing it takes about a millisecond. A shorter list stays in the rest. */
export const SLICE_CHARACTERS = 64 * 1024;
/** Maximum characters of one element of a wanted list, or of one string outside these lists. */
export const PART_CHARACTERS_MAX = 64 * 1024;
/** A longer name is not compared. */
const NAME_CHARACTERS = 128;

const [QUOTE, COMMA, COLON] = [0x22, 0x2c, 0x3a];
const SPACE = 0x20;
const [OPEN_LIST, CLOSE_LIST] = [0x5b, 0x5d];
const [OPEN_OBJECT, CLOSE_OBJECT] = [0x7b, 0x7d];

/** Some elements of a long list. */
export interface ListSlice {
  /** number of the list, from 0 */
  list: number;
  /** as for `isWanted` */
  depth: number;
  /** the elements and the commas between them */
  text: string;
  /** number of elements if the text is valid */
  count: number;
  /** index of the slice in the whole text */
  at: number;
}

/**
 * `part`: an element or string is longer than PART_CHARACTERS_MAX. `rest`: the text outside the long lists is too long. `end`:
 * a list does not end with a bracket.
 */
export type LongListProblem = "part" | "rest" | "end";

export interface LongListOptions {
  /**
   * @param name as it is written between its quotes
   * @param depth nesting levels of its object, 1 for the outermost one
   */
  isWanted(name: string, depth: number): boolean;
  /** limit on the characters outside the long lists */
  restMax: number;
  errorOf(problem: LongListProblem): Error;
}

/** A wanted list whose end has not arrived; indexes refer to the buffered text. */
interface OpenList {
  /** the bracket */
  at: number;
  /** the next slice */
  from: number;
  /** the current element */
  element: number;
  /** elements before the current one in the next slice */
  count: number;
  /** open levels within the list */
  open: number;
  isLong: boolean;
}

/** One text. */
export class LongLists {
  /** prefix of the JSON string that replaces a list, before the number of the list */
  readonly placeholder: string = crypto.randomUUID();
  /** the buffered text and its index in the whole text; the indexes below refer to the buffered text */
  #text = "";
  #textAt = 0;
  /** the next token */
  #at = 0;
  /** where the search for the end of an unfinished string continues */
  #lookFrom = 0;
  /** everything before is in the rest or in a slice */
  #kept = 0;
  readonly #rest: string[] = [];
  #restCharacters = 0;
  #depth = 0;
  /** the last token before a possible colon, if it was a string */
  #name: string | undefined;
  #list: OpenList | undefined;
  #longLists = 0;

  constructor(private readonly options: LongListOptions) {}

  /**
   * @param piece the next part of the text
   * @returns the slices that it completes
   * @throws errors of the options
   */
  *add(piece: string): Generator<ListSlice> {
    this.#text += piece;
    while (this.#list || this.#findList()) {
      const list = this.#list;
      if (!list) continue;
      if (!this.#passElements(list)) break;
      const isEnd = this.#text.charCodeAt(this.#at) === CLOSE_LIST;
      if (list.isLong || !isEnd) yield this.#cut(list);
      if (isEnd) this.#list = undefined;
      this.#at += 1;
    }
    this.#release();
  }

  /** @returns the text outside the long lists that arrived so far, except for the last token and a wanted list without an end */
  rest(): string {
    return this.#rest.join("");
  }

  /** @returns the whole rest, after the last piece @throws errors of the options */
  end(): string {
    if (this.#list) throw this.options.errorOf("end");
    return this.rest() + this.#text;
  }

  /** Stops after the bracket of a wanted list. @returns false if there is none up to the end of the text */
  #findList(): boolean {
    const text = this.#text;
    for (let at = this.#at; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code <= SPACE || code === COLON) continue;
      const name = this.#name;
      this.#name = undefined;
      if (code === QUOTE) {
        const end = endOfString(text, at, Math.max(at + 1, this.#lookFrom));
        this.#lookFrom = end;
        this.#at = at;
        this.#refuseLong(end - at - 1);
        if (end === text.length) return false;
        if (end - at <= NAME_CHARACTERS) this.#name = text.slice(at + 1, end);
        at = end;
      } else if (code === OPEN_LIST && name !== undefined && this.options.isWanted(name, this.#depth)) {
        this.#list = { at, from: at + 1, element: at + 1, count: 0, open: 0, isLong: false };
        this.#at = at + 1;
        return true;
      } else if (code === OPEN_LIST || code === OPEN_OBJECT) this.#depth += 1;
      else if (code === CLOSE_LIST || code === CLOSE_OBJECT) this.#depth -= 1;
    }
    this.#at = text.length;
    return false;
  }

  /** Stops at the end of the next slice, or of the list. @returns false if it has not arrived */
  #passElements(list: OpenList): boolean {
    const text = this.#text;
    let { open, element } = list;
    let at = this.#at;
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        const end = endOfString(text, at);
        if (end === text.length) break;
        at = end;
      } else if (code === OPEN_OBJECT || code === OPEN_LIST) open += 1;
      else if ((code === CLOSE_OBJECT || code === CLOSE_LIST) && open > 0) open -= 1;
      else if (open === 0 && (code === COMMA || code === CLOSE_LIST || code === CLOSE_OBJECT)) {
        this.#refuseLong(at - element);
        if (code === CLOSE_OBJECT) throw this.options.errorOf("end");
        list.count += 1;
        element = at + 1;
        if (code === CLOSE_LIST || at - list.from >= SLICE_CHARACTERS) break;
      }
    }
    this.#at = at;
    Object.assign(list, { open, element });
    return at === element - 1;
  }

  #refuseLong(characters: number): void {
    if (characters > PART_CHARACTERS_MAX) throw this.options.errorOf("part");
  }

  /** @returns the slice up to `#at` */
  #cut(list: OpenList): ListSlice {
    if (!list.isLong) {
      this.#keep(list.at);
      this.#rest.push(`"${this.placeholder}${this.#longLists}"`);
      this.#longLists += 1;
      list.isLong = true;
    }
    const { from, count } = list;
    list.from = this.#at + 1;
    list.count = 0;
    this.#kept = list.from;
    const text = this.#text.slice(from, this.#at);
    return { list: this.#longLists - 1, depth: this.#depth, text, count, at: this.#textAt + from };
  }

  #keep(end: number): void {
    this.#rest.push(this.#text.slice(this.#kept, end));
    this.#restCharacters += end - this.#kept;
    this.#kept = end;
  }

  /** Releases what is no longer needed. */
  #release(): void {
    const list = this.#list;
    if (list) this.#refuseLong(this.#text.length - list.element);
    if (!list?.isLong) this.#keep(list ? list.at : this.#at);
    const passed = this.#kept;
    this.#text = this.#text.slice(passed);
    this.#textAt += passed;
    this.#at -= passed;
    this.#lookFrom -= passed;
    this.#kept = 0;
    if (list) {
      list.at -= passed;
      list.from -= passed;
      list.element -= passed;
    }
    const held = list ? 0 : this.#text.length; // a list that turns out to be short is counted later
    if (this.#restCharacters + held > this.options.restMax) throw this.options.errorOf("rest");
  }
}
