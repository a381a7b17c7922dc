// Selects rows of a list for an action: some, all on the page, or all that match. It works without the script.
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Count, useReader } from "../parts/values.tsx";
import { addressWith, SELECTION } from "./address.ts";
import type { List } from "./list.ts";

/** @param noun a plural that ends in -s */
export const singularOf = (noun: string): string => noun.replace(/ies$/, "ys").slice(0, -1);

/** @returns the query of the address without the selection */
export const searchOf = (url: URL): string => new URL(addressWith(url, {}), url).search;

/** @returns whether the address selects every row of the page */
export const isPageSelected = (url: URL): boolean => url.searchParams.get(SELECTION.name) === SELECTION.value;

/** Rows can be selected if the list has actions. */
export function Selectable<Row>({ list, children }: { list: List<Row>; children: ComponentChildren }) {
  const { url } = useReader();
  if (!list.bulk) return <>{children}</>;
  const { path, actions } = list.bulk;
  return (
    <form class="selection" action={path} data-plain>
      <input type="hidden" name="filter" value={searchOf(url)} />
      {children}
      <div class="bulk">
        <SelectPage count={list.rows.length} noun={list.noun} />
        <label>
          <input type="checkbox" name="all" value="1" /> <AllText list={list} />
        </label>
        {actions.map(({ name, label }) => (
          <button key={name} class="button quiet" name="act" value={name} type="submit">
            {label}
          </button>
        ))}
      </div>
    </form>
  );
}

/** A link works without the script: it loads the page again with every box checked. */
function SelectPage({ count, noun }: { count: number; noun: string }) {
  const { url } = useReader();
  return isPageSelected(url) ? (
    <a href={addressWith(url, {})}>Select none</a>
  ) : (
    <a href={addressWith(url, { [SELECTION.name]: SELECTION.value })}>
      Select {count === 1 ? `the ${singularOf(noun)}` : `all ${count}`} on this page
    </a>
  );
}

function AllText<Row>({ list: { paging } }: { list: List<Row> }) {
  if (paging.total === undefined || paging.isBound) return <>All that match, on every page</>;
  return (
    <>
      All <Count value={paging.total} /> that match, on every page
    </>
  );
}
