// Draws a list: filters with chips, the table with its order and columns, selection, pages, and the equivalent command.
// Everything is plain links and forms; the script only swaps the region in place.
/** @jsxImportSource preact */

import type { ComponentChildren } from "preact";
import { AsCommand } from "../parts/command.tsx";
import { WideTable } from "../parts/table-head.tsx";
import { visibleText } from "../parts/texts.ts";
import { Count, useReader } from "../parts/values.tsx";
import { addressWith, fromStart } from "./address.ts";
import { allProblems } from "./address-problems.ts";
import { FilterForm, FilterProblems } from "./filters.tsx";
import { Empty } from "./first-step.tsx";
import { labelsAddress } from "./labels.ts";
import { type Column, type List, listValues, type Paging, type Values } from "./list.ts";
import { isPageSelected, Selectable, searchOf, singularOf } from "./selection.tsx";
import { UnusableView, UsualForm, Views } from "./views.tsx";

/** Screens on which a row is a card, as in console.css. */
const CARDS = "(max-width: 45rem)";

/** The status of a list page: 400 if its address has invalid values. */
export const listStatus = ({ problems = [] }: Pick<List<never>, "problems">): number =>
  problems.length > 0 ? 400 : 200;

/** A whole list. The script swaps the region with its id. */
export function ListView<Row>({ list }: { list: List<Row> }) {
  const reader = useReader();
  const values = listValues(reader);
  const { filters, rows } = list;
  const problems = allProblems(reader.url, list.problems);
  const isFiltered = filters.some(({ name }) => values[name] !== undefined);
  return (
    <div id="list" data-region>
      <Views isUsable={problems.length === 0} />
      <FilterForm filters={filters} values={values} problems={problems} />
      <Total list={{ ...list, problems }} />
      {problems.length > 0 ? (
        <>
          <FilterProblems title="These filters cannot be used" problems={problems} filters={filters} />
          <UnusableView />
        </>
      ) : rows.length === 0 ? (
        <Nothing list={list} isFiltered={isFiltered} />
      ) : (
        <Selectable list={list}>
          <Table list={list} />
        </Selectable>
      )}
      {problems.length === 0 && <Pages paging={list.paging} />}
      <div class="list-foot">
        {list.csvPath && rows.length > 0 && (
          <a href={`${list.csvPath}${searchOf(reader.url)}`} download data-plain>
            Download as CSV
          </a>
        )}
        {rows.length > 0 && problems.length === 0 && <ColumnChoice columns={list.columns} values={values} />}
        {problems.length === 0 && <AsCommand command={list.command} api={list.api} />}
      </div>
    </div>
  );
}

function Nothing<Row>({ list, isFiltered }: { list: List<Row>; isFiltered: boolean }) {
  const { url } = useReader();
  if (!isFiltered) return <Empty {...list.none} />;
  return (
    <div class="empty">
      <p>No {list.noun} match these filters.</p>
      <a href={url.pathname}>Clear all filters</a>
    </div>
  );
}

function Total<Row>({ list: { paging, noun, problems = [] } }: { list: List<Row> }) {
  if (problems.length > 0 || paging.total === undefined) return null;
  return (
    <p class="total">
      {paging.isBound && "More than "}
      <Count value={paging.total} /> {paging.total === 1 ? singularOf(noun) : noun}
    </p>
  );
}

/**
 * @returns the columns that the address asks for: `host,user` shows only these, `-host,+path` hides a usual column and shows a rare
 *   one
 */
export function chosenColumns<Row>(columns: readonly Column<Row>[], values: Values): readonly Column<Row>[] {
  const names = values.columns?.split(",") ?? [];
  const isChange = names.every((name) => /^[-+]/.test(name));
  const chosen = columns.filter(({ name, isOptional }) =>
    !isChange ? names.includes(name) : isOptional ? names.includes(`+${name}`) : !names.includes(`-${name}`),
  );
  return chosen.length > 0 ? chosen : columns;
}

