// The model of a list page, and the reading of its address. list-view.tsx draws it, csv.ts exports it.

import type { ComponentChildren } from "preact";
import type { Page } from "../../../domain/shared/page.ts";
import { DomainError, type Problem } from "../../../platform/errors.ts";
import type { Equivalents } from "../parts/command.tsx";
import type { Reader } from "../reader.ts";
import { addressWith, PLACES, SELECTION, valuesOf } from "./address.ts";
import type { FirstStep } from "./first-step.tsx";

/** A control of the filter form. Its name is the parameter of the address, and of the domain's query. */
export interface Filter {
  name: string;
  label: string;
  /** a `person` is a text with proposals of addresses */
  kind: "search" | "text" | "choice" | "date" | "person";
  /** of a choice, without the empty one */
  choices?: readonly { value: string; label: string }[];
  hint?: string;
  /** hidden under "More filters" while it has no value */
  isOptional?: boolean;
}

/** Parameter that shows the rare filters too. Their choices are loaded only then. */
export const ALL_FILTERS = { name: "filters", value: "all" } as const;

/** @returns whether the reader opened the rare filters */
export const hasAllFilters = (values: Values): boolean => values[ALL_FILTERS.name] === ALL_FILTERS.value;

export interface Column<Row, Name extends string = string> {
  /** of the parameter `columns` and of the CSV header */
  name: Name;
  label: string;
  cell(row: Row): ComponentChildren;
  /** value in a CSV file; the column is not exported without it */
  csv?(row: Row): string | number | boolean | null | undefined;
  /** value of `sort` that orders by this column; `-` before it reverses the order */
  sort?: string;
  isNumber?: boolean;
  /** is wide enough for a name; other columns may shrink to single words */
  isWide?: boolean;
  /** shown only if the address names it */
  isOptional?: boolean;
}

/** Where the reader is in the list. */
export type Paging =
  /** numbered pages; with `isBound`, the total is a lower bound */
  | { page: number; perPage: number; total: number; isBound?: boolean }
  /** pages by key; `next` is the cursor of the following page; with `isBound` there are more rows than the total */
  | { next: string | null; isFirst: boolean; total?: number | undefined; isBound?: boolean };

/** An action on selected rows. It leads to a confirmation page. */
interface BulkAction {
  /** value of `act` */
  name: string;
  label: string;
}

export interface List<Row> extends Equivalents {
  /** plural, for example `workstations` */
  noun: string;
  filters: readonly Filter[];
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  idOf(row: Row): string;
  paging: Paging;
  /** how to get the first row of an empty list */
  none: FirstStep;
  /** problems of the address by parameter; the list then has no rows */
  problems?: readonly Problem[];
  /** order without `sort` in the address */
  defaultSort?: string;
  /** path of the CSV file; omitted if there is none */
  csvPath?: string;
  /** path of the confirmation page, and the available actions */
  bulk?: { path: string; actions: readonly BulkAction[] } | undefined;
}

/** Parameters of every list's address. */
export type Values = Readonly<Record<string, string>>;

/** @returns the parameters of the reader's address, completed by the columns and page size that the reader saved for the list */
export function listValues({ url, usual }: Reader): Values {
  const kept = usual(url.pathname);
  return kept === undefined
    ? valuesOf(url)
    : { ...Object.fromEntries(new URLSearchParams(kept)), ...valuesOf(url) };
}

/** Parameters that change the display but not which rows match. */
const OF_THE_VIEW = ["sort", "columns", "per_page", ALL_FILTERS.name, SELECTION.name, ...PLACES];

/** @returns unknown parameters in a list's query, such as a mistyped filter */
export function unknownFilters(query: string, filters: readonly Pick<Filter, "name">[]): string[] {
  const known = new Set([...OF_THE_VIEW, ...filters.map(({ name }) => name)]);
  return [...new Set(new URLSearchParams(query).keys())].filter((name) => !known.has(name));
}

/** @returns the number in a parameter; NaN if it is not a number */
export const numberIn = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;

/** @returns the page number of the address; a total that is not a number is counted again */
export function placeIn({ page, per_page: perPage, known }: Values) {
  const total = numberIn(known);
  return {
    page: numberIn(page),
    perPage: numberIn(perPage),
    known: Number.isNaN(total) ? undefined : total,
  };
}

/**
 * @returns the address of the last page if the requested page is after it; if the total was not counted now, the same page with a
 *   fresh count
 */
export function lastPageAddress({ url }: Reader, { items, page, perPage, total }: Page<unknown>) {
  if (items.length > 0 || page === 1) return undefined;
  const last = Math.max(1, Math.ceil(total / perPage));
  if (url.searchParams.has("known")) return addressWith(url, { known: undefined });
  return addressWith(url, { page: last === 1 ? undefined : last });
}

/** Either rows, or the problems of the address. */
export type Found<Rows> =
  | { rows: Rows; problems?: undefined }
  | { rows?: undefined; problems: readonly Problem[] };

/**
 * Runs a query of the domain. Invalid values of the address are shown next to their filters, with status 400.
 * @param also further problems, which the page found
 */
export async function found<Rows>(
  query: () => Rows | Promise<Rows>,
  also: readonly Problem[] = [],
): Promise<Found<Rows>> {
  try {
    const rows = await query();
    return also.length > 0 ? { problems: also } : { rows };
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind !== "invalid") throw error;
    const { problems, message } = error;
    return { problems: [...also, ...(problems.length > 0 ? problems : [{ pointer: "", detail: message }])] };
  }
}
