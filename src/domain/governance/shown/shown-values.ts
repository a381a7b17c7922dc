// Single values of policies as a table shows them: a line of text, without the values of variables of MCP servers. One value may
// have hundreds of kilobytes, and a table hundreds of values, so a thread writes them (tasks.ts).
import { tokensOf } from "../../../platform/errors.ts";
import { hasVariablesAt, withHiddenSides, withHiddenVariables } from "./hidden-variables.ts";

/** Characters of a value that a table shows. */
export const VALUE_CHARACTERS_SHOWN_MAX = 300;

/** @returns a value for people: texts as they are, everything else as JSON; empty for none */
export function valueText(value: unknown): string {
  if (value === undefined) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > VALUE_CHARACTERS_SHOWN_MAX ? `${text.slice(0, VALUE_CHARACTERS_SHOWN_MAX)}…` : text;
}

interface ShownPlace {
  path: string;
  /** what the value is compared with where values are hidden */
  former: unknown;
  isHidden: boolean;
}

/** @returns the text of one value; unlike shownSides, it writes no text of what the value is compared with */
export function shownValue(value: unknown, { path, former, isHidden }: ShownPlace): string {
  if (!isHidden || !hasVariablesAt(path, value)) return valueText(value);
  return valueText(withHiddenVariables(value, { path: tokensOf(path), former }));
}

/** Items with texts in place of some of their values. */
export type Shown<Item, Name extends keyof Item> = Omit<Item, Name> & { [Side in Name]?: string };

interface Showing<Item, Name extends keyof Item> {
  /** members with values; those after the first are compared with it where values are hidden */
  names: readonly [Name, ...Name[]];
  isHidden: boolean;
}

/** @returns the item with texts; a member without a value is omitted */
export function shownSides<Item extends { path: string }, Name extends keyof Item>(
  item: Item,
  { names, isHidden }: Showing<Item, Name>,
): Shown<Item, Name> {
  const safe = isHidden ? withHiddenSides(item, names) : item;
  const texts = names.filter((name) => name in safe).map((name) => [name, valueText(safe[name])]);
  return { ...safe, ...Object.fromEntries(texts) };
}
