// Runs an action on many rows of a list: those selected on a page, or all that match the filters. Asks first. A filter
// is processed in slices, one request each. The area of the list counts and changes the rows.
import { BULK_ROWS_MAX, type BulkRow, type BulkSlice } from "../../../../domain/shared/bulk.ts";
import { quoted } from "../../../../platform/text/problem-list.ts";
import type { Done } from "../../../console/console.ts";
import type { ConsolePage } from "../../../console/frame/frame.tsx";
import type { Fields } from "../../../console/frame/kept-fields.tsx";
import { valuesOf } from "../../../console/list/address.ts";
import {
  type BulkView,
  confirmMany,
  invalidSelectionPage,
  type Progress,
  resultPage,
  unchangeablePage,
} from "../../../console/list/bulk.tsx";
import { type Filter, unknownFilters, type Values } from "../../../console/list/list.ts";
import { countedRows } from "../../../console/list/named-rows.tsx";
import type { Equivalents } from "../../../console/parts/command.tsx";
import { isTypedNumber, TYPED_FIELD } from "../../../console/parts/form.tsx";
import type { Reader } from "../../../console/reader.ts";
import { FormField, formOf } from "../../../pages/html.ts";

/** Number of refused ids that the pages of one action keep: as many as one retry can take. */
const REFUSED_KEPT = BULK_ROWS_MAX;

/** The form of every action on many rows. */
export const BULK_FORM = formOf({
  csrf: FormField,
  by: FormField,
  act: FormField,
  ids: FormField,
  retry: FormField,
  all: FormField,
  filter: FormField,
  expected: FormField,
  [TYPED_FIELD]: FormField,
  cursor: FormField,
  done: FormField,
  unchanged: FormField,
  refused: FormField,
  left: FormField,
});

interface BulkRequest<Act extends string> {
  act: Act;
  ids: readonly string[];
  /** query of the list without `?`; undefined for ids */
  filter: string | undefined;
}

interface SliceOf<Act extends string, Selection> {
  act: Act;
  selection: Selection;
  whole?: number | undefined;
  rowsMax?: number | undefined;
  cursor?: string | undefined;
  isDryRun?: boolean | undefined;
}

/** The functions that the area of a list provides. `Selection` is the input of its domain. */
export interface Bulk<Act extends string, Selection> {
  view: BulkView<Act>;
  acts: readonly Act[];
  /** filters of the list; any other parameter is refused, because ignoring it would select more rows than intended */
  filters: readonly Pick<Filter, "name">[];
  /** @throws DomainError of kind `invalid` for an invalid filter */
  selectionOf(
    reader: Reader,
    chosen: { ids: readonly string[] } | { values: Values; text: string },
  ): Promise<Selection>;
  count(reader: Reader, selection: Selection): Promise<number>;
  slice(reader: Reader, slice: SliceOf<Act, Selection>): Promise<BulkSlice>;
  /** the equivalent command and request */
  equivalents(request: {
    act: Act;
    count: number;
    selection: Selection;
    rows: readonly BulkRow[];
  }): Equivalents;
  /** the confirmation page of a single row */
  confirmOne(reader: Reader, act: Act, id: string): ConsolePage | Response;
  /** the action on a single row, after its confirmation */
  runOne?(reader: Reader, act: Act, id: string): Promise<Done>;
}

/** The confirmation page for an address, and the action of its form. */
export class BulkActions<Act extends string, Selection> {
  constructor(private readonly bulk: Bulk<Act, Selection>) {}

