// Checks JSON text before it is parsed: depth, number of values, and duplicate names. A rejected text is never turned into
// objects. The text may be malformed; JSON.parse reports that.

import { pointerOf } from "../errors.ts";
import type { Steps } from "../steps.ts";
import { endOfString, stringAt } from "./names.ts";
import { LARGE_OBJECT_MEMBERS_MAX, OBJECT_SHAPES_MAX, ObjectShapes, OpenObject } from "./shapes.ts";

/** Maximum members of one object, in JSON and YAML: the runtime is slow with very large objects. */
export const OBJECT_MEMBERS_MAX = 10_000;
/** Maximum characters of one name in its escaped form, in JSON and YAML. */
export const NAME_CHARACTERS_MAX = 4_096;
/** Maximum characters of a number. */
export const NUMBER_CHARACTERS_MAX = 1_024;
/**
 * A list longer than this many times its maximum ends the scan as a violation. A list that exceeds its maximum by less is
 * reported together with all other problems of the body.
 */
export const LIST_EXCESS_MAX = 2;

export interface JsonLimits {
  /** nesting levels of objects and lists */
  depthMax: number;
  /** scalars, objects, lists and member names */
  valuesMax: number;
  /** maximum length of lists that are members of the outermost object, by name; other lists have no limit of their own */
  listsMax?: ReadonlyMap<string, number>;
  /** names of one object that differ only in case are duplicates */
  foldsCase?: boolean;
  /** for a part of a larger text: the counts of the preceding parts */
  before?: JsonCounts;
}

/** Counters that are compared with the limits. */
interface JsonCounts {
  /** nesting levels around the text */
  depth: number;
  /** scalars, objects, lists and member names */
  values: number;
  /** shapes of objects, added up over the parts */
  shapes: number;
  /** members of large objects */
  largeObjectMembers: number;
}

type LimitKind = "depth" | "values" | "members" | "shapes" | "largeObjects" | "name" | "number";

/**
 * `at` is the index of the value, or of the opening quote of the name, that violates the limit; of the second of two duplicate
 * names; or of a character that cannot begin a value. `list`: the member `name` of the outermost object has more than
 * LIST_EXCESS_MAX times `elementsMax` elements.
 */
export type JsonViolation =
  | { kind: LimitKind | "duplicate" | "syntax"; at: number }
  | { kind: "list"; name: string; elementsMax: number };

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const [OPEN_LIST, CLOSE_LIST] = [0x5b, 0x5d];
const [OPEN_OBJECT, CLOSE_OBJECT] = [0x7b, 0x7d];
const SPACE = 0x20;
/** first characters of numbers, `true`, `false` and `null` */
const SCALAR_STARTS = "-0123456789tfn";

/** Characters of one piece; scanning it takes about a millisecond, and parsing it a few. */
const PIECE_CHARACTERS = 64 * 1024;

/** A place to cut a long text: before a comma within a list or an object. */
export interface JsonCut {
  /** index of the comma */
  at: number;
  /**
   * The lists and objects that are open there, outermost first: null for a list, the index of the opening quote of its last
   * name for an object.
   */
  open: readonly (number | null)[];
}

/** @returns the first violation in the text; takes linear time for any text */
export function findViolation(text: string, limits: JsonLimits): JsonViolation | undefined {
  const search = new FlawSearch(text, limits);
  search.scanUntil(text.length);
  return search.flaw;
}

/** @returns every name that is too long or a duplicate, and the first other violation, which ends the scan */
export function findViolations(text: string, limits: JsonLimits): JsonViolation[] {
  const found: JsonViolation[] = [];
  const search = new FlawSearch(text, limits, (flaw) => {
    const isName = flaw.kind === "duplicate" || flaw.kind === "name";
    if (isName) found.push(flaw);
    return isName;
  });
  search.scanUntil(text.length);
  return search.flaw ? [...found, search.flaw] : found;
}

/** The same, with the counts that apply to the next part of the larger text. */
export function measureJson(
  text: string,
  limits: JsonLimits,
): { flaw: JsonViolation | undefined; counts: Omit<JsonCounts, "depth"> } {
  const search = new FlawSearch(text, limits);
  search.scanUntil(text.length);
  return { flaw: search.flaw, counts: search.counts };
}

/** `findViolation` for a long text, in steps of one piece, which also finds places to cut it. */
export function* findViolationInSteps(
  text: string,
  limits: JsonLimits,
  pieceCharacters = PIECE_CHARACTERS,
): Steps<{ flaw: JsonViolation | undefined; cuts: JsonCut[] }> {
  const search = new FlawSearch(text, limits);
  const cuts: JsonCut[] = [];
  for (let end = pieceCharacters; search.scanUntil(end); ) {
    const { cut } = search;
    cuts.push(cut);
    end = cut.at + pieceCharacters;
    yield;
  }
  return { flaw: search.flaw, cuts };
}

const NOTHING: JsonCounts = { depth: 0, values: 0, shapes: 0, largeObjectMembers: 0 };

