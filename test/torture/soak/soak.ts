// An hour of everything that a fleet, people and strangers do, at a steady pace, with the whole product on. Memory, descriptors,
// files, the write-ahead log and answer times stay flat, no answer is a failure of the service, and the log has none.
import { atMost, type Figure } from "../../bench/figures.ts";
import { printTable } from "../../bench/tools/compare.ts";
import { errorsIn, stop } from "../site.ts";
import { type Minute, Minutes, trendOf } from "./minutes.ts";
import { prepareProduct } from "./product.ts";
import { type Step, stepsOn } from "./steps.ts";

const MINUTES = 60;
const MINUTE_MS = 60_000;
/** each waits up to twice the pause before its next step */
const LOOPS = 16;
const PAUSE_MS = 400;
const SHOWN_FAILURES = 20;

interface Bound {
  name: keyof Minute;
  what: string;
  unit: string;
  /** growth over the second half that is not one, as a share of the typical figure and in its unit; the larger counts */
  share: number;
  least: number;
}

/** Answer times depend on what else the machine does; a log has a size until the next checkpoint. */
const BOUNDS: readonly Bound[] = [
  { name: "memoryMb", what: "memory", unit: "MB", share: 0.05, least: 4 },
  { name: "descriptors", what: "descriptors", unit: "open", share: 0, least: 3 },
  { name: "files", what: "files in the data directory", unit: "files", share: 0.05, least: 5 },
  { name: "walMb", what: "write-ahead log", unit: "MB", share: 0.1, least: 4 },
  { name: "p99Ms", what: "99th percentile", unit: "ms", share: 0.25, least: 10 },
];

/** Uses every part of the service for a long time and checks that nothing grows. */
export async function soak(minutes = MINUTES): Promise<Figure[]> {
  await using product = await prepareProduct();
  const { site } = product;
  await using service = await site.start();
  const steps = await stepsOn(site);
  const watch = new Minutes(site, service.pid, tell);
  const failures: string[] = [];
  const taken = await takeSteps(steps, { untilMs: performance.now() + minutes * MINUTE_MS, watch, failures });
  watch.stop();
  failures.push(...errorsIn(service));
  await stop(service);
  for (const failure of failures.slice(0, SHOWN_FAILURES)) console.error(failure);
  printMinutes(watch.all);
  return [
    { what: `soak of ${minutes} minutes: steps`, unit: "steps", ours: taken },
    ...BOUNDS.map((bound) => figureOf(bound, watch.all)),
    {
      ...{ what: "failures", unit: "failures", ours: failures.length },
      verdict: atMost(0, failures.length),
    },
  ];
}

interface Run {
  untilMs: number;
  watch: Minutes;
  failures: string[];
}

/** @returns how many steps were taken */
async function takeSteps(steps: readonly Step[], { untilMs, watch, failures }: Run): Promise<number> {
  const total = steps.reduce((sum, { weight }) => sum + weight, 0);
  const pick = (): Step | undefined => {
    let left = Math.random() * total;
    return steps.find(({ weight }) => {
      left -= weight;
      return left <= 0;
    });
  };
  let taken = 0;
  const loop = async () => {
    while (performance.now() < untilMs) {
      const step = pick();
      const startMs = performance.now();
      await step?.take().catch((error: unknown) => failures.push(`${step.name}: ${error}`));
      watch.step(step?.isTimed ? performance.now() - startMs : undefined);
      taken += 1;
      await Bun.sleep(Math.random() * 2 * PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: LOOPS }, loop));
  return taken;
}

const tell = ({ memoryMb, descriptors, files, walMb, p99Ms, steps }: Minute): void =>
  console.error(
    `  ${memoryMb.toFixed(0)} MB, ${descriptors} descriptors, ${files} files, log ${walMb.toFixed(1)} MB, 99th percentile ${p99Ms.toFixed(1)} ms, ${steps} steps`,
  );

/** Each figure at the minutes that a reader compares. */
function printMinutes(all: readonly Minute[]): void {
  const every = Math.max(1, Math.ceil(all.length / 12));
  const rows = all.map((minute, at) => ({ minute: String(at + 1), ...minute }));
  printTable(rows.filter((_, at) => at % every === 0 || at === rows.length - 1));
}

/** What the slope adds over the second half must be small beside what is typical there. */
function figureOf({ name, what, unit, share, least }: Bound, all: readonly Minute[]): Figure {
  const { typical, growth } = trendOf(all.map((minute) => minute[name]));
  const allowed = Math.max(least, share * typical);
  return {
    ...{ what: `${what}, and its growth over the second half`, unit, ours: growth, reference: typical },
    verdict: atMost(Math.round(allowed * 10) / 10, growth),
  };
}