  /** @returns the confirmation page */
  async confirm(reader: Reader): Promise<ConsolePage | Response> {
    const { searchParams: query } = reader.url;
    const request = this.#requestIn({
      act: query.get("act"),
      ids: query.getAll("id"),
      all: query.get("all"),
      filter: query.get("filter"),
    });
    if ("title" in request) return request;
    const [id] = request.ids;
    if (id !== undefined && request.ids.length === 1) return this.bulk.confirmOne(reader, request.act, id);
    return await this.#question(reader, request);
  }

  /** Runs the action of the form. */
  async run(reader: Reader, fields: Fields): Promise<Done | ConsolePage> {
    const { act, all, filter } = fields;
    const request = this.#requestIn({ act, ids: idsIn(fields.ids), all, filter });
    if ("title" in request) return request;
    if (request.filter !== undefined) return await this.#runFilter(reader, request, fields);
    const [id] = request.ids;
    const isOne = id !== undefined && request.ids.length === 1 && fields.retry === undefined;
    if (this.bulk.runOne && isOne) return await this.bulk.runOne(reader, request.act, id);
    return await this.#runIds(reader, request);
  }

  #requestIn(given: {
    act: string | null | undefined;
    ids: readonly string[];
    all: string | null | undefined;
    filter: string | null | undefined;
  }): BulkRequest<Act> | ConsolePage {
    const { view, acts } = this.bulk;
    const [one, many] = view.nouns;
    const act = acts.find((known) => known === given.act);
    if (!act) return invalidSelectionPage(view, `Choose what to do with the ${many}.`);
    if (given.all === "1") return this.#filterRequest(act, (given.filter ?? "").replace(/^\?/, ""));
    const ids = [...new Set(given.ids)];
    if (ids.length === 0) return invalidSelectionPage(view, `Select at least one ${one} of the list.`);
    if (ids.length > BULK_ROWS_MAX)
      return invalidSelectionPage(
        view,
        `Select at most ${BULK_ROWS_MAX} ${many}, or all that match the filters.`,
      );
    return { act, ids, filter: undefined };
  }

  #filterRequest(act: Act, filter: string): BulkRequest<Act> | ConsolePage {
    const { view, filters } = this.bulk;
    const [unknown] = unknownFilters(filter, filters);
    if (unknown !== undefined)
      return invalidSelectionPage(view, `The list of ${view.nouns[1]} has no filter ${quoted(unknown)}.`);
    const repeated = repeatedIn(filter);
    if (repeated === undefined) return { act, ids: [], filter };
    return invalidSelectionPage(view, `The filter ${quoted(repeated)} has more than one value.`);
  }

  #selectionOf(reader: Reader, { ids, filter }: BulkRequest<Act>): Promise<Selection> {
    if (filter === undefined) return this.bulk.selectionOf(reader, { ids });
    const values = valuesOf(new URL(`${this.bulk.view.listPath}?${filter}`, reader.url));
    return this.bulk.selectionOf(reader, { values, text: filter });
  }

  async #question(reader: Reader, request: BulkRequest<Act>, error?: string): Promise<ConsolePage> {
    const { view } = this.bulk;
    const { act, filter } = request;
    const selection = await this.#selectionOf(reader, request);
    const count = await this.bulk.count(reader, selection);
    if (count === 0) return invalidSelectionPage(view, `No ${view.nouns[0]} matches these filters now.`);
    const preview = { act, selection, isDryRun: true };
    const rows = filter === undefined ? (await this.bulk.slice(reader, preview)).rows : [];
    const exceptions = rows.filter(({ result }) => result !== "done");
    if (rows.length > 0 && exceptions.length === rows.length)
      return unchangeablePage(view, { act, rows, language: reader.language });
    const equivalents = this.bulk.equivalents({ act, count, selection, rows });
    return confirmMany(view, {
      ...request,
      language: reader.language,
      count,
      named: rows.filter(({ result }) => result === "done"),
      exceptions,
      further: rows.filter(({ result, why }) => result === "done" && why !== undefined),
      error,
      ...equivalents,
    });
  }

  async #runIds(reader: Reader, request: BulkRequest<Act>): Promise<ConsolePage> {
    const { act, ids } = request;
    const selection = await this.#selectionOf(reader, request);
    const slice = await this.bulk.slice(reader, { act, selection, whole: ids.length });
    const progress = progressAfter(slice, progressIn({ expected: String(ids.length) }, ""));
    return resultPage(this.bulk.view, { act, rows: slice.rows, progress, language: reader.language });
  }

  async #runFilter(reader: Reader, request: BulkRequest<Act>, fields: Fields): Promise<ConsolePage> {
    const { act, filter = "" } = request;
    const sent = progressIn(fields, filter);
    const { cursor } = sent;
    const selection = await this.#selectionOf(reader, request);
    const isFirst = cursor === undefined;
    const begun = isFirst ? await this.#begin(reader, selection, { fields, sent }) : { before: sent };
    if ("error" in begun) return await this.#question(reader, request, begun.error);
    const { before } = begun;
    const slice = await this.bulk.slice(reader, {
      act,
      selection,
      rowsMax: Math.min(BULK_ROWS_MAX, before.left),
      cursor,
      ...(isFirst && { whole: before.whole }),
    });
    const progress = progressAfter(slice, before);
    const rows = progress.left === 0 && !isFirst ? await this.#refusals(reader, act, progress) : slice.rows;
    return resultPage(this.bulk.view, { act, rows, progress, language: reader.language });
  }

  /**
   * Checks the confirmed number, and counts again.
   * @returns the progress at the beginning, for the rows that match now, or why the question is asked again
   */
  async #begin(
    reader: Reader,
    selection: Selection,
    { fields, sent }: { fields: Fields; sent: Progress },
  ): Promise<{ before: Progress } | { error: string }> {
    const confirmed = sent.whole;
    if (!isTypedNumber(fields[TYPED_FIELD], confirmed))
      return { error: `Type the number ${confirmed} to confirm.` };
    const now = await this.bulk.count(reader, selection);
    if (now === 0) return { error: "No row is left." };
    // Fewer rows than confirmed need no second confirmation, but progress must end at their number.
    if (now <= confirmed) return { before: { ...sent, whole: now, left: Math.min(sent.left, now) } };
    const rows = countedRows(this.bulk.view.nouns, now, reader.language);
    return { error: `There are now ${rows}, not ${confirmed}. Confirm the new number.` };
  }

  /** @returns the first refused rows of all slices, with their current reasons */
  async #refusals(reader: Reader, act: Act, { refusedIds: ids }: Progress): Promise<readonly BulkRow[]> {
    if (ids.length === 0) return [];
    const selection = await this.bulk.selectionOf(reader, { ids });
    const { rows } = await this.bulk.slice(reader, { act, selection, isDryRun: true });
    return rows.filter(({ result }) => result === "refused");
  }
}

