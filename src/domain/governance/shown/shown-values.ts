// Single values of policies for a table: a line of text, without secrets. A value may have hundreds of kilobytes and a table
// hundreds of values, so a thread writes them (tasks.ts).
import { withHiddenSides } from "./hidden-secrets.ts";

/** Maximum characters of a value in a table. */
export const VALUE_CHARACTERS_SHOWN_MAX = 300;

/** @returns a readable value: texts unchanged, everything else as JSON; empty for none */
function valueText(value: unknown): string {
  if (value === undefined) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > VALUE_CHARACTERS_SHOWN_MAX ? `${text.slice(0, VALUE_CHARACTERS_SHOWN_MAX)}…` : text;
}

/** Replaces some values of items with texts. */
export type Shown<Item, Name extends keyof Item> = Omit<Item, Name> & { [Side in Name]?: string };

interface Showing<Item, Name extends keyof Item> {
  /** members with values; those after the first are compared with it if values are hidden */
  names: readonly [Name, ...Name[]];
  isHidden: boolean;
  textOf?: (value: unknown) => string;
}

/** @returns the item with texts; a member without a value is omitted */
export function shownSides<Item extends { path: string }, Name extends keyof Item>(
  item: Item,
  { names, isHidden, textOf = valueText }: Showing<Item, Name>,
): Shown<Item, Name> {
  const safe = isHidden ? withHiddenSides(item, names) : item;
  const texts = names.filter((name) => name in safe).map((name) => [name, textOf(safe[name])]);
  return { ...safe, ...Object.fromEntries(texts) };
}

/** Values of one place on several sides. */
export interface Place {
  /** see document-paths.ts */
  path: string;
  /** by the name of the side, in their order; the others are compared with the first */
  [side: string]: unknown;
}

interface PlacesRequest {
  /** a list of Place, as JSON */
  places: string;
  isHidden: boolean;
  /** whether to write values as words, without the content of mappings */
  isInWords: boolean;
}

export interface ShownPlaces {
  /** texts by the name of the side, in the order of the places */
  texts: readonly Readonly<Record<string, string | undefined>>[];
  /** whether hiding secrets changes a text */
  hasSecrets: boolean;
}

/** @returns the texts of values */
export function shownPlaces({ places, isHidden, isInWords }: PlacesRequest): ShownPlaces {
  const textOf = isInWords ? valueWords : valueText;
  const listed: readonly Place[] = JSON.parse(places);
  const shown = listed.map((place) => {
    const [first, ...others] = Object.keys(place).filter((name) => name !== "path");
    const textsOf = (isHidden: boolean) =>
      first === undefined ? {} : shownSides(place, { names: [first, ...others], isHidden, textOf });
    return { whole: textsOf(false), safe: textsOf(true) };
  });
  return {
    texts: shown.map(({ whole, safe }) => (isHidden ? safe : whole)),
    hasSecrets: shown.some(({ whole, safe }) =>
      Object.keys(whole).some((name) => whole[name] !== safe[name]),
    ),
  };
}

/** @returns a value of the policy as readable text: the names of servers, never their variables */
function valueWords(value: unknown): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.map(valueWords).join(", ");
  if (typeof value === "object" && value !== null)
    return "name" in value && typeof value.name === "string" ? value.name : "set";
  return String(value);
}
