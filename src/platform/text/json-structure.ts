// Checks JSON text before it is parsed: depth, number of values, and duplicate names. A rejected text is never turned into
// objects. The text may be malformed; JSON.parse reports that.

import { pointerOf } from "../errors.ts";
import type { Steps } from "../steps.ts";
import { endOfString, NameTable, stringAt } from "./json-names.ts";

/** Maximum members of one object, in JSON and YAML: the runtime is slow with very large objects. */
export const OBJECT_MEMBERS_MAX = 10_000;

/** Maximum distinct member names in one text, in JSON and YAML: the runtime is slow with very many object shapes. */
export const DIFFERENT_NAMES_MAX = 30_000;
/** Maximum characters of one name in its escaped form, in JSON and YAML. */
export const NAME_CHARACTERS_MAX = 4_096;
/** Maximum characters of a number. */
export const NUMBER_CHARACTERS_MAX = 1_024;

export interface JsonLimits {
  /** nesting levels of objects and lists */
  depthMax: number;
  /** scalars, objects, lists and member names */
  valuesMax: number;
  /** names of one object that differ only in case are duplicates */
  foldsCase?: boolean;
  /** of a part of a larger text: what counts against the limits already */
  before?: JsonCounts;
}

/** What counts against limits. */
interface JsonCounts {
  /** nesting levels around the text */
  depth: number;
  /** scalars, objects, lists and member names */
  values: number;
  /** different member names; those of several parts are added up */
  names: number;
}

/**
 * `duplicate`: `at` is the index of the opening quote of the second name. `syntax`: `at` is the index of a character that
 * cannot begin a value.
 */
export type JsonViolation =
  | { kind: "depth" | "values" | "members" | "names" | "name" | "number" }
  | { kind: "duplicate" | "syntax"; at: number };

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const [OPEN_LIST, CLOSE_LIST] = [0x5b, 0x5d];
const [OPEN_OBJECT, CLOSE_OBJECT] = [0x7b, 0x7d];
const SPACE = 0x20;
const LIST = 0;
/** first characters of numbers, `true`, `false` and `null` */
const SCALAR_STARTS = "-0123456789tfn";

/** Characters of one slice; scanning them takes about a millisecond. */
const SLICE_CHARACTERS = 128 * 1024;

/** @returns the first violation in the text; takes linear time for any text */
export function findViolation(text: string, limits: JsonLimits): JsonViolation | undefined {
  const search = new FlawSearch(text, limits);
  search.scanUntil(text.length);
  return search.flaw;
}

/** The same, with what counts against the limits before the next part of the larger text. */
export function measureJson(
  text: string,
  limits: JsonLimits,
): { flaw: JsonViolation | undefined; values: number; names: number } {
  const search = new FlawSearch(text, limits);
  search.scanUntil(text.length);
  return { flaw: search.flaw, ...search.counts };
}

/** `findViolation` for a long text, in slices between which the caller may do other work. */
export function* findViolationInSteps(
  text: string,
  limits: JsonLimits,
  sliceCharacters = SLICE_CHARACTERS,
): Steps<JsonViolation | undefined> {
  const search = new FlawSearch(text, limits);
  for (let end = sliceCharacters; search.scanUntil(end); end += sliceCharacters) yield;
  return search.flaw;
}

const NOTHING: JsonCounts = { depth: 0, values: 0, names: 0 };

class FlawSearch {
  flaw: JsonViolation | undefined;
  #at = 0;
  #values: number;
  #objects = 0;
  #inObject = LIST;
  #isNameNext = false;
  readonly #names: NameTable;
  readonly #before: JsonCounts;
  /** LIST, or the number of the object */
  readonly #open: number[] = [];
  /** number of members of each open object */
  readonly #members: number[] = [];

  constructor(
    private readonly text: string,
    private readonly limits: JsonLimits,
  ) {
    this.#before = limits.before ?? NOTHING;
    this.#values = this.#before.values;
    this.#names = new NameTable(text, limits.foldsCase ?? false);
  }

