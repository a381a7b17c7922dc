// Formats tables for people: one row per item, no borders, columns aligned by display width. output.ts prints them.
// cli-table3 and similar packages were rejected: they draw boxes and wrap cells, which requirement CLI-4 forbids.
import { toRfc3339 } from "../../src/platform/clock.ts";
import { ageText } from "./age.ts";
import { printable } from "./printable.ts";

export interface Column<Row> {
  /** in uppercase */
  readonly header: string;
  /** null, undefined and "" show as `-`; a Date shows as its age, or exactly in a wide table */
  readonly value: (row: Row) => string | number | Date | null | undefined;
  /** shown in wide tables only */
  readonly isWide?: boolean;
}

/** How to print a list as a table and as JSON. */
export interface Listing<Row> {
  readonly columns: readonly Column<Row>[];
  /** the row as JSON: snake_case members, RFC 3339 times, sizes in bytes */
  readonly json: (row: Row) => object;
  /** printed to stderr instead of an empty table: `no clients` */
  readonly empty: string;
}

export interface TableStyle {
  /** exact times, all columns, full values */
  readonly wide: boolean;
  /** width of the terminal in cells; undefined if the output is not a terminal */
  readonly columns: number | undefined;
  readonly nowMs: number;
}

const GAP = "  ";
/** Columns are never shortened below this width, in cells. */
export const SHORTENED_WIDTH_MIN = 8;

/** @returns header and rows, one line each, without a line break at the end */
export function tableText<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  style: TableStyle,
): string {
  const table = new Table(columns, style);
  table.measure(rows);
  return [table.header(), ...table.lines(rows)].join("\n");
}

/** A table that receives its rows in parts, first through `measure` and then through `lines`. It stores no rows. */
export class Table<Row> {
  readonly #shown: readonly Column<Row>[];
  readonly #natural: number[];

  constructor(
    columns: readonly Column<Row>[],
    private readonly style: TableStyle,
  ) {
    this.#shown = columns.filter(({ isWide }) => style.wide || !isWide);
    this.#natural = this.#shown.map(({ header }) => Bun.stringWidth(header));
  }

  measure(rows: readonly Row[]): void {
    for (const row of rows)
      for (const [at, cell] of this.#cells(row).entries())
        this.#natural[at] = Math.max(this.#natural[at] ?? 0, Bun.stringWidth(cell));
  }

  header(): string {
    return lineText(
      this.#shown.map(({ header }) => header),
      this.#widths(),
    );
  }

  lines(rows: readonly Row[]): string[] {
    const widths = this.#widths();
    return rows.map((row) => lineText(this.#cells(row), widths));
  }

  #cells(row: Row): string[] {
    return this.#shown.map(({ value }) => cellText(value(row), this.style));
  }

  #widths(): readonly number[] {
    const { wide, columns } = this.style;
    return wide || columns === undefined ? this.#natural : fitted(this.#natural, columns);
  }
}

function cellText(value: ReturnType<Column<never>["value"]>, { wide, nowMs }: TableStyle): string {
  if (value instanceof Date) return wide ? toRfc3339(value.getTime()) : ageText(value.getTime(), nowMs);
  const text = printable(String(value ?? ""));
  return text === "" ? "-" : text;
}

/** Narrows the widest column, one cell at a time, until a row fits the line. */
function fitted(natural: readonly number[], limit: number): readonly number[] {
  const widths = [...natural];
  const room = limit - GAP.length * (widths.length - 1);
  for (let excess = widths.reduce((sum, width) => sum + width, 0) - room; excess > 0; excess--) {
    const widest = widths.indexOf(Math.max(...widths));
    const width = widths[widest] ?? 0;
    if (width <= SHORTENED_WIDTH_MIN) break;
    widths[widest] = width - 1;
  }
  return widths;
}

const lineText = (cells: readonly string[], widths: readonly number[]): string =>
  cells
    .map((cell, index) => padded(cell, widths[index] ?? 0))
    .join(GAP)
    .trimEnd();

function padded(cell: string, width: number): string {
  const text = Bun.stringWidth(cell) > width ? shortened(cell, width) : cell;
  return text + " ".repeat(Math.max(0, width - Bun.stringWidth(text)));
}

/** Keeps both ends: identifiers differ at the end, addresses at the beginning. */
function shortened(cell: string, width: number): string {
  const characters = Array.from(new Intl.Segmenter().segment(cell), ({ segment }) => segment);
  const head = fitting(characters, Math.ceil((width - 1) / 2)).join("");
  const tail = fitting(characters.toReversed(), width - 1 - Bun.stringWidth(head)).toReversed();
  return `${head}…${tail.join("")}`;
}

/** @returns the first characters, as many as fit the width */
function fitting(characters: readonly string[], width: number): readonly string[] {
  let room = width;
  const end = characters.findIndex((character) => {
    room -= Bun.stringWidth(character);
    return room < 0;
  });
  return end === -1 ? characters : characters.slice(0, end);
}
