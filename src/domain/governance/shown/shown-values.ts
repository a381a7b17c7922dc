// Single values of policies as a table shows them: a line of text, without secrets. One value may have hundreds of kilobytes, and a
// table hundreds of values, so a thread writes them (tasks.ts).
import { withHiddenSides } from "./hidden-secrets.ts";

/** Characters of a value that a table shows. */
export const VALUE_CHARACTERS_SHOWN_MAX = 300;

/** @returns a value for people: texts as they are, everything else as JSON; empty for none */
function valueText(value: unknown): string {
  if (value === undefined) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > VALUE_CHARACTERS_SHOWN_MAX ? `${text.slice(0, VALUE_CHARACTERS_SHOWN_MAX)}…` : text;
}

/** Items with texts in place of some of their values. */
export type Shown<Item, Name extends keyof Item> = Omit<Item, Name> & { [Side in Name]?: string };

interface Showing<Item, Name extends keyof Item> {
  /** members with values; those after the first are compared with it where values are hidden */
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
  /** as in document-paths.ts */
  path: string;
  /** by the name of the side, in their order; the others are compared with the first */
  [side: string]: unknown;
}

interface PlacesRequest {
  /** a list of Place, as JSON */
  places: string;
  isHidden: boolean;
  /** whether values are written as words, without the content of mappings */
  isInWords: boolean;
}

export interface ShownPlaces {
  /** in the order of the places: the texts by the name of the side */
  texts: readonly Readonly<Record<string, string | undefined>>[];
  /** whether a text differs from the one without secrets */
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
