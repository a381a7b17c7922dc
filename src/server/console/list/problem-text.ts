// Texts about invalid values in the address of a list, with links to correct them. The domain uses the API's names of
// values; readers know the labels of the filters.
import { NO_FILTER, ONLY_ONCE, PAGE_SIZES } from "../../../domain/console/service.ts";
import type { Problem } from "../../../platform/errors.ts";
import { excerpt } from "../../../platform/text/problem-list.ts";
import { asSentence } from "../../pages/words.ts";
import { visibleText } from "../parts/texts.ts";
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
  known: {
    text: "The list has no such total. Show its first page",
    without: (url) => fromStart(url, {}),
  },
  filters: {
    text: "The list shows its usual filters or all of them. Show its usual filters",
    without: (url) => addressWith(url, { filters: undefined }),
  },
  select: {
    text: "The address can only select the rows of the page. Show the list without a selection",
    without: (url) => addressWith(url, {}),
  },
};

const SIZES = PAGE_SIZES.join(", ").replace(/, (\d+)$/, " or $1");

/** @param url of the page that is shown */
export function shownProblem(
  { pointer, detail }: Problem,
  { filters, url }: { filters: readonly Filter[]; url: URL },
): ShownProblem {
  const name = pointer === "/limit" ? "per_page" : pointer.slice(1);
  const place = PLACES[name];
  if (place) return { text: place.text, href: place.without(url) };
  if (detail.startsWith(NO_FILTER))
    return {
      text: `The list has no filter “${visibleText(excerpt(name))}”. Show it without that filter`,
      href: fromStart(url, { [name]: undefined }),
    };
  return { text: textOf(name, detail, filters), href: `#filter-${name}` };
}

function textOf(name: string, detail: string, filters: readonly Filter[]): string {
  if (name === "per_page" && detail.includes(" must be ")) return `Rows: choose ${SIZES}.`;
  const filter = filters.find((each) => each.name === name);
  if (detail.endsWith(ONLY_ONCE)) return `${filter?.label ?? "Rows"}: choose only one value.`;
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
