// Hides the values of the variables of MCP servers where a policy is shown: each of them counts as a secret. The places and the lines
// of the text stay, so that a link to a line leads to the same value in both texts.
import { tokensOf } from "../../../platform/errors.ts";
import { isJsonObject } from "../../../platform/text/json-object.ts";
import { yamlText } from "../../../platform/text/yaml-write.ts";
import type { McpServer } from "../model.ts";
import { splitParts } from "../publishing/document-paths.ts";

/** Shown in place of a value. */
export const HIDDEN = "••••••";
/** Shown in place of a value that differs from the one that it is compared with. */
export const HIDDEN_OTHER = `${HIDDEN} (another value)`;

/**
 * @param value a whole document, or the part of one at the path
 * @param place the path as in document-paths.ts, and the value that the reader compares with
 * @returns the same without values of variables; an empty value stays
 */
export function withHiddenVariables<Value>(value: Value, place?: Place): Value;
export function withHiddenVariables(value: unknown, { path = [], former }: Place = {}): unknown {
  if (!mayHaveVariables(path)) return value;
  if (path.length === VARIABLE_DEPTH) return hiddenText(value, former);
  const below = (name: string, part: unknown, beside: unknown) =>
    withHiddenVariables(part, { path: [...path, name], former: beside });
  if (isJsonObject(value)) {
    const beside = isJsonObject(former) ? former : {};
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, below(name, member, beside[name])]),
    );
  }
  if (!Array.isArray(value)) return value;
  const parts = splitParts(path, value);
  const beside = Array.isArray(former) ? splitParts(path, former) : undefined;
  if (!parts) return value.map((entry: unknown, at) => below(String(at), entry, undefined));
  return [...parts].map(([name, entry]) => below(name, entry, beside?.get(name)));
}

interface Place {
  path?: readonly string[];
  former?: unknown;
}

/** @returns whether a document, or one of its parts, has a value to hide */
export const hasVariables = (value: unknown, path: readonly string[] = []): boolean =>
  mayHaveVariables(path) &&
  (path.length === VARIABLE_DEPTH
    ? value !== ""
    : typeof value === "object" &&
      value !== null &&
      Object.entries(value).some(([name, part]) => hasVariables(part, [...path, name])));

/** `harnesses/KEY/mcp/SERVER/env/VARIABLE` */
const STEPS: readonly (string | undefined)[] = ["harnesses", undefined, "mcp", undefined, "env", undefined];
const VARIABLE_DEPTH = STEPS.length;

/** Matches the pointers of these steps. A policy has thousands of places, and almost none is one of these. */
const POINTER_WITH_VARIABLES = /^(?:\/harnesses(?:\/[^/]*(?:\/mcp(?:\/.*)?)?)?)?$/s;

const mayHaveVariables = (path: readonly string[]): boolean =>
  path.length <= VARIABLE_DEPTH && path.every((name, at) => STEPS[at] === undefined || STEPS[at] === name);

function hiddenText(value: unknown, former: unknown): unknown {
  if (value === "" || value === undefined) return value;
  const shown = typeof former === "string" && former !== value ? HIDDEN_OTHER : HIDDEN;
  // A text of several lines is written as a header and its lines.
  const lines = typeof value === "string" && value.includes("\n") ? linesOf(value) : 1;
  return lines === 1 ? shown : `${shown}\n`.repeat(lines - 1);
}

/** @returns whether a part of a document at the pointer has a value to hide */
export const hasVariablesAt = (pointer: string, value: unknown): boolean =>
  POINTER_WITH_VARIABLES.test(pointer) && hasVariables(value, tokensOf(pointer));

/** @returns the number of lines that a value takes in a YAML text */
const linesOf = (value: string): number => yamlText({ value, end: 0 }).split("\n").length - 2;

/**
 * @param names of the members with values; those after the first are compared with it
 * @returns the item without values of variables
 */
export function withHiddenSides<Item extends { path: string }>(
  item: Item,
  [first, ...others]: readonly [keyof Item, ...(keyof Item)[]],
): Item {
  if (!POINTER_WITH_VARIABLES.test(item.path)) return item;
  const path = tokensOf(item.path);
  const sides = [first, ...others]
    .filter((name) => name in item)
    .map((name) => {
      const place = name === first ? { path } : { path, former: item[first] };
      return [name, withHiddenVariables(item[name], place)];
    });
  return { ...item, ...Object.fromEntries(sides) };
}

/** @returns a server without values of variables */
export const withHiddenEnvironment = (server: McpServer): McpServer =>
  withHiddenVariables(server, { path: ["harnesses", "", "mcp", server.name] });
