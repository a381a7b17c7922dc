// What a benchmark has to tell: one figure a line, beside what it is compared with and the ratio that is wanted.
import { compareAlternating, printTable } from "./compare.ts";

export interface Figure {
  what: string;
  unit: string;
  ours: number;
  /** of what ours is compared with */
  reference?: number;
  ratio?: number;
  /** absent where a figure is only told */
  verdict?: Verdict;
}

export interface Verdict {
  wanted: string;
  isMet: boolean;
}

/** @returns whether a ratio is good enough */
export const atLeast = (wanted: number, ratio: number): Verdict => ({
  wanted: `>= ${wanted}`,
  isMet: ratio >= wanted,
});

/** One part of the benchmark; it cleans up after itself. */
export type Part = () => Promise<Figure[]>;

export interface Contest {
  what: string;
  unit: string;
  /** the least ratio that is good enough */
  wanted: number;
  rounds: number;
  /** each returns more when it is faster */
  ours: () => Promise<number>;
  reference: () => Promise<number>;
}

/** Measures ours beside the reference, in alternating rounds. @returns medians, and the median of the rounds' ratios */
export async function contest({ what, unit, wanted, ours, reference, rounds }: Contest): Promise<Figure> {
  const [other, own] = await compareAlternating({ rounds, subjects: { reference, ours } });
  const ratio = own?.ratio ?? Number.NaN;
  const medians = { ours: own?.median ?? Number.NaN, reference: other?.median ?? Number.NaN };
  return { what, unit, ...medians, ratio, verdict: atLeast(wanted, ratio) };
}

/** Prints every figure as one table. */
export function printFigures(figures: readonly Figure[]): void {
  printTable(
    figures.map(({ what, unit, ours, reference, ratio, verdict }) => ({
      figure: what,
      unit,
      ours,
      reference: reference ?? "",
      ratio: ratio?.toFixed(2) ?? "",
      wanted: verdict?.wanted ?? "",
      result: verdict ? (verdict.isMet ? "pass" : "SHORT") : "",
    })),
  );
}
