// Hides probable secrets where a policy is shown: what an export replaces by references (document/likely-secrets.ts), and every
// variable of MCP servers. The places and the lines of the text stay, so that a link to a line leads to the same value in both texts.
import { tokensOf } from "../../../platform/errors.ts";
import { isJsonObject, type JsonObject } from "../../../platform/text/json-object.ts";
import { yamlText } from "../../../platform/text/yaml-write.ts";
import {
  announcesSecret,
  isLikelySecret,
  isSecretName,
  isServerEnvironment,
} from "../document/likely-secrets.ts";
import type { McpServer } from "../model.ts";
import { splitParts } from "../publishing/document-paths.ts";

/** Shown in place of a value. */
export const HIDDEN = "••••••";
/** Shown in place of a value that differs from the one that it is compared with. */
export const HIDDEN_OTHER = `${HIDDEN} (another value)`;

/**
 * @param value a whole document, or the part of one at the path
 * @param place the path as in document-paths.ts, and the value that the reader compares with
 * @returns the same without secrets, and the value itself if it has none; an empty value stays
 */
export function withHiddenSecrets<Value>(value: Value, place?: Place): Value;
export function withHiddenSecrets(value: unknown, { path = [], former }: Place = {}): unknown {
  return hidden(value, { path, former, mark: markAt(path) });
}

interface Place {
  path?: readonly string[];
  former?: unknown;
}

/** @returns whether a document, or the part of one at the path, has a value to hide */
export const hasSecrets = (value: unknown, path: readonly string[] = []): boolean =>
  withHiddenSecrets(value, { path }) !== value;

/**
 * @param names of the members with values; those after the first are compared with it
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

/** Why texts below a place are secrets: they are variables of MCP servers, or a name above them says so. */
type Mark = "variable" | "name" | undefined;

interface Walk {
  path: readonly string[];
  former: unknown;
  mark: Mark;
}

const markOf = (name: string, { path, mark }: Pick<Walk, "path" | "mark">): Mark =>
  isServerEnvironment(path, name) ? "variable" : (mark ?? (isSecretName(name) ? "name" : undefined));

/** @returns the mark of a place. The ids of packages and the names of servers are no names of values. */
const markAt = (path: readonly string[]): Mark =>
  path.reduce<Mark>((mark, name, at) => {
    const above = path.slice(0, at);
    const isEntry = ENTRIES.test(above.join("/")) || above[0] === "package_audiences";
    return isEntry ? mark : markOf(name, { path: above, mark });
  }, undefined);

/** Lists of packages and of servers. */
const ENTRIES = /^(?:packages|harnesses\/[^/]*\/mcp)$/;

function hidden(value: unknown, walk: Walk): unknown {
  if (typeof value === "string") {
    const isHidden = walk.mark === "variable" ? value !== "" : isLikelySecret(value, walk.mark === "name");
    return isHidden ? hiddenText(value, walk.former) : value;
  }
  if (Array.isArray(value)) return hiddenList(value, walk);
  if (isJsonObject(value)) return hiddenMembers(value, walk);
  return walk.mark === "variable" && value !== undefined ? hiddenText(value, walk.former) : value;
}

function hiddenMembers(value: JsonObject, walk: Walk): JsonObject {
  const beside = isJsonObject(walk.former) ? walk.former : {};
  let isChanged = false;
  const members = Object.entries(value).map(([name, member]) => {
    const mark = markOf(name, walk);
    const shown = hidden(member, { path: [...walk.path, name], former: beside[name], mark });
    isChanged ||= shown !== member;
    return [name, shown];
  });
  return isChanged ? Object.fromEntries(members) : value;
}

function hiddenList(values: readonly unknown[], { path, former, mark }: Walk): readonly unknown[] {
  const names = splitParts(path, values)?.keys().toArray();
  const formerOf = names ? namedFormer(path, former) : listedFormer(values, { former, mark });
  const shown = values.map((value, at) => {
    const name = names?.[at] ?? String(at);
    const isAnnounced = announcesSecret(textOf(values[at - 1]));
    return hidden(value, {
      ...{ path: [...path, name], former: formerOf(name, value) },
      mark: mark ?? (isAnnounced ? "name" : undefined),
    });
  });
  return shown.some((value, at) => value !== values[at]) ? shown : values;
}

type FormerOf = (name: string, value: unknown) => unknown;

function namedFormer(path: readonly string[], former: unknown): FormerOf {
  const parts = Array.isArray(former) ? splitParts(path, former) : undefined;
  return (name) => parts?.get(name);
}

/** Values of lists of equal length are compared one by one. Otherwise values have moved: one that the other list has is the same. */
function listedFormer(values: readonly unknown[], { former, mark }: Omit<Walk, "path">): FormerOf {
  if (!Array.isArray(former)) return () => undefined;
  if (former.length === values.length) return (at) => former[Number(at)];
  const others = new Set(former);
  const other = former.find((text, at) =>
    isLikelySecret(textOf(text), mark !== undefined || announcesSecret(textOf(former[at - 1]))),
  );
  return (_, value) => (others.has(value) ? value : other);
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

function hiddenText(value: unknown, former: unknown): string {
  const shown = typeof former === "string" && former !== value ? HIDDEN_OTHER : HIDDEN;
  // A text of several lines is written as a header and its lines.
  const lines = typeof value === "string" && value.includes("\n") ? linesOf(value) : 1;
  return lines === 1 ? shown : `${shown}\n`.repeat(lines - 1);
}

/** @returns the number of lines that a value takes in a YAML text */
const linesOf = (value: string): number => yamlText({ value, end: 0 }).split("\n").length - 2;
