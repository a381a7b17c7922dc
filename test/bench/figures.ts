// What a benchmark has to tell: one figure a line, beside what it is compared with and the ratio that is wanted.
import { compareAlternating, printTable } from "./compare.ts";

export interface Figure {
  what: string;
  unit: string;
  ours: number;
  /** of what ours is compared with */
  reference?: number;
  ratio?: number;
  /** the least ratio that is good enough; absent where a figure is only told */
  wanted?: number;
}

/** One part of the benchmark; it cleans up after itself. */
export type Part = () => Promise<Figure[]>;

export interface Contest {
  what: string;
  unit: string;
  wanted: number;
  rounds: number;
  /** each returns more when it is faster */
  ours: () => Promise<number>;
  reference: () => Promise<number>;
}

/** Measures ours beside the reference, in alternating rounds. @returns medians, and the median of the rounds' ratios */
export async function contest({ ours, reference, rounds, ...told }: Contest): Promise<Figure> {
  const [other, own] = await compareAlternating({ rounds, subjects: { reference, ours } });
  return {
    ...told,
    ours: own?.median ?? Number.NaN,
    reference: other?.median ?? Number.NaN,
    ratio: own?.ratio ?? Number.NaN,
  };
}

/** Prints every figure as one table. */
export function printFigures(figures: readonly Figure[]): void {
  printTable(
    figures.map(({ what, unit, ours, reference, ratio, wanted }) => ({
      figure: what,
      unit,
      ours,
      reference: reference ?? "",
      ratio: ratio?.toFixed(2) ?? "",
      wanted: wanted === undefined ? "" : `>= ${wanted}`,
      result: wanted === undefined ? "" : (ratio ?? 0) >= wanted ? "pass" : "SHORT",
    })),
  );
}