function Table<Row>({ list }: { list: List<Row> }) {
  const reader = useReader();
  const values = listValues(reader);
  const columns = chosenColumns(list.columns, values);
  const sort = values.sort ?? list.defaultSort;
  const labels = columns.map(({ label }) => label);
  const isSelected = isPageSelected(reader.url);
  // The cell labels its box and names the row. A label in the box would repeat the name in each row.
  const nameOf = columns[0] === list.columns[0] ? undefined : list.columns[0]?.csv;
  return (
    <WideTable label={`Table of ${list.noun}`}>
      <link rel="stylesheet" media={CARDS} href={labelsAddress(labels)} />
      <table class="rows">
        <caption class="visually-hidden">{list.noun}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <Heading key={column.name} column={column} sort={sort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {list.rows.map((row) => {
            const id = list.idOf(row);
            return (
              <tr key={id}>
                {columns.map(({ name, cell, isNumber }, index) => (
                  <td key={name} class={isNumber ? "number" : undefined}>
                    {list.bulk && index === 0 ? (
                      <Selection id={id} name={nameOf && (nameOf(row) ?? id)} isChecked={isSelected}>
                        {cell(row)}
                      </Selection>
                    ) : (
                      cell(row)
                    )}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </WideTable>
  );
}

interface SelectionProps {
  id: string;
  /** if the cell does not name the row */
  name: string | number | boolean | undefined;
  isChecked: boolean;
  children: ComponentChildren;
}

function Selection({ id, name, isChecked, children }: SelectionProps) {
  const label = name === undefined ? undefined : visibleText(String(name));
  return (
    <label>
      <input type="checkbox" name="id" value={id} aria-label={label} checked={isChecked} />
      {children}
    </label>
  );
}

function Heading<Row>({ column, sort }: { column: Column<Row>; sort: string | undefined }) {
  const { url } = useReader();
  const { label, sort: own, isNumber, isWide } = column;
  const kind = isNumber ? "number" : isWide ? "wide" : undefined;
  if (own === undefined)
    return (
      <th scope="col" class={kind}>
        {label}
      </th>
    );
  const other = own.startsWith("-") ? own.slice(1) : `-${own}`;
  const isSorted = sort === own || sort === other;
  const isDescending = sort?.startsWith("-") ?? false;
  const next = sort === own ? other : own;
  return (
    <th
      scope="col"
      class={kind}
      aria-sort={isSorted ? (isDescending ? "descending" : "ascending") : undefined}
    >
      <a href={fromStart(url, { sort: next })}>{label}</a>
    </th>
  );
}

function Pages({ paging }: { paging: Paging }) {
  const { url } = useReader();
  const links = "page" in paging ? numberedLinks(url, paging) : keyedLinks(url, paging);
  if (links.length === 0) return null;
  return (
    <nav class="pages" aria-label="Pages">
      {"page" in paging && (
        <span>
          Page {paging.page} of {lastPage(paging)}
        </span>
      )}
      {links.map(({ label, href }) => (
        <a
          key={label}
          href={href}
          rel={label === "Next" ? "next" : label === "Previous" ? "prev" : undefined}
        >
          {label}
        </a>
      ))}
    </nav>
  );
}

type Numbered = Extract<Paging, { page: number }>;

/** @returns the number of the last page, at least 1 */
const lastPage = ({ total, perPage }: Pick<Numbered, "total" | "perPage">): number =>
  Math.max(1, Math.ceil(total / perPage));

function numberedLinks(url: URL, paging: Numbered) {
  const { page, total } = paging;
  const last = lastPage(paging);
  // Reuses the total of the first page, because counting a long list takes longer than reading a page of it.
  const to = (target: number) =>
    addressWith(url, { page: target === 1 ? undefined : target, known: target === 1 ? undefined : total });
  return [
    ...(page > 1
      ? [
          { label: "First", href: to(1) },
          { label: "Previous", href: to(page - 1) },
        ]
      : []),
    ...(page < last
      ? [
          { label: "Next", href: to(page + 1) },
          { label: "Last", href: to(last) },
        ]
      : []),
  ];
}

const keyedLinks = (url: URL, { next, isFirst }: Exclude<Paging, Numbered>) => [
  ...(isFirst ? [] : [{ label: "First", href: fromStart(url, {}) }]),
  ...(next === null ? [] : [{ label: "Next", href: addressWith(url, { cursor: next }) }]),
];

function ColumnChoice<Row>({ columns, values }: { columns: readonly Column<Row>[]; values: Values }) {
  const { url, usual } = useReader();
  const isKept = usual(url.pathname) !== undefined;
  const chosen = chosenColumns(columns, values);
  return (
    <details class="columns">
      <summary>Columns</summary>
      <ul>
        {columns.map((column) => {
          const isShown = chosen.includes(column);
          const isNext = (other: Column<Row>) => (other === column ? !isShown : chosen.includes(other));
          const changed = columns.filter((other) => isNext(other) === (other.isOptional ?? false));
          const names = changed.map(({ name, isOptional }) => `${isOptional ? "+" : "-"}${name}`).join(",");
          // Without the parameter, the columns that the reader saved would be shown.
          const all = columns.filter(({ isOptional }) => !isOptional).map(({ name }) => name);
          return (
            <li key={column.name}>
              {isShown && chosen.length === 1 ? (
                column.label
              ) : (
                <a href={addressWith(url, { columns: names || (isKept ? all.join(",") : undefined) })}>
                  {isShown ? "Hide" : "Show"} {column.label}
                </a>
              )}
            </li>
          );
        })}
      </ul>
      <UsualForm />
    </details>
  );
}
