// Texts about invalid values in the address of a list, with links to correct them. The domain uses the API's names of
// values; readers know the labels of the filters.
import { PAGE_SIZES } from "../../../domain/console/service.ts";
import type { Problem } from "../../../platform/errors.ts";
import { asSentence } from "../../pages/words.ts";
import { addressWith, fromStart } from "./address.ts";
import type { Filter } from "./list.ts";

export interface ShownProblem {
  /** a sentence */
  text: string;
  /** of the field, or of the list without the value */
  href: string;
}

/** Values without a field; the link leads to the list without them. */
const PLACES: Readonly<Record<string, { text: string; without(url: URL): string }>> = {
  page: {
    text: "The list has no such page. Show its first page",
    without: (url) => fromStart(url, {}),
  },
  cursor: {
    text: "The list has no such place. Show its first page",
    without: (url) => fromStart(url, {}),
  },
  sort: {
    text: "The list has no such order. Show it in its usual order",
    without: (url) => addressWith(url, { sort: undefined }),
  },
  columns: {
    text: "The list has no such columns. Show its usual columns",
    without: (url) => addressWith(url, { columns: undefined }),
  },
};

/** @param url of the page that is shown */
export function shownProblem(
  { pointer, detail }: Problem,
  { filters, url }: { filters: readonly Filter[]; url: URL },
): ShownProblem {
  const name = pointer === "/limit" ? "per_page" : pointer.slice(1);
  const place = PLACES[name];
  if (place) return { text: place.text, href: place.without(url) };
  return { text: textOf(name, detail, filters), href: `#filter-${name}` };
}

function textOf(name: string, detail: string, filters: readonly Filter[]): string {
  if (name === "per_page" && detail.includes(" must be ")) return `Rows: choose ${PAGE_SIZES.join(", ")}.`;
  const filter = filters.find((each) => each.name === name);
  if (filter?.kind === "choice") return `${filter.label}: choose one of the list.`;
  const [first = "", ...rest] = detail.split(" ");
  const labelled = rest.map((word) => labelOfEnd(word, filters));
  return asSentence(filter && first === name ? [filter.label, ...labelled].join(" ") : detail);
}

/** The sentence about one end of a range names the other end. Other words may match a filter's name by coincidence. */
function labelOfEnd(word: string, filters: readonly Filter[]): string {
  const other = filters.find(({ name, kind }) => kind === "date" && name === word);
  return other ? `“${other.label}”` : word;
}