class FlawSearch {
  flaw: JsonViolation | undefined;
  #at = 0;
  #values: number;
  #isInObject = false;
  #isNameNext = false;
  /** the last list that is a member of the outermost object, its limit, and its commas so far */
  #list = { name: "", elementsMax: Infinity, commas: 0 };
  readonly #shapes: ObjectShapes;
  readonly #before: JsonCounts;
  /** undefined for a list */
  readonly #open: (OpenObject | undefined)[] = [];

  constructor(
    private readonly text: string,
    private readonly limits: JsonLimits,
    /** @returns whether the scan continues after the violation */
    private readonly goesOn: (flaw: JsonViolation) => boolean = () => false,
  ) {
    this.#before = limits.before ?? NOTHING;
    this.#values = this.#before.values;
    this.#shapes = new ObjectShapes(text, limits.foldsCase ?? false);
  }

  get counts(): Omit<JsonCounts, "depth"> {
    return {
      values: this.#values,
      shapes: this.#before.shapes + this.#shapes.size,
      largeObjectMembers: this.#before.largeObjectMembers + this.#shapes.largeObjectMembers,
    };
  }

  get cut(): JsonCut {
    return { at: this.#at, open: this.#open.map((object) => object?.lastName ?? null) };
  }

  /** Scans up to the first possible cut at or after `end`. @returns whether there is more to scan */
  scanUntil(end: number): boolean {
    this.flaw = this.#search(end);
    return this.flaw === undefined && this.#at < this.text.length;
  }

  /** Uses local variables, which is twice as fast as fields. */
  #search(stop: number): JsonViolation | undefined {
    const { text } = this;
    const { valuesMax } = this.limits;
    const depthMax = this.limits.depthMax - this.#before.depth;
    const open = this.#open;
    let [at, values, isInObject] = [this.#at, this.#values, this.#isInObject];
    let isNameNext = this.#isNameNext;
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code <= SPACE) continue;
      if (code === COMMA || code === COLON) {
        if (at >= stop && code === COMMA && open.length > 0 && !isFirst(text, at)) break;
        isNameNext = code === COMMA && isInObject;
        if (open.length === 2 && code === COMMA && !isInObject && this.#isListFull()) {
          const { name, elementsMax } = this.#list;
          return { kind: "list", name, elementsMax };
        }
        continue;
      }
      if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
        open.pop();
        isInObject = open.at(-1) !== undefined;
        continue;
      }
      values += 1;
      if (values > valuesMax) return { kind: "values", at };
      if (code === OPEN_LIST || code === OPEN_OBJECT) {
        isNameNext = code === OPEN_OBJECT;
        isInObject = isNameNext;
        if (open.length === 1 && !isInObject) this.#beginList(open[0]);
        open.push(isInObject ? new OpenObject() : undefined);
        if (open.length > depthMax) return { kind: "depth", at };
      } else if (code === QUOTE) {
        const end = endOfString(text, at);
        const object = isNameNext ? open.at(-1) : undefined;
        const flaw = object && this.#nameViolation(at, { end, object });
        if (flaw && !this.goesOn(flaw)) return flaw;
        at = end;
      } else {
        if (!SCALAR_STARTS.includes(text.charAt(at))) return { kind: "syntax", at };
        const end = endOfScalar(text, at);
        if (end - at >= NUMBER_CHARACTERS_MAX) return { kind: "number", at };
        at = end;
      }
    }
    [this.#at, this.#values, this.#isInObject] = [at, values, isInObject];
    this.#isNameNext = isNameNext;
    return undefined;
  }

  /** @param object the outermost one; undefined for a list */
  #beginList(object: OpenObject | undefined): void {
    const { listsMax } = this.limits;
    const name = object && listsMax ? stringAt(this.text, object.lastName) : "";
    this.#list = { name, elementsMax: listsMax?.get(name) ?? Infinity, commas: 0 };
  }

  /** Counts a comma. @returns whether LIST_EXCESS_MAX times the maximum number of elements precede it */
  #isListFull(): boolean {
    this.#list.commas += 1;
    return this.#list.commas >= LIST_EXCESS_MAX * this.#list.elementsMax;
  }

  #nameViolation(
    at: number,
    { end, object }: { end: number; object: OpenObject },
  ): JsonViolation | undefined {
    if (object.members === OBJECT_MEMBERS_MAX) return { kind: "members", at };
    if (end - at - 1 > NAME_CHARACTERS_MAX) return { kind: "name", at };
    const [shapes, before] = [this.#shapes, this.#before];
    if (!shapes.add(at, object)) return { kind: "duplicate", at };
    if (before.shapes + shapes.size > OBJECT_SHAPES_MAX) return { kind: "shapes", at };
    const isTooLarge = before.largeObjectMembers + shapes.largeObjectMembers > LARGE_OBJECT_MEMBERS_MAX;
    return isTooLarge ? { kind: "largeObjects", at } : undefined;
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

/** @param at index of a comma @returns whether nothing is between it and the bracket before it: a malformed text */
function isFirst(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) <= SPACE) before -= 1;
  return text.charCodeAt(before) === OPEN_LIST || text.charCodeAt(before) === OPEN_OBJECT;
}

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
