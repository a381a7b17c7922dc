// Finds probable secrets in a policy or a configuration file, by name, place and form. Nothing else searches for secrets:
// exports replace the findings with references, the console hides them until a reader requests them, and the review and the
// form of an MCP server warn before they are sent to workstations.
import { pointerOf } from "../../../platform/errors.ts";
import { isJsonObject, type JsonObject, ownMember } from "../../../platform/json/json-object.ts";
import type { McpServer } from "../model.ts";
import { splitParts } from "../publishing/document-paths.ts";
import { isDescription, isNameOfSecretNumber, isSecretName } from "./secret-names.ts";
import { flagIn, isSecretText, isSecretUnder } from "./secret-texts.ts";

export interface Secret {
  /** path from the root of the document, as in document-paths.ts, or with positions in all lists if the search is numbered */
  path: readonly string[];
  value: string | number;
  /** the value in the other document */
  former: unknown;
  /** true if it counts only because it is a variable of an MCP server */
  isVariable: boolean;
}

interface Search {
  /** the path of the value, if it is a part of a document */
  path?: readonly string[];
  /** the value in another document, which supplies `former` */
  former?: unknown;
  /** whether entries of lists have positions instead of names */
  isNumbered?: boolean;
  /** @returns whether something else marks the text at the path as a secret */
  isMarked?(path: readonly string[]): boolean;
  /** @returns the replacement of the secret, or the secret itself */
  replace(secret: Secret): unknown;
}

/** @returns the value with every secret replaced; the value itself if it has none */
export function replaceSecrets(value: unknown, { path = [], former, ...search }: Search): unknown {
  return new Walk(search).replaced(value, { path, former, ...markAt(path) });
}

/** @returns pointers to the values of a server that look like a key or a token */
export function likelySecretsIn(server: Partial<McpServer>): string[] {
  const root = ["harnesses", "", "mcp", ""];
  const found: string[] = [];
  const replace = ({ path, value, isVariable }: Secret) => {
    if (!isVariable) found.push(pointerOf(path.slice(root.length)));
    return value;
  };
  replaceSecrets(server, { path: root, replace });
  return found;
}

interface Mark {
  /** a parent's name marks it */
  isNamed: boolean;
  /** it is a variable of an MCP server */
  isVariable: boolean;
}

interface At extends Mark {
  path: readonly string[];
  former: unknown;
  /** the nearest name above list entries, or the flag before an argument */
  name?: string;
}

class Walk {
  constructor(private readonly search: Omit<Search, "path" | "former">) {}

  replaced(value: unknown, at: At): unknown {
    if (Array.isArray(value)) return this.#list(value, at);
    if (isJsonObject(value)) return this.#members(value, at);
    if (typeof value !== "string" && typeof value !== "number") return value;
    const isLikely = typeof value === "string" ? this.#isSecret(value, at) : isSecretNumber(at);
    if (!isLikely && (!at.isVariable || String(value).trim() === "")) return value;
    const { path, former } = at;
    return this.search.replace({ path, value, former, isVariable: !isLikely });
  }

  #isSecret(text: string, { path, isNamed, name = nameOf(path) }: At): boolean {
    if (text.trim() === "") return false;
    if (this.search.isMarked?.(path) || isSecretText(text, name)) return true;
    return isNamed && isSecretUnder(name, text);
  }

  #members(value: JsonObject, at: At): JsonObject {
    const beside = isJsonObject(at.former) ? at.former : {};
    let isChanged = false;
    const members = Object.entries(value).map(([name, member]) => {
      const mark = isEntryList(at.path) ? at : markOf(name, at);
      const { isNamed, isVariable } = mark;
      const place = { path: [...at.path, name], former: ownMember(beside, name), isNamed, isVariable };
      const replaced = this.replaced(member, place);
      isChanged ||= replaced !== member;
      return [name, replaced];
    });
    return isChanged ? Object.fromEntries(members) : value;
  }

  #list(values: readonly unknown[], at: At): readonly unknown[] {
    const { path, former } = at;
    const names = splitParts(withoutSection(path), values)?.keys().toArray();
    const formerOf = names ? namedFormer(path, former) : listedFormer(values, at);
    const replaced = values.map((value, index) => {
      const name = names?.[index] ?? String(index);
      const token = this.search.isNumbered ? String(index) : name;
      const place = { path: [...path, token], former: formerOf(name, value) };
      return this.replaced(value, { ...place, ...entryMark(values, index, at) });
    });
    return replaced.some((value, index) => value !== values[index]) ? replaced : values;
  }
}