/** @returns the name of a parameter with more than one value */
const repeatedIn = (query: string): string | undefined =>
  [...Map.groupBy(new URLSearchParams(query), ([name]) => name)].find(
    ([, given]) => given.filter(([, value]) => value.trim() !== "").length > 1,
  )?.[0];

const idsIn = (text: string | undefined): string[] => (text ?? "").split(",").filter((id) => id !== "");

const count = (text: string | undefined): number => (/^\d{1,9}$/.test(text ?? "") ? Number(text) : 0);

/** @returns the progress of the earlier slices, which the form shows */
function progressIn(fields: Fields, filter: string): Progress {
  const whole = count(fields.expected);
  const left = fields.left === undefined ? whole : Math.min(count(fields.left), whole);
  const cursor = fields.cursor === "" ? undefined : fields.cursor;
  return {
    done: count(fields.done),
    unchanged: count(fields.unchanged),
    refused: count(fields.refused),
    refusedIds: idsIn(fields.ids).slice(0, REFUSED_KEPT),
    whole,
    left,
    cursor,
    filter,
  };
}

function progressAfter({ rows, next }: BulkSlice, before: Progress): Progress {
  const having = (wanted: BulkRow["result"]) => rows.filter(({ result }) => result === wanted);
  const refused = having("refused").map(({ id }) => id);
  return {
    ...before,
    done: before.done + having("done").length,
    unchanged: before.unchanged + having("unchanged").length,
    refused: before.refused + refused.length,
    refusedIds: [...before.refusedIds, ...refused].slice(0, REFUSED_KEPT),
    left: next === null ? 0 : Math.max(0, before.left - rows.length),
    cursor: next ?? undefined,
  };
}
