// The types of settings. Each parses text (flag, environment, secret file) or a YAML value, or describes valid values.
// Messages never repeat the rejected value: it may be a misplaced secret. Network addresses are in config/addresses.ts.

import { resolve } from "node:path";
import { isJsonObject } from "../json/json-object.ts";
import { Secret } from "../secret.ts";

/** The value and its printable text, or a description of valid values ("must be ..."). */
type Reading<T> = { readonly value: T; readonly text: string } | { readonly wrong: string };

export interface SettingType<T> {
  /** follows the flag in help texts */
  readonly placeholder: string;
  /** the values to choose from, if the placeholder is too short to list them */
  readonly choices?: readonly string[];
  /** `folder` is absolute; relative paths are resolved against it */
  readonly read: (raw: unknown, folder: string) => Reading<T>;
}

export const TEXT_LENGTH_MAX = 200;
export const PATH_BYTES_MAX = 4095;
export const EMAIL_LENGTH_MAX = 254;
export const LIST_ITEMS_MAX = 256;
export const MAP_ENTRIES_MAX = 1000;

const EMAIL = /^[^\s@<>,;]+@[^\s@<>,;]+$/;
const TRUE = new Set(["1", "true", "yes", "on"]);
const FALSE = new Set(["0", "false", "no", "off"]);

/** @returns the trimmed text of a scalar; undefined for lists, mappings and null */
export const scalarText = (raw: unknown): string | undefined =>
  typeof raw === "string" || typeof raw === "number" || typeof raw === "boolean"
    ? String(raw).trim()
    : undefined;

/** One line of text, 1 to TEXT_LENGTH_MAX characters. An unquoted YAML number is rejected: `007` would lose its zeros. */
export const text: SettingType<string> = {
  placeholder: "text",
  read: (raw) => {
    const value = typeof raw === "string" ? raw.trim() : "";
    return value === "" || value.length > TEXT_LENGTH_MAX || /\p{Cc}/u.test(value)
      ? {
          wrong: `must be one line of text, 1 to ${TEXT_LENGTH_MAX} characters (in the file: put numbers in quotes)`,
        }
      : { value, text: value };
  },
};

/** A file system path, made absolute. The path need not exist. */
export const path: SettingType<string> = {
  placeholder: "path",
  read: (raw, folder) => {
    if (typeof raw !== "string" || raw.trim() === "" || raw.includes("\0"))
      return { wrong: "must be a path" };
    const value = resolve(folder, raw);
    return Buffer.byteLength(value) > PATH_BYTES_MAX
      ? { wrong: `must be a path of at most ${PATH_BYTES_MAX} bytes` }
      : { value, text: value };
  },
};

/** A whole number from min to max, inclusive. */
export const integer = (range: { min: number; max: number }): SettingType<number> => ({
  placeholder: "number",
  read: (raw) => {
    const digits = scalarText(raw) ?? "";
    const value = /^-?\d+$/.test(digits) ? Number(digits) : Number.NaN;
    return value >= range.min && value <= range.max
      ? { value, text: String(value) }
      : { wrong: `must be a whole number from ${range.min} to ${range.max}` };
  },
});

const EXAMPLE_AMOUNT = 12.5;

/** A number from 0 to `max`, inclusive; decimals are allowed. */
export const amount = ({ max }: { max: number }): SettingType<number> => ({
  placeholder: "number",
  read: (raw) => {
    const digits = scalarText(raw) ?? "";
    const value = /^\d+(?:\.\d+)?$/.test(digits) ? Number(digits) : Number.NaN;
    return value <= max
      ? { value, text: String(value) }
      : { wrong: `must be a number from 0 to ${max}, such as ${Math.min(EXAMPLE_AMOUNT, max / 4)}` };
  },
});

/** Text that matches a pattern. `form` completes "must be ...". */
export const pattern = (expression: RegExp, { placeholder, form }: { placeholder: string; form: string }) =>
  ({
    placeholder,
    read: (raw) => {
      const value = scalarText(raw) ?? "";
      return expression.test(value) ? { value, text: value } : { wrong: `must be ${form}` };
    },
  }) satisfies SettingType<string>;

/** 1, true, yes, on, or 0, false, no, off; case-insensitive. */
export const boolean: SettingType<boolean> = {
  placeholder: "yes|no",
  read: (raw) => {
    const word = scalarText(raw)?.toLowerCase() ?? "";
    return TRUE.has(word) || FALSE.has(word)
      ? { value: TRUE.has(word), text: String(TRUE.has(word)) }
      : { wrong: "must be yes or no (also true/false, on/off, 1/0)" };
  },
};

