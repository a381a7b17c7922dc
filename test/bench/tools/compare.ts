// Compares subjects fairly on a machine whose speed varies: they run in alternating order, round by round, so that variations
// affect all alike, and medians and ratios are reported. The caller defines how one subject is measured.

export interface Comparison {
  name: string;
  /** in the unit the subject returns */
  median: number;
  min: number;
  max: number;
  /** median of this subject's ratio to the first subject of the same round */
  ratio: number;
}

/**
 * Runs every subject once a round; odd rounds run in reverse order. Warm-ups come first and are not counted: a server compiles its
 * code during its first requests.
 * @param subjects by name, each returning one result; the first is the reference
 * @returns one row for each subject, in their order
 */
export async function compareAlternating(options: {
  rounds: number;
  /** runs of each subject; default: none */
  warmUps?: number;
  subjects: Readonly<Record<string, () => Promise<number>>>;
}): Promise<Comparison[]> {
  for (let warmUp = 0; warmUp < (options.warmUps ?? 0); warmUp++)
    for (const measure of Object.values(options.subjects)) await measure();
  const names = Object.keys(options.subjects);
  const figures = new Map<string, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round < options.rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const figure = await options.subjects[name]?.();
      if (figure !== undefined) figures.get(name)?.push(figure);
    }
  }
  const reference = figures.get(names[0] ?? "") ?? [];
  return names.map((name) => rowOf(name, figures.get(name) ?? [], reference));
}

const rowOf = (name: string, own: readonly number[], reference: readonly number[]): Comparison => ({
  name,
  median: median(own),
  min: Math.min(...own),
  max: Math.max(...own),
  ratio: median(own.map((figure, round) => figure / (reference[round] ?? Number.NaN))),
});

/** @returns the median; the mean of the middle two for an even number; NaN for none */
export function median(figures: readonly number[]): number {
  const sorted = figures.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
}

/** @param share from 0 to 1 @returns the percentile of that share; NaN for none */
export const quantile = (figures: readonly number[], share: number): number =>
  figures.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(figures.length * share) - 1)] ?? Number.NaN;

/** Prints rows as an aligned table; numbers are rounded to a readable precision. */
export function printTable(rows: readonly Readonly<Record<string, string | number>>[]): void {
  const columns = Object.keys(rows[0] ?? {});
  const cells = [columns, ...rows.map((row) => columns.map((column) => cellOf(row[column] ?? "")))];
  const widths = columns.map((_, at) => Math.max(...cells.map((line) => line[at]?.length ?? 0)));
  for (const line of cells) console.log(lineOf(line, widths));
}

/** @returns the cells of one row, the first at the left edge of its column and the others at the right */
export const lineOf = (cells: readonly string[], widths: readonly number[]): string =>
  cells
    .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
    .join("  ");

/** @returns a number with a readable precision */
export function cellOf(value: string | number): string {
  if (typeof value === "string") return value;
  return Math.abs(value) >= 100 ? Math.round(value).toLocaleString("en-US") : value.toPrecision(3);
}
