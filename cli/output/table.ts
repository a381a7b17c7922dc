// Formats tables for people: one row per item, no borders, columns aligned by display width. output.ts prints them.
// cli-table3 and similar packages were rejected: they draw boxes and wrap cells, which requirement CLI-4 forbids.
import { toRfc3339 } from "../../src/platform/clock.ts";
import { ageText } from "./age.ts";
import { colored, type StateColor } from "./color.ts";
import { printable } from "./printable.ts";

export interface Column<Row> {
  /** in uppercase */
  readonly header: string;
  /** null, undefined and "" show as `-`; a Date shows as its age, or exactly in a wide table */
  readonly value: (row: Row) => string | number | Date | null | undefined;
  /** shown in wide tables only */
  readonly isWide?: boolean;
  /** never shortened, because commands take the value: an id */
  readonly isWhole?: boolean;
  /** color of the value on a terminal; undefined for the default */
  readonly color?: (row: Row) => StateColor | undefined;
}

/** How to print a list as a table and as JSON. */
export interface Listing<Row> {
  readonly columns: readonly Column<Row>[];
  /** the row as JSON: snake_case members, RFC 3339 times, sizes in bytes */
  readonly json: (row: Row) => object;
  /** printed to stderr instead of an empty table: `no workstations` */
  readonly empty: string;
}

export interface TableStyle {
  /** exact times, all columns, full values */
  readonly wide: boolean;
  /** width of the terminal in cells; undefined if the output is not a terminal */
  readonly columns: number | undefined;
  readonly nowMs: number;
  readonly hasColor?: boolean;
}

const GAP = "  ";
/** Columns are never shortened below this width, in cells. A row that still does not fit is longer than the line. */
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
    const widths = this.#widths();
    return lineOf(this.#shown.map(({ header }, at) => padded(header, widths[at] ?? 0)));
  }

  lines(rows: readonly Row[]): string[] {
    const widths = this.#widths();
    return rows.map((row) =>
      lineOf(this.#cells(row).map((cell, at) => this.#painted(row, at, padded(cell, widths[at] ?? 0)))),
    );
  }

  #painted(row: Row, at: number, cell: string): string {
    const color = this.style.hasColor ? this.#shown[at]?.color?.(row) : undefined;
    return color === undefined ? cell : colored(cell, color);
  }

  #cells(row: Row): string[] {
    return this.#shown.map(({ value }) => cellText(value(row), this.style));
  }

  #widths(): readonly number[] {
    const { wide, columns } = this.style;
    if (wide || columns === undefined) return this.#natural;
    const leastWidths = this.#shown.map(({ isWhole }, at) =>
      isWhole ? (this.#natural[at] ?? 0) : SHORTENED_WIDTH_MIN,
    );
    return fitted({ natural: this.#natural, leastWidths }, columns);
  }
}

function cellText(value: ReturnType<Column<never>["value"]>, { wide, nowMs }: TableStyle): string {
  if (value instanceof Date) return wide ? toRfc3339(value.getTime()) : ageText(value.getTime(), nowMs);
  const text = printable(String(value ?? ""));
  return text === "" ? "-" : text;
}

interface Widths {
  natural: readonly number[];
  /** a column is never narrower */
  leastWidths: readonly number[];
}

/** Narrows the widest column that may be narrowed, one cell at a time, until a row fits the line. */
function fitted({ natural, leastWidths }: Widths, limit: number): readonly number[] {
  const widths = [...natural];
  const room = limit - GAP.length * (widths.length - 1);
  for (let excess = widths.reduce((sum, width) => sum + width, 0) - room; excess > 0; excess--) {
    const narrowable = widths.map((width, at) => (width > (leastWidths[at] ?? 0) ? width : 0));
    const widest = Math.max(...narrowable);
    if (widest === 0) break;
    widths[narrowable.indexOf(widest)] = widest - 1;
  }
  return widths;
}

const lineOf = (cells: readonly string[]): string => cells.join(GAP).trimEnd();

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
