// Turns any value into a bounded, harmless JSON value for a log line: masks secrets, removes private parts of errors, and cuts
// cycles and large values. log.ts writes the line.
import { Secret } from "../secret.ts";

/** Characters that break a line, control a terminal, change the direction of text, or are invisible. */
const INVISIBLE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Makes JSON safe to print on a terminal. Escapes the other unsafe characters; JSON.stringify escapes only C0 controls.
 * @param json output of `JSON.stringify`, with or without indentation
 * @returns JSON text with the same value
 */
export const visibleJson = (json: string): string =>
  /[^\n -~]/.test(json) ? json.replace(INVISIBLE, escaped) : json;

/** A character above U+FFFF becomes two escapes (RFC 8259 section 7). */
const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
    .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
    .join("");

export const LOG_DEPTH_MAX = 6;
/** Maximum number of shown members of one array or object; the rest is counted. */
export const LOG_MEMBERS_MAX = 50;
/** Maximum number of members of one line in total, so that nesting cannot multiply the limit above. */
export const LOG_LINE_MEMBERS_MAX = 500;
/** Maximum UTF-16 units of one string, including a stack. */
export const LOG_TEXT_LENGTH_MAX = 4_096;

export type LogValue = string | number | boolean | null | LogValue[] | { [name: string]: LogValue };

/** The budget of one line and its use. */
export interface Showing {
  readonly stack: boolean;
  membersLeft: number;
}

const bounded = (text: string): string =>
  text.length <= LOG_TEXT_LENGTH_MAX
    ? text
    : `${text.slice(0, LOG_TEXT_LENGTH_MAX)}… [${text.length - LOG_TEXT_LENGTH_MAX} more]`;

/**
 * @param ancestors the objects that lead to `value`, outermost first
 * @returns a copy without prototypes, getters, cycles or secrets; never throws
 */
export function toLogValue(value: unknown, showing: Showing, ancestors: readonly object[] = []): LogValue {
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value === "boolean" || value === null) return value;
  if (typeof value !== "object") return typeof value === "function" ? "[function]" : bounded(String(value));
  if (value instanceof Secret) return value.toString();
  if (ancestors.includes(value)) return "[circular]";
  if (ancestors.length >= LOG_DEPTH_MAX) return "[too deep]";
  try {
    return fromObject(value, showing, [...ancestors, value]);
  } catch {
    // A getter or a proxy of the value threw: the line matters more than this field.
    return "[unreadable]";
  }
}

function fromObject(value: object, showing: Showing, path: readonly object[]): LogValue {
  if (value instanceof Error) return fromError(value, showing, path);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "[invalid date]" : value.toISOString();
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  if (value instanceof Map || value instanceof Set) return fromList(value, value.size, { showing, path });
  if (Array.isArray(value)) return fromList(value, value.length, { showing, path });
  if ("toJSON" in value && typeof value.toJSON === "function") {
    return toLogValue(value.toJSON(), showing, path);
  }
  return fromMembers(value, showing, path);
}

interface Place {
  showing: Showing;
  path: readonly object[];
}

function fromList(items: Iterable<unknown>, size: number, { showing, path }: Place): LogValue {
  const list: LogValue[] = [];
  for (const item of items) {
    if (list.length === LOG_MEMBERS_MAX || showing.membersLeft-- <= 0) break;
    list.push(toLogValue(item, showing, path));
  }
  if (list.length < size) list.push(`[${size - list.length} more]`);
  return list;
}

function fromMembers(value: object, showing: Showing, path: readonly object[]): LogValue {
  const members: Record<string, LogValue> = Object.create(null);
  let shown = 0;
  const names = Object.keys(value);
  for (const name of names) {
    if (shown === LOG_MEMBERS_MAX || showing.membersLeft-- <= 0) break;
    const member: unknown = Reflect.get(value, name);
    if (member !== undefined) members[bounded(name)] = toLogValue(member, showing, path);
    shown++;
  }
  if (shown < names.length) members["…"] = `[${names.length - shown} more]`;
  return members;
}

/** Leaves out the extra fields of an error, where libraries put requests and parameters. */
function fromError(error: Error, showing: Showing, path: readonly object[]): LogValue {
  const shown: Record<string, LogValue> = { name: bounded(error.name), message: bounded(error.message) };
  for (const name of ["reason", "code"]) {
    const member: unknown = Reflect.get(error, name);
    if (typeof member === "string") shown[name] = bounded(member);
  }
  if (showing.stack && error.stack !== undefined) shown.stack = bounded(error.stack);
  if (error.cause !== undefined) shown.cause = toLogValue(error.cause, showing, path);
  return shown;
}
