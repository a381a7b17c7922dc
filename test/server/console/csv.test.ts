// CON-24: a list as a CSV file.
import { describe, expect, test } from "bun:test";
import { CSV_ROWS_MAX, csvCell, csvResponse } from "../../../src/server/console/list/csv.ts";
import type { Column } from "../../../src/server/console/list/list.ts";

const COLUMNS: readonly Column<number>[] = [
  { name: "number", label: "Number", cell: String, csv: (row) => row },
  { name: "link", label: "Only on the page", cell: String },
];

function* pagesOf(total: number, size: number) {
  for (let at = 0; at < total; at += size)
    yield Array.from({ length: Math.min(size, total - at) }, (_, index) => at + index);
}

/** @returns the lines of an export, and the rows that were recorded */
async function exported(total: number, rowsMax?: number) {
  const recorded: number[] = [];
  const answer = csvResponse({
    name: "numbers.csv",
    columns: COLUMNS,
    pages: pagesOf(total, 100),
    recordExport: async (rows) => {
      recorded.push(rows);
    },
    ...(rowsMax !== undefined && { rowsMax }),
  });
  const text = await answer.text();
  return { answer, text, lines: text.split("\r\n").slice(0, -1), recorded };
}

describe("CON-24 a CSV file", () => {
  test.each([
    ["plain", "plain"],
    ['with "quotes", comma', '"with ""quotes"", comma"'],
    ["two\nlines", '"two\nlines"'],
    ["=1+1", "'=1+1"],
    ["+1", "'+1"],
    ["-1", "'-1"],
    ["@SUM(A1)", "'@SUM(A1)"],
    ["\tx", "'\tx"],
    ["\rx", '"\'\rx"'],
  ])("writes %j as %j", (value, cell) => {
    expect(csvCell(value)).toBe(cell);
  });

  test("keeps numbers unchanged, and is empty for missing values", () => {
    expect([-1, 0, true, null, undefined].map(csvCell)).toEqual(["-1", "0", "true", "", ""]);
  });

  test("has a header row with the exported columns, and records its rows", async () => {
    const { answer, text, recorded } = await exported(2);
    expect(text).toBe("number\r\n0\r\n1\r\n");
    expect(answer.headers.get("content-disposition")).toBe('attachment; filename="numbers.csv"');
    expect(recorded).toEqual([2]);
  });

  test.each([
    [249, 250, 250],
    [250, 250, 251],
    [251, 250, 252],
  ])("reads %d rows, and is cut with a note after %d", async (total, rowsMax, lines) => {
    const file = await exported(total, rowsMax);
    expect(file.lines).toHaveLength(lines);
    expect(file.lines.at(-1)).toBe(total > rowsMax ? `cut after ${rowsMax} rows` : String(total - 1));
    expect(file.recorded).toEqual([Math.min(total, rowsMax)]);
    expect(CSV_ROWS_MAX).toBe(1_000_000);
  });

  test("records an export that was canceled before its first row, once", async () => {
    const recorded: number[] = [];
    const answer = csvResponse({
      name: "numbers.csv",
      columns: COLUMNS,
      pages: pagesOf(100, 100),
      recordExport: async (rows) => {
        recorded.push(rows);
      },
    });
    await answer.body?.cancel();
    expect(recorded).toEqual([0]);
  });

  test("records the sent rows when a later page fails", async () => {
    const recorded: number[] = [];
    const failing = function* () {
      yield [1, 2];
      throw new Error("the disk is gone");
    };
    const answer = csvResponse({
      name: "numbers.csv",
      columns: COLUMNS,
      pages: failing(),
      recordExport: async (rows) => {
        recorded.push(rows);
      },
    });
    expect(answer.text()).rejects.toThrow("the disk is gone");
    await answer.text().catch(() => {});
    expect(recorded).toEqual([2]);
  });

  test("records the sent rows when the reader disconnects", async () => {
    const recorded: number[] = [];
    const answer = csvResponse({
      name: "numbers.csv",
      columns: COLUMNS,
      pages: pagesOf(1_000_000, 100),
      recordExport: async (rows) => {
        recorded.push(rows);
      },
    });
    const reader = answer.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect(recorded).toHaveLength(1);
    expect(recorded[0]).toBeLessThan(1_000);
  });
});