/** One of the given words. */
export const choice = <const Words extends readonly string[]>(
  ...words: Words
): SettingType<Words[number]> => ({
  placeholder: words.join("|"),
  read: (raw) => {
    const given = scalarText(raw);
    const value = words.find((word) => word === given);
    return value === undefined ? { wrong: `must be one of ${words.join(", ")}` } : { value, text: value };
  },
});

/** An e-mail address; case is preserved. Only the syntax is checked. */
export const email: SettingType<string> = {
  placeholder: "email",
  read: (raw) => {
    const value = scalarText(raw) ?? "";
    return EMAIL.test(value) && value.length <= EMAIL_LENGTH_MAX
      ? { value, text: value }
      : {
          wrong: `must be an e-mail address of at most ${EMAIL_LENGTH_MAX} characters`,
        };
  },
};

/** A secret of at least `lengthMin` characters, not trimmed. Its printable text is `set`. */
export const secret = (lengthMin = 1): SettingType<Secret> => ({
  placeholder: "path",
  read: (raw) => {
    if (typeof raw !== "string") return { wrong: "must be text (in the file: put numbers in quotes)" };
    if (raw.trim() === "") return { wrong: "must not be empty" };
    return raw.length < lengthMin
      ? { wrong: `must have at least ${lengthMin} characters` }
      : { value: new Secret(raw), text: "set" };
  },
});

/** Items separated by commas, or a YAML list; up to LIST_ITEMS_MAX. Invalid items are named by their 1-based position. */
export const list = <T>(item: SettingType<T>): SettingType<readonly T[]> => ({
  placeholder: `${item.placeholder},...`,
  read: (raw, folder) => {
    const items = itemsOf(raw);
    if (items === undefined) return { wrong: "must be a list, or items separated by commas" };
    if (items.length > LIST_ITEMS_MAX) return { wrong: `must have at most ${LIST_ITEMS_MAX} items` };
    const entries = items.map((given, index) => [`item ${index + 1}`, given] as const);
    return combine(entries, (given) => item.read(given, folder), {
      value: (values) => values.map(([, value]) => value),
      text: (texts) => texts.map(([, given]) => given).join(","),
    });
  },
});

/** A JSON object as text, or a YAML mapping; up to MAP_ENTRIES_MAX entries. Invalid entries are named by their key. */
export const map = <T>(item: SettingType<T>): SettingType<ReadonlyMap<string, T>> => ({
  placeholder: "json",
  read: (raw, folder) => {
    const entries = entriesOf(raw);
    if (entries === undefined) return { wrong: "must be a mapping, or a JSON object as text" };
    if (entries.length > MAP_ENTRIES_MAX) return { wrong: `must have at most ${MAP_ENTRIES_MAX} entries` };
    return combine(entries, (given) => item.read(given, folder), {
      value: (values) => new Map(values),
      text: (texts) => JSON.stringify(Object.fromEntries(texts)),
    });
  },
});

function itemsOf(raw: unknown): readonly unknown[] | undefined {
  if (Array.isArray(raw)) return raw;
  if (typeof raw !== "string") return undefined;
  return raw
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

function entriesOf(raw: unknown): readonly (readonly [string, unknown])[] | undefined {
  const given = typeof raw === "string" ? parseJson(raw) : raw;
  return isJsonObject(given) ? Object.entries(given) : undefined;
}

/** @returns undefined for invalid JSON; the parser's own message is dropped because it would quote the text */
function parseJson(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    return undefined;
  }
}

/** Reads named members. Returns all values, or one description of all invalid members. */
function combine<T, Whole>(
  entries: readonly (readonly [string, unknown])[],
  read: (raw: unknown) => Reading<T>,
  join: {
    value: (values: readonly (readonly [string, T])[]) => Whole;
    text: (texts: readonly (readonly [string, string])[]) => string;
  },
): Reading<Whole> {
  const values: [string, T][] = [];
  const texts: [string, string][] = [];
  const wrong: string[] = [];
  for (const [name, raw] of entries) {
    const reading = read(raw);
    if ("wrong" in reading) {
      wrong.push(`${name} ${reading.wrong}`);
      continue;
    }
    values.push([name, reading.value]);
    texts.push([name, reading.text]);
  }
  return wrong.length > 0
    ? { wrong: wrong.join("; ") }
    : { value: join.value(values), text: join.text(texts) };
}
