// Checks JSON text before it is parsed: depth, number of values, and names that an object has twice. What is refused here
// never becomes objects. The text may be malformed; that is for JSON.parse to find.
import { pointerOf } from "./errors.ts";
import { endOfString, NameTable, stringAt } from "./json-names.ts";

/** Members of one object at most, in JSON and YAML: the runtime takes long over objects with very many. */
export const OBJECT_MEMBERS_MAX = 10_000;

/** Different names of members in one text, in JSON and YAML: the runtime takes long to make objects of very many shapes. */
export const DIFFERENT_NAMES_MAX = 30_000;
/** Characters of one name, as it is written, in JSON and YAML. */
export const NAME_CHARACTERS_MAX = 4_096;
/** Characters of a number. */
export const NUMBER_CHARACTERS_MAX = 1_024;

export interface JsonLimits {
  /** objects and lists inside each other */
  depthMax: number;
  /** scalars, objects, lists and the names of members */
  valuesMax: number;
  /** two names of one object that differ only by letter case are the same name */
  foldsCase?: boolean;
}

/**
 * `duplicate`: `at` is the index of the opening quote of the second of two equal names. `syntax`: `at` is the index of the
 * character that cannot begin a value.
 */
export type JsonFlaw =
  | { kind: "depth" | "values" | "members" | "names" | "name" | "number" }
  | { kind: "duplicate" | "syntax"; at: number };

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const [OPEN_LIST, CLOSE_LIST] = [0x5b, 0x5d];
const [OPEN_OBJECT, CLOSE_OBJECT] = [0x7b, 0x7d];
const SPACE = 0x20;
const LIST = 0;
/** of numbers, `true`, `false` and `null` */
const SCALAR_STARTS = "-0123456789tfn";

/** @returns the first flaw in the order of the text; takes time in proportion to the text, whatever is in it */
export function findFlaw(text: string, limits: JsonLimits): JsonFlaw | undefined {
  const { depthMax, valuesMax, foldsCase = false } = limits;
  const names = new NameTable(text, foldsCase);
  const open: number[] = []; // LIST, or the number of the object
  const members: number[] = []; // of each open object
  let values = 0;
  let objects = 0;
  let inObject = LIST;
  let isNameNext = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code <= SPACE) continue;
    if (code === COMMA || code === COLON) {
      isNameNext = code === COMMA && inObject !== LIST;
      continue;
    }
    if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      open.pop();
      members.pop();
      inObject = open.at(-1) ?? LIST;
      continue;
    }
    values += 1;
    if (values > valuesMax) return { kind: "values" };
    if (code === OPEN_LIST || code === OPEN_OBJECT) {
      isNameNext = code === OPEN_OBJECT;
      inObject = isNameNext ? ++objects : LIST;
      open.push(inObject);
      members.push(0);
      if (open.length > depthMax) return { kind: "depth" };
    } else if (code === QUOTE) {
      if (isNameNext) {
        const count = (members.pop() ?? 0) + 1;
        if (count > OBJECT_MEMBERS_MAX) return { kind: "members" };
        members.push(count);
        const end = endOfString(text, at);
        if (end - at - 1 > NAME_CHARACTERS_MAX) return { kind: "name" };
        if (names.add(at, inObject) === "duplicate") return { kind: "duplicate", at };
        if (names.size > DIFFERENT_NAMES_MAX) return { kind: "names" };
        at = end;
      } else {
        at = endOfString(text, at);
      }
    } else {
      if (!SCALAR_STARTS.includes(text.charAt(at))) return { kind: "syntax", at };
      const end = endOfScalar(text, at);
      if (end - at >= NUMBER_CHARACTERS_MAX) return { kind: "number" };
      at = end;
    }
  }
  return undefined;
}

/**
 * @returns the index of the last character of a number, `true`, `false`, `null`, or of what stands in their place; it looks
 *   no further than at the first character that is too many for a number
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
  const path: (string | number)[] = [];
  let isNameNext = false; // where a name is next, the path ends with a text
  for (let here = 0; here <= at; here += 1) {
    const code = text.charCodeAt(here);
    if (code === OPEN_LIST || code === OPEN_OBJECT) {
      isNameNext = code === OPEN_OBJECT;
      path.push(isNameNext ? "" : 0);
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      path.pop();
    } else if (code === COLON) {
      isNameNext = false;
    } else if (code === COMMA) {
      const last = path.at(-1);
      isNameNext = typeof last === "string";
      if (typeof last === "number") path[path.length - 1] = last + 1;
    } else if (code === QUOTE) {
      if (isNameNext) path[path.length - 1] = stringAt(text, here);
      here = endOfString(text, here);
    }
  }
  return pointerOf(path);
}
