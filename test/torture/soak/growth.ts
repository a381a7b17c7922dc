// Whether the figures of a soak grow. The first half of a run warms up, so only the second half counts. A slope that a few
// disturbed minutes do not change gives the growth of a figure there.
import { atMost, type Figure } from "../../bench/figures.ts";
import { median } from "../../bench/tools/compare.ts";
import type { Minute } from "./minutes.ts";

interface Bound {
  name: keyof Minute;
  what: string;
  unit: string;
  /** accepted growth over the second half: this percentage of the median there, or `least` if that is more */
  percent: number;
  /** in its unit */
  least: number;
}

/** Latencies depend on other load of the machine; the size of a log changes until the next checkpoint. */
const BOUNDS: readonly Bound[] = [
  { name: "memoryMb", what: "memory", unit: "MB", percent: 5, least: 4 },
  { name: "descriptors", what: "descriptors", unit: "open", percent: 0, least: 3 },
  { name: "files", what: "files in the data directory", unit: "files", percent: 5, least: 5 },
  { name: "walMb", what: "write-ahead log", unit: "MB", percent: 10, least: 4 },
  { name: "p99Ms", what: "99th percentile", unit: "ms", percent: 25, least: 10 },
];

/** With three minutes in the second half, one disturbed minute does not change the slope. */
export const JUDGED_MINUTES_MIN = 6;

/** @returns one figure for each bound: none for a run without a whole minute, and without a verdict below JUDGED_MINUTES_MIN */
export const growthFigures = (all: readonly Minute[]): Figure[] =>
  all.length === 0 ? [] : BOUNDS.map((bound) => figureOf(bound, all));

/** @returns an explanation of the figures of a run with this many whole minutes */
export const growthNote = (minutes: number): string =>
  minutes < JUDGED_MINUTES_MIN
    ? `The run has ${minutes} whole minutes. Growth is judged from ${JUDGED_MINUTES_MIN} minutes on.`
    : "Growth is the median slope over the second half of the run, times its length; the reference is the median there.";

function figureOf({ name, what, unit, percent, least }: Bound, all: readonly Minute[]): Figure {
  const { typical, growth } = trendOf(all.map((minute) => minute[name]));
  const figure = { what: `${what}: growth over the second half`, unit, ours: growth, reference: typical };
  if (all.length < JUDGED_MINUTES_MIN) return figure;
  const verdict = atMost(rounded(Math.max(least, (percent / 100) * typical)), growth);
  const reason = percent === 0 ? "" : ` (${percent} % of ${rounded(typical)}, or ${least} if that is more)`;
  return { ...figure, verdict: { ...verdict, wanted: verdict.wanted + reason } };
}

const rounded = (figure: number): number => Math.round(figure * 10) / 10;

/**
 * @param figures at equal distances
 * @returns the median of the slopes between any two of them, which a few disturbed ones do not change; 0 of fewer than two
 */
export function slopeOf(figures: readonly number[]): number {
  const slopes = figures.flatMap((later, at) =>
    figures.slice(0, at).map((earlier, before) => (later - earlier) / (at - before)),
  );
  return slopes.length === 0 ? 0 : median(slopes);
}

export interface Trend {
  /** median in the second half */
  typical: number;
  /** slope over the second half, times its length */
  growth: number;
}

/** @param figures one for each minute, at least one */
export function trendOf(figures: readonly number[]): Trend {
  const late = figures.slice(Math.floor(figures.length / 2));
  return { typical: median(late), growth: slopeOf(late) * Math.max(0, late.length - 1) };
}