  get counts(): Pick<JsonCounts, "values" | "names"> {
    return { values: this.#values, names: this.#before.names + this.#names.size };
  }

  /** Scans the tokens that begin before `end`. @returns whether there is more to scan */
  scanUntil(end: number): boolean {
    this.flaw = this.#search(Math.min(end, this.text.length));
    return this.flaw === undefined && this.#at < this.text.length;
  }

  /** Uses local variables, which is twice as fast as fields. */
  #search(stop: number): JsonViolation | undefined {
    const { text } = this;
    const { valuesMax } = this.limits;
    const depthMax = this.limits.depthMax - this.#before.depth;
    const open = this.#open;
    let [at, values, objects, inObject] = [this.#at, this.#values, this.#objects, this.#inObject];
    let isNameNext = this.#isNameNext;
    for (; at < stop; at += 1) {
      const code = text.charCodeAt(at);
      if (code <= SPACE) continue;
      if (code === COMMA || code === COLON) {
        isNameNext = code === COMMA && inObject !== LIST;
        continue;
      }
      if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
        open.pop();
        this.#members.pop();
        inObject = open.at(-1) ?? LIST;
        continue;
      }
      values += 1;
      if (values > valuesMax) return { kind: "values" };
      if (code === OPEN_LIST || code === OPEN_OBJECT) {
        isNameNext = code === OPEN_OBJECT;
        inObject = isNameNext ? ++objects : LIST;
        open.push(inObject);
        this.#members.push(0);
        if (open.length > depthMax) return { kind: "depth" };
      } else if (code === QUOTE) {
        const end = endOfString(text, at);
        const flaw = isNameNext ? this.#nameViolation(at, { end, object: inObject }) : undefined;
        if (flaw) return flaw;
        at = end;
      } else {
        if (!SCALAR_STARTS.includes(text.charAt(at))) return { kind: "syntax", at };
        const end = endOfScalar(text, at);
        if (end - at >= NUMBER_CHARACTERS_MAX) return { kind: "number" };
        at = end;
      }
    }
    [this.#at, this.#values, this.#objects, this.#inObject] = [at, values, objects, inObject];
    this.#isNameNext = isNameNext;
    return undefined;
  }

  #nameViolation(at: number, { end, object }: { end: number; object: number }): JsonViolation | undefined {
    const count = (this.#members.pop() ?? 0) + 1;
    if (count > OBJECT_MEMBERS_MAX) return { kind: "members" };
    this.#members.push(count);
    if (end - at - 1 > NAME_CHARACTERS_MAX) return { kind: "name" };
    if (this.#names.add(at, object) === "duplicate") return { kind: "duplicate", at };
    return this.#before.names + this.#names.size > DIFFERENT_NAMES_MAX ? { kind: "names" } : undefined;
  }
}

/**
 * @returns the index of the last character of the scalar at `start`, valid or not; the scan stops one character after
 *   NUMBER_CHARACTERS_MAX
 */
function endOfScalar(text: string, start: number): number {
  const limit = Math.min(text.length, start + NUMBER_CHARACTERS_MAX + 1);
  let at = start + 1;
  while (at < limit && !endsScalar(text.charCodeAt(at))) at += 1;
  return at - 1;
}

const endsScalar = (code: number): boolean =>
  code <= SPACE ||
  code === COMMA ||
  code === COLON ||
  code === QUOTE ||
  code === CLOSE_LIST ||
  code === CLOSE_OBJECT ||
  code === OPEN_LIST ||
  code === OPEN_OBJECT;

/** @param at index of the opening quote of a name @returns the RFC 6901 pointer to that member */
export function pointerAt(text: string, at: number): string {
  const path: (string | number)[] = []; // a string in an object, an index in a list
  for (let here = 0; here <= at; here += 1) {
    const code = text.charCodeAt(here);
    const last = path.at(-1);
    if (code === OPEN_LIST || code === OPEN_OBJECT) {
      path.push(code === OPEN_OBJECT ? "" : 0);
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      path.pop();
    } else if (code === COMMA && typeof last === "number") {
      path[path.length - 1] = last + 1;
    } else if (code === QUOTE) {
      if (typeof last === "string") path[path.length - 1] = stringAt(text, here); // until the next name, a value counts as one
      here = endOfString(text, here);
    }
  }
  return pointerOf(path);
}