const isSecretNumber = ({ path, isNamed }: At): boolean => isNamed && isNameOfSecretNumber(nameOf(path));

/** @returns the name of a value, or of the list that it is in */
const nameOf = (path: readonly string[]): string => path.findLast((token) => !/^\d+$/.test(token)) ?? "";

/** Covers a policy that is a section of a configuration file. */
const withoutSection = (path: readonly string[]): readonly string[] =>
  path[0] === "governance" ? path.slice(1) : path;

const SERVER_LISTS: readonly string[] = ["mcp", "mcp_servers", "mcpServers"];

/** @returns whether the tokens after this path are ids of packages, names of servers or ids of overrides, not names of values */
function isEntryList(path: readonly string[]): boolean {
  const last = path.at(-1) ?? "";
  if (SERVER_LISTS.includes(last) || last === "package_audiences") return true;
  return last === "package_overrides" || (last === "packages" && withoutSection(path).length === 1);
}

/** @returns the mark of a member. Replacing a harmless variable with a reference does little harm. */
const markOf = (name: string, { path, isNamed, isVariable }: Pick<At, "path"> & Mark): Mark => ({
  isNamed: isSecretName(name) || (isNamed && !isDescription(name, nameOf(path))),
  isVariable: isVariable || (name === "env" && SERVER_LISTS.includes(path.at(-2) ?? "")),
});

/** @returns the mark of a place in a document */
function markAt(path: readonly string[]): Mark {
  let mark: Mark = { isNamed: false, isVariable: false };
  for (const [at, name] of path.entries()) {
    const above = path.slice(0, at);
    if (!isEntryList(above)) mark = markOf(name, { path: above, ...mark });
  }
  return mark;
}

/** @returns the mark of an entry: `--token X`, and `-e NAME=value` in the arguments of a server */
function entryMark(
  values: readonly unknown[],
  index: number,
  { path, ...mark }: At,
): Mark & Pick<At, "name"> {
  const [previous, text] = [textOf(values[index - 1]), textOf(values[index])];
  const flag = flagIn(previous);
  const isAnnounced =
    flag !== undefined && flag.value === undefined && isSecretName(flag.name) && !FLAG_ONLY.test(text);
  const isArgument = path.at(-1) === "args" && SERVER_LISTS.includes(path.at(-3) ?? "");
  return {
    isNamed: mark.isNamed || isAnnounced,
    isVariable: mark.isVariable || (isArgument && assignsVariable(text, previous)),
    ...(flag !== undefined && flag.value === undefined && { name: flag.name }),
  };
}

const FLAG_ONLY = /^(?:--[a-z][a-z\d-]*|-[A-Za-z])$/;

/** @returns whether an argument gives a variable to the program that it starts */
const assignsVariable = (text: string, previous: string): boolean =>
  /^(?:--env=|-e)?[A-Z_][A-Z\d_]*=./s.test(text) || (/^(?:-e|--env)$/.test(previous) && /^\w+=./s.test(text));

type FormerOf = (name: string, value: unknown) => unknown;

function namedFormer(path: readonly string[], former: unknown): FormerOf {
  const parts = Array.isArray(former) ? splitParts(withoutSection(path), former) : undefined;
  return (name) => parts?.get(name);
}

/**
 * Values of lists of equal length are compared by position. Otherwise values have moved, so a value counts as the same if the
 * other list has it.
 */
function listedFormer(values: readonly unknown[], { former, ...at }: At): FormerOf {
  if (!Array.isArray(former)) return () => undefined;
  if (former.length === values.length) return (index) => former[Number(index)];
  const others = new Set(former);
  let other: unknown;
  new Walk({ replace: ({ value }) => (other ??= value) }).replaced(former, { ...at, former: undefined });
  return (_, value) => (others.has(value) ? value : other);
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
