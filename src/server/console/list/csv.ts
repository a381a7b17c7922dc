// A list as a CSV file (RFC 4180): UTF-8, a header row, times in RFC 3339. Rows are streamed page by page, so that memory does not
// grow with their number, and the export is recorded in the audit log.
import { setImmediate } from "node:timers/promises";
import { Type } from "@sinclair/typebox";
import type { KeyedPage } from "../../../domain/shared/page.ts";
import { operation } from "../../openapi.ts";
import type { Column } from "./list.ts";

/** A longer file is cut; its last line says so. */
export const CSV_ROWS_MAX = 1_000_000;

/** Spreadsheets execute cells that begin with these characters as formulas. */
const FORMULA = /^[=+\-@\t\r]/;

type Cell = string | number | boolean | null | undefined;

export interface CsvFile<Row> {
  /** `workstations.csv` */
  name: string;
  columns: readonly Column<Row>[];
  /** pages of rows in the order of the list */
  pages: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>;
  /** Records the export. Called once, with the number of rows that were sent, also if the browser closed the connection. */
  recordExport(rows: number): Promise<void>;
  rowsMax?: number;
}

/** @returns one value in the syntax of RFC 4180 */
export function csvCell(value: Cell): string {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" && FORMULA.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const csvLine = (cells: readonly Cell[]): string => `${cells.map(csvCell).join(",")}\r\n`;

async function* csvText<Row>(
  { columns, pages, rowsMax = CSV_ROWS_MAX }: CsvFile<Row>,
  sent: { rows: number },
) {
  const exported = columns.filter(({ csv }) => csv !== undefined);
  yield csvLine(exported.map(({ name }) => name));
  for await (const page of pages) {
    await setImmediate(); // lets other requests run
    const rows = page.slice(0, rowsMax - sent.rows);
    yield rows.map((row) => csvLine(exported.map(({ csv }) => csv?.(row)))).join("");
    sent.rows += rows.length;
    if (rows.length < page.length) {
      yield csvLine([`cut after ${rowsMax} rows`]);
      return;
    }
    await setImmediate(); // lets other requests run
  }
}

/**
 * Walks a list by key.
 * @param read returns the rows after a row, or the first rows; none at the end
 * @returns all pages; the first one is read before this returns, so that a wrong filter is answered before the file begins
 */
export async function walkPages<Row>(
  read: (after: Row | undefined) => Promise<readonly Row[]>,
): Promise<AsyncIterable<readonly Row[]>> {
  const first = await read(undefined);
  return (async function* () {
    for (let rows = first; rows.length > 0; rows = await read(rows.at(-1))) yield rows;
  })();
}

/** `walkPages` for a list whose pages name the next one. */
export async function walkCursors<Row>(
  read: (cursor: string | undefined) => KeyedPage<Row> | Promise<KeyedPage<Row>>,
): Promise<AsyncIterable<readonly Row[]>> {
  let next: string | null | undefined;
  return await walkPages(async () => {
    if (next === null) return [];
    const page = await read(next);
    next = page.next;
    return page.items;
  });
}

/** @returns the file as a download */
export function csvResponse<Row>(file: CsvFile<Row>): Response {
  const sent = { rows: 0 };
  const lines = csvText(file, sent);
  let isRecorded = false;
  // Outside the generator, because a generator that never started does not run its cleanup.
  const record = async (): Promise<void> => {
    if (isRecorded) return;
    isRecorded = true;
    await file.recordExport(sent.rows);
  };
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await lines.next();
        if (!done) return controller.enqueue(Buffer.from(value));
      } catch (error) {
        await record();
        throw error;
      }
      await record();
      controller.close();
    },
    async cancel() {
      await lines.return();
      await record();
    },
  });
  return new Response(body, {
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="${file.name}"`,
      "cache-control": "no-store",
    },
  });
}

const csvFile = { description: "The file", schema: Type.String(), mediaType: "text/csv" };

/** Options of the route of a CSV file, which identifies the reader itself, as pages do. */
export const csvRoute = (operationId: string, summary: string) =>
  ({
    requires: "nobody",
    detail: operation(operationId, summary, { tags: ["Console"], answers: { 200: csvFile } }),
  }) as const;
