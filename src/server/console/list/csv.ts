// A list as a CSV file (RFC 4180): UTF-8, a header row, times in RFC 3339. Rows are streamed page by page, so that memory does not
// grow with their number, and the export is recorded in the audit log.
import { setImmediate } from "node:timers/promises";
import { Type } from "@sinclair/typebox";
import { operation } from "../../openapi.ts";
import type { Column } from "./list.ts";

/** A longer file is cut, and its last line says so. */
export const CSV_ROWS_MAX = 1_000_000;

/** Spreadsheets run cells that begin with these as formulas. */
const FORMULA = /^[=+\-@\t\r]/;

type Cell = string | number | boolean | null | undefined;

export interface CsvFile<Row> {
  /** `workstations.csv` */
  name: string;
  columns: readonly Column<Row>[];
  /** pages of rows in the order of the list */
  pages: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>;
  /** Records the export: called once, with the number of rows that were sent, also when the reader went away. */
  recordExport(rows: number): Promise<void>;
  rowsMax?: number;
}

/** @returns one value as RFC 4180 wants it */
export function csvCell(value: Cell): string {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" && FORMULA.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const csvLine = (cells: readonly Cell[]): string => `${cells.map(csvCell).join(",")}\r\n`;

async function* csvText<Row>({ columns, pages, recordExport, rowsMax = CSV_ROWS_MAX }: CsvFile<Row>) {
  const exported = columns.filter(({ csv }) => csv !== undefined);
  let sent = 0;
  try {
    yield csvLine(exported.map(({ name }) => name));
    for await (const page of pages) {
      const rows = page.slice(0, rowsMax - sent);
      yield rows.map((row) => csvLine(exported.map(({ csv }) => csv?.(row)))).join("");
      sent += rows.length;
      if (rows.length < page.length) {
        yield csvLine([`cut after ${rowsMax} rows`]);
        return;
      }
      await setImmediate(); // lets other requests run
    }
  } finally {
    await recordExport(sent);
  }
}

/**
 * Walks a list by key.
 * @param read returns the rows behind a row, or the first rows; none at the end
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

/** @returns the file as a download */
export function csvAnswer<Row>(file: CsvFile<Row>): Response {
  const lines = csvText(file);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await lines.next();
      if (done) controller.close();
      else if (value !== "") controller.enqueue(Buffer.from(value));
      else controller.enqueue(new Uint8Array());
    },
    async cancel() {
      await lines.return();
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

/** Options of the route of a CSV file. Like a page, it looks up the visitor itself. */
export const csvRoute = (operationId: string, summary: string) =>
  ({
    requires: "nobody",
    detail: operation(operationId, summary, { tags: ["Console"], answers: { 200: csvFile } }),
  }) as const;
