// Hides the probable secrets (secrets/likely-secrets.ts) of a policy that is shown. Places and lines of the text stay, so that
// a link to a line leads to the same value in both texts.
import { tokensOf } from "../../../platform/errors.ts";
import { yamlText } from "../../../platform/text/yaml-write.ts";
import type { McpServer } from "../model.ts";
import { replaceSecrets } from "../secrets/likely-secrets.ts";

/** Shown in place of a value. */
export const HIDDEN = "••••••";
/** Shown in place of a value that differs from the compared one. */
export const HIDDEN_OTHER = `${HIDDEN} (another value)`;

/**
 * @param value a whole document, or the part of one at the path
 * @param place the path (see document-paths.ts), and the value that the reader compares with
 * @returns the value without secrets; the value itself if it has none. Empty values stay.
 */
export function withHiddenSecrets<Value>(value: Value, place?: Place): Value;
export function withHiddenSecrets(value: unknown, { path = [], former }: Place = {}): unknown {
  return replaceSecrets(value, {
    path,
    former,
    replace: (secret) => hiddenText(secret.value, secret.former),
  });
}

interface Place {
  path?: readonly string[];
  former?: unknown;
}

/** @returns whether a document, or the part of one at the path, has a value to hide */
export const hasSecrets = (value: unknown, path: readonly string[] = []): boolean =>
  withHiddenSecrets(value, { path }) !== value;

/**
 * @param names members with values; those after the first are compared with it
 * @returns the item without secrets
 */
export function withHiddenSides<Item extends { path: string }>(
  item: Item,
  [first, ...others]: readonly [keyof Item, ...(keyof Item)[]],
): Item {
  const path = tokensOf(item.path);
  const sides = [first, ...others]
    .filter((name) => name in item)
    .map((name) => {
      const place = name === first ? { path } : { path, former: item[first] };
      return [name, withHiddenSecrets(item[name], place)];
    });
  return { ...item, ...Object.fromEntries(sides) };
}

/** @returns a server without secrets */
export const withHiddenServerSecrets = (server: McpServer): McpServer =>
  withHiddenSecrets(server, { path: ["harnesses", "", "mcp", server.name] });

function hiddenText(value: unknown, former: unknown): string {
  const isOther = (typeof former === "string" || typeof former === "number") && former !== value;
  const shown = isOther ? HIDDEN_OTHER : HIDDEN;
  // YAML writes a text of several lines as a header and its lines.
  const lines = typeof value === "string" && value.includes("\n") ? linesOf(value) : 1;
  return lines === 1 ? shown : `${shown}\n`.repeat(lines - 1);
}

/** @returns the number of lines that a value takes in a YAML text */
const linesOf = (value: string): number => yamlText({ value, end: 0 }).split("\n").length - 2;
