// Reads the members of untyped JSON objects. Each read reports problems in plain words and returns only usable values, so that
// validation can continue and find the remaining problems. Rules of packages and policies are elsewhere.

import { closest, distance } from "fastest-levenshtein";
import { pointerOf } from "../errors.ts";
import { isJsonObject } from "../json/json-object.ts";
import { type ProblemList, quoted } from "./problem-list.ts";

/** limit for member names and for keys of open maps: platforms, helper commands, variables */
export const KEY_CHARACTERS_MAX = 128;

export interface Place {
  readonly value: unknown;
  /** RFC 6901 */
  readonly pointer: string;
}

/** A key that would set the prototype instead of a member; always rejected, whatever a schema allows. */
export const PROTOTYPE_KEY = "__proto__";
export const RESERVED_KEY = "is a reserved key; choose another";

/** UTF-8 replaces half a surrogate pair with another character, and many programs end a text at a NUL. */
export const NOT_UNICODE = "must be Unicode text without NUL";

/** @returns whether every program can handle the text */
export const isUnicodeText = (text: string): boolean => !text.includes("\0") && text.isWellFormed();

const CONTROL_CHARACTER = /\p{Cc}/u;

/** @returns the JSON type of the value, for a message */
export const jsonTypeOf = (value: unknown): string => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  if (typeof value === "string") return "a text";
  return typeof value === "boolean" ? "true or false" : "a number";
};

/** @returns a message for an unknown member, with the nearest known name; takes quadratic time in the length of the name */
export const unknownMember = (name: string, known: readonly string[]): string => {
  if (name.length > KEY_CHARACTERS_MAX || known.length === 0) return "is not a known member";
  const nearest = closest(name, known);
  return distance(name, nearest) <= Math.max(2, name.length / 3)
    ? `is not a known member; did you mean ${nearest}?`
    : `is not a known member; allowed here are ${known.join(", ")}`;
};

/** Reports a key that is never allowed in a map. @returns whether the key is allowed */
const isUsableKey = (problems: ProblemList, object: Place, key: string): boolean => {
  if (key.length === 0 || key.length > KEY_CHARACTERS_MAX) {
    problems.add(
      object.pointer,
      `has a key of ${key.length} characters; a key has 1 to ${KEY_CHARACTERS_MAX} characters`,
    );
    return false;
  }
  if (key !== PROTOTYPE_KEY && isUnicodeText(key)) return true;
  const detail = key === PROTOTYPE_KEY ? RESERVED_KEY : `the key ${NOT_UNICODE}`;
  problems.add(object.pointer + pointerOf([key]), detail);
  return false;
};

/** One object of the input. */
export class ObjectReader {
  readonly #members: Record<string, unknown>;

  private constructor(
    readonly place: Place,
    members: Record<string, unknown>,
    readonly problems: ProblemList,
  ) {
    this.#members = members;
  }

  /** Reports a value that is not an object, and every unknown member. @returns undefined for a value that is not an object */
  static read(place: Place, problems: ProblemList, known: readonly string[]): ObjectReader | undefined {
    if (!isJsonObject(place.value)) {
      problems.add(place.pointer, `must be an object, not ${jsonTypeOf(place.value)}`);
      return undefined;
    }
    for (const name of Object.keys(place.value)) {
      if (known.includes(name) || !isUsableKey(problems, place, name)) continue;
      const detail = problems.isFull ? "" : unknownMember(name, known);
      problems.add(place.pointer + pointerOf([name]), detail);
    }
    return new ObjectReader(place, place.value, problems);
  }

  /** Reports a problem with the object, or with one of its members. */
  report(detail: string, name?: string): void {
    this.problems.add(name === undefined ? this.place.pointer : this.at(name), detail);
  }

  /** @returns the pointer of a member, whether it exists or not */
  at(name: string): string {
    return `${this.place.pointer}/${name}`;
  }

  /** @returns whether the member exists and is not null */
  has(name: string): boolean {
    return this.value(name) != null;
  }

  value(name: string): unknown {
    return Object.hasOwn(this.#members, name) ? this.#members[name] : undefined;
  }

  /** Treats null as absent. @returns one line of text within the limit; undefined if absent or invalid */
  text(name: string, charactersMax: number): string | undefined {
    return this.has(name)
      ? readText({ value: this.value(name), pointer: this.at(name) }, this.problems, charactersMax)
      : undefined;
  }

  /** Like `text`, but reports an absent member. */
  requiredText(name: string, charactersMax: number): string | undefined {
    if (!this.has(name)) this.report("is missing", name);
    return this.text(name, charactersMax);
  }

  /** Treats null as absent. @returns undefined if absent or invalid */
  flag(name: string): boolean | undefined {
    const value = this.value(name);
    if (value == null || typeof value === "boolean") return value ?? undefined;
    this.report(`must be true or false, not ${jsonTypeOf(value)}`, name);
    return undefined;
  }

  /** Treats null as absent. @returns a whole number within the inclusive bounds; undefined if absent or invalid */
  integer(name: string, { min, max }: { min: number; max: number }): number | undefined {
    const value = this.value(name);
    if (value == null) return undefined;
    if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
    const found = typeof value === "number" ? value : jsonTypeOf(value);
    this.report(`must be a whole number from ${min} to ${max}, not ${found}`, name);
    return undefined;
  }

  /** @returns the entries of an open map in order; none if absent or invalid */
  entries(name: string, countMax: number): [key: string, Place][] {
    const value = this.value(name);
    if (value === undefined) return [];
    if (!isJsonObject(value)) {
      this.report(`must be an object, not ${jsonTypeOf(value)}`, name);
      return [];
    }
    const keys = Object.keys(value);
    if (keys.length > countMax) {
      this.report(`holds ${keys.length} entries; the limit is ${countMax}`, name);
      return [];
    }
    const map = { value, pointer: this.at(name) };
    return keys
      .filter((key) => isUsableKey(this.problems, map, key))
      .map((key) => [key, { value: value[key], pointer: map.pointer + pointerOf([key]) }]);
  }

  /** @returns the items of a list in order; none if absent or invalid */
  items(name: string, countMax: number): Place[] {
    const value = this.value(name);
    if (value === undefined) return [];
    if (!Array.isArray(value)) {
      this.report(`must be a list, not ${jsonTypeOf(value)}`, name);
      return [];
    }
    if (value.length > countMax) {
      this.report(`holds ${value.length} entries; the limit is ${countMax}`, name);
      return [];
    }
    return value.map((item: unknown, index) => ({ value: item, pointer: `${this.at(name)}/${index}` }));
  }
}

/** Reports invalid text. @returns one line of text within the limit of UTF-16 units; undefined if invalid */
export const readText = (place: Place, problems: ProblemList, charactersMax: number): string | undefined => {
  const { value, pointer } = place;
  if (typeof value !== "string") {
    problems.add(pointer, `must be a text, not ${jsonTypeOf(value)}${quoteHint(value)}`);
    return undefined;
  }
  if (value.length > charactersMax) {
    problems.add(pointer, `has ${value.length} characters; the limit is ${charactersMax}`);
    return undefined;
  }
  if (CONTROL_CHARACTER.test(value) || !value.isWellFormed()) {
    problems.add(pointer, `must be one line without control characters, not ${quoted(value)}`);
    return undefined;
  }
  return value;
};

/** Suggests quotes for a version or digest that YAML parses as a number, such as 1.2. */
const quoteHint = (value: unknown): string =>
  typeof value === "number" || typeof value === "boolean" ? "; write it in quotes" : "";
