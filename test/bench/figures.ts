// What a benchmark has to tell: one figure a line, beside what it is compared with and the ratio that is wanted.
import { compareAlternating, printTable } from "./tools/compare.ts";

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
  /** so far from what is wanted that no busy machine explains it: the run fails */
  isFailure?: boolean;
}

/** @returns whether a ratio is good enough */
export const atLeast = (wanted: number, ratio: number): Verdict => ({
  wanted: `>= ${wanted}`,
  isMet: ratio >= wanted,
});

/** @returns whether a cost is small enough */
export const atMost = (wanted: number, cost: number): Verdict => ({
  wanted: `<= ${wanted}`,
  isMet: cost <= wanted,
});

/** How many times a budget a cost may be before the run fails. */
const BUDGET_MISSED_TIMES = 3;

/** @returns whether a cost is within its budget; missing it by a factor of three is a failure */
export const budgeted = (budget: number, cost: number): Verdict => ({
  ...atMost(budget, cost),
  isFailure: cost > BUDGET_MISSED_TIMES * budget,
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

/** runs of each before it counts: the more code a server has, the longer it takes to be compiled */
const WARM_UPS = 3;

export interface Race {
  unit: string;
  rounds: number;
  /** each returns more when it is faster; `ours` is one of them */
  subjects: Readonly<Record<"ours", () => Promise<number>>> & Readonly<Record<string, () => Promise<number>>>;
}

/** What is told of a race: ours beside the fastest of some of the others. */
export interface Rivals {
  what: string;
  /** beginning of their names; nothing is told when none took part */
  rivals: string;
  /** the least ratio that is good enough; only told when left out */
  wanted?: number;
}

/** Measures several side by side, in alternating rounds, and tells each comparison by itself. */
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
      result: verdict ? resultOf(verdict) : "",
    })),
  );
}

function resultOf({ isMet, isFailure = false }: Verdict): string {
  if (isMet) return "pass";
  return isFailure ? "FAILED" : "SHORT";
}
