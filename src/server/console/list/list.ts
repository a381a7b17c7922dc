// What a list page shows, and how its address is read. list-view.tsx draws it, csv.ts exports it.
import type { ComponentChildren } from "preact";
import type { Page } from "../../../domain/shared/page.ts";
import { DomainError, type Problem } from "../../../platform/errors.ts";
import type { Twin } from "../parts/command.tsx";
import type { Reader } from "../reader.ts";
import { addressWith, valuesOf } from "./address.ts";

/** A control of the filter form. Its name is the parameter of the address, and of the domain's query. */
export interface Filter {
  name: string;
  label: string;
  kind: "search" | "text" | "choice" | "date";
  /** of a choice, without the empty one */
  choices?: readonly { value: string; label: string }[];
  hint?: string;
  /** hidden behind "More filters" while it has no value */
  isRare?: boolean;
}

/** Parameter that shows the rare filters too. Pages read what such filters offer only then. */
export const ALL_FILTERS = { name: "filters", value: "all" } as const;

/** @returns whether the reader opened the rare filters */
export const hasAllFilters = (values: Values): boolean => values[ALL_FILTERS.name] === ALL_FILTERS.value;

export interface Column<Row> {
  /** of the parameter `columns` and of the CSV header */
  name: string;
  label: string;
  cell(row: Row): ComponentChildren;
  /** value in a CSV file; the column is not exported without it */
  csv?(row: Row): string | number | boolean | null | undefined;
  /** value of `sort` that orders by this column; with `-` before it, the other way round */
  sort?: string;
  isNumber?: boolean;
  /** keeps room for a name, where other columns may shrink to single words */
  isWide?: boolean;
  /** shown only if the address names it */
  isRare?: boolean;
}

/** Where the reader is in the list. */
export type Paging =
  /** pages with numbers; a total that `isBound` means more than that */
  | { page: number; perPage: number; total: number; isBound?: boolean }
  /** pages by key; `next` is the cursor of the following page; a total that `isBound` means more than that */
  | { next: string | null; isFirst: boolean; total?: number | undefined; isBound?: boolean };

/** An action on selected rows. It leads to a confirmation page. */
interface BulkAction {
  /** value of `act` */
  name: string;
  label: string;
}

export interface List<Row> extends Twin {
  /** plural, for example `workstations` */
  noun: string;
  filters: readonly Filter[];
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  idOf(row: Row): string;
  paging: Paging;
  /** what would fill the list, with the first step */
  none: ComponentChildren;
  /** problems of the address by parameter; the list then has no rows */
  problems?: readonly Problem[];
  /** order without `sort` in the address */
  defaultSort?: string;
  /** path of the CSV file; omitted if there is none */
  csvPath?: string;
  /** path of the confirmation page, and what can be done there */
  bulk?: { path: string; actions: readonly BulkAction[] } | undefined;
}

/** Parameters of every list's address. */
export type Values = Readonly<Record<string, string>>;

/** @returns the parameters of the reader's address, with the columns and rows that the reader keeps for the list */
export function listValues({ url, usual }: Reader): Values {
  const kept = usual(url.pathname);
  return kept === undefined
    ? valuesOf(url)
    : { ...Object.fromEntries(new URLSearchParams(kept)), ...valuesOf(url) };
}

/** @returns the number in a parameter; NaN if it is none */
export const numberIn = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;

/** @returns which page of numbered pages the address asks for; a total that is no number is counted anew */
export function placeIn({ page, per_page: perPage, known }: Values) {
  const total = numberIn(known);
  return {
    page: numberIn(page),
    perPage: numberIn(perPage),
    known: Number.isNaN(total) ? undefined : total,
  };
}

/** @returns the address of the last page, if this one is behind it; the same page first if its total was not counted now */
export function lastPageAddress({ url }: Reader, { items, page, perPage, total }: Page<unknown>) {
  if (items.length > 0 || page === 1) return undefined;
  const last = Math.max(1, Math.ceil(total / perPage));
  if (url.searchParams.has("known")) return addressWith(url, { known: undefined });
  return addressWith(url, { page: last === 1 ? undefined : last });
}

/** Either rows, or what is wrong with the address. */
export type Found<Rows> =
  | { rows: Rows; problems?: undefined }
  | { rows?: undefined; problems: readonly Problem[] };

/**
 * Runs a query of the domain. Bad values of the address are shown next to their filters, with status 400.
 * @param also problems that the page found itself
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
