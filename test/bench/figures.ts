// The results of a benchmark, one per line, with the reference value and the required ratio.
import { cellOf, compareAlternating, lineOf } from "./tools/compare.ts";

export interface Figure {
  what: string;
  unit: string;
  ours: number;
  /** of the reference */
  reference?: number;
  ratio?: number;
  /** absent if the result has no goal */
  verdict?: Verdict;
}

export interface Verdict {
  wanted: string;
  isMet: boolean;
  /** too far from the goal to be explained by a busy machine, so the run fails */
  isFailure?: boolean;
}

/** @returns whether a ratio is high enough */
export const atLeast = (wanted: number, ratio: number): Verdict => ({
  wanted: `>= ${wanted}`,
  isMet: ratio >= wanted,
});

/** @returns whether a cost is low enough */
export const atMost = (wanted: number, cost: number): Verdict => ({
  wanted: `<= ${wanted}`,
  isMet: cost <= wanted,
});

/** The factor by which a cost may exceed its limit before the run fails. */
const BUDGET_MISSED_TIMES = 3;

/** @returns whether a cost is within its limit; exceeding it by a factor of three is a failure */
export const budgeted = (budget: number, cost: number): Verdict => ({
  ...atMost(budget, cost),
  isFailure: cost > BUDGET_MISSED_TIMES * budget,
});

/** One part of the benchmark; it cleans up after itself. */
export type Part = () => AsyncIterable<Figure>;

export interface Contest {
  what: string;
  unit: string;
  /** the lowest accepted ratio */
  wanted: number;
  rounds: number;
  /** each returns a number that grows with speed */
  ours: () => Promise<number>;
  reference: () => Promise<number>;
}

/** Measures the product and the reference in alternating rounds. @returns medians, and the median of the rounds' ratios */
export async function contest({ what, unit, wanted, ours, reference, rounds }: Contest): Promise<Figure> {
  const [other, own] = await compareAlternating({ rounds, subjects: { reference, ours } });
  const ratio = own?.ratio ?? Number.NaN;
  const medians = { ours: own?.median ?? Number.NaN, reference: other?.median ?? Number.NaN };
  return { what, unit, ...medians, ratio, verdict: atLeast(wanted, ratio) };
}

/** uncounted runs of each: the more code a server has, the longer it takes to compile */
const WARM_UPS = 3;

export interface Race {
  unit: string;
  rounds: number;
  /** each returns a number that grows with speed; `ours` is one of them */
  subjects: Readonly<Record<"ours", () => Promise<number>>> & Readonly<Record<string, () => Promise<number>>>;
}

/** A comparison: the product and the fastest of some other subjects. */
export interface Rivals {
  what: string;
  /** prefixes of their names; no result if none of them ran */
  rivals: string;
  /** the lowest accepted ratio; without it the result has no goal */
  wanted?: number;
}

/** Measures several subjects in alternating rounds, and reports each comparison separately. */
export async function race({ unit, rounds, subjects }: Race, told: readonly Rivals[]): Promise<Figure[]> {
  const { ours, ...others } = subjects;
  const [own, ...rows] = await compareAlternating({
    rounds,
    warmUps: WARM_UPS,
    subjects: { ours, ...others },
  });
  return told.flatMap(({ what, rivals, wanted }) => {
    const [fastest] = rows
      .filter(({ name }) => name.startsWith(rivals))
      .toSorted((one, other) => other.median - one.median);
    if (!fastest) return [];
    const ratio = 1 / fastest.ratio;
    return {
      what: `${what} (against ${fastest.name})`,
      unit,
      ours: own?.median ?? Number.NaN,
      reference: fastest.median,
      ratio,
      ...(wanted !== undefined && { verdict: atLeast(wanted, ratio) }),
    };
  });
}

/** A longer cell only moves the rest of its row. */
const WIDTHS = { figure: 76, unit: 12, ours: 9, reference: 9, ratio: 5, wanted: 8, result: 6 };

/** Prints the names of the columns of `printFigure`. */
export function printHead(): void {
  console.log(lineOf(Object.keys(WIDTHS), Object.values(WIDTHS)));
}

/** Prints one figure as one row. */
export function printFigure({ what, unit, ours, reference, ratio, verdict }: Figure): void {
  const cells = [
    what,
    unit,
    cellOf(ours),
    cellOf(reference ?? ""),
    ratio?.toFixed(2) ?? "",
    verdict?.wanted ?? "",
    verdict ? resultOf(verdict) : "",
  ];
  console.log(lineOf(cells, Object.values(WIDTHS)));
}

function resultOf({ isMet, isFailure = false }: Verdict): string {
  if (isMet) return "pass";
  return isFailure ? "FAILED" : "SHORT";
}
