// Reads members of untrusted JSON values, and writes such values as text within a budget.
import { isJsonObject } from "../../../platform/json/json-object.ts";
import { ENTRY_CHARACTERS_MAX } from "./limits.ts";
import type { EntryKind, Tokens, TranscriptEntry } from "./model.ts";

export type Members = Readonly<Record<string, unknown>>;

const NONE: Members = {};

/** @returns the object; one without members for anything else */
export const objectOf = (value: unknown): Members => (isJsonObject(value) ? value : NONE);

/** @returns the list; an empty one for anything else */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** @returns the text; an empty one for anything else */
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** @returns UTC milliseconds of a text in RFC 3339, or of a number in milliseconds; null for anything else */
export function timeOf(value: unknown): number | null {
  const ms = typeof value === "string" ? Date.parse(value) : typeof value === "number" ? value : Number.NaN;
  return Number.isFinite(ms) && Math.abs(ms) <= TIME_MS_KNOWN ? Math.trunc(ms) : null;
}

/** the range of `Date` */
const TIME_MS_KNOWN = 8.64e15;

/** @param names members with input tokens, and members with output tokens @returns the sums of each; null without any */
export function tokensOf(
  usage: unknown,
  names: { input: readonly string[]; output: readonly string[] },
): Tokens | null {
  const members = objectOf(usage);
  const sum = (wanted: readonly string[]): number =>
    wanted.reduce((total, name) => total + countOf(members[name]), 0);
  const tokens = { input: sum(names.input), output: sum(names.output) };
  return tokens.input + tokens.output > 0 ? tokens : null;
}

const countOf = (value: unknown): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;

/** The members that a format sets; the others are empty. */
export type Draft = { kind: EntryKind; text: string } & Partial<
  Pick<TranscriptEntry, "name" | "atMs" | "tokens" | "isError">
>;

/** @returns the entry, with its text truncated to ENTRY_CHARACTERS_MAX */
export function entryOf({
  kind,
  text,
  name = null,
  atMs = null,
  tokens = null,
  isError = false,
}: Draft): TranscriptEntry {
  const kept = text.length > ENTRY_CHARACTERS_MAX ? text.slice(0, ENTRY_CHARACTERS_MAX) : text;
  const shortName = name?.slice(0, NAME_CHARACTERS).toWellFormed() ?? null;
  return {
    kind,
    name: shortName,
    text: kept.toWellFormed(),
    isCut: kept.length < text.length,
    atMs,
    tokens,
    isError,
  };
}

/** Names of tools are short. */
const NAME_CHARACTERS = 200;

/** Writing stops after as much text as an entry can show. */
const BUDGET = ENTRY_CHARACTERS_MAX + 1;

/** @returns text unchanged, and any other value as indented JSON, possibly only the part that an entry shows */
export function valueText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  const writer = { text: "" };
  write(writer, value, "");
  return writer.text;
}

/** JSON.stringify would write megabytes although only the beginning is shown. */
function write(writer: { text: string }, value: unknown, indent: string): void {
  if (writer.text.length > BUDGET) return;
  if (typeof value !== "object" || value === null) {
    writer.text += JSON.stringify(typeof value === "string" ? value.slice(0, BUDGET) : value);
    return;
  }
  const isList = Array.isArray(value);
  const members: Iterable<[string, unknown]> = isList
    ? value.entries().map(([index, each]) => [String(index), each])
    : Object.entries(value);
  const inner = `${indent}  `;
  let isFirst = true;
  writer.text += isList ? "[" : "{";
  for (const [name, member] of members) {
    if (writer.text.length > BUDGET) return;
    writer.text += `${isFirst ? "" : ","}\n${inner}${isList ? "" : `${JSON.stringify(name)}: `}`;
    write(writer, member, inner);
    isFirst = false;
  }
  writer.text += `${isFirst ? "" : `\n${indent}`}${isList ? "]" : "}"}`;
}
