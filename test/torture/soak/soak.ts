// Uses the whole product for an hour at a steady rate, like a fleet, people and unauthenticated callers. Memory, descriptors,
// files, the write-ahead log and latencies must not grow, and no response and no log line may be a failure of the service.
import { MINUTE_MS } from "../../../src/platform/clock.ts";
import { atMost, type Figure } from "../../bench/figures.ts";
import { printTable } from "../../bench/tools/compare.ts";
import { errorsIn, stop } from "../site.ts";
import { growthFigures, growthNote } from "./growth.ts";
import { type Minute, Minutes } from "./minutes.ts";
import { prepareProduct } from "./product.ts";
import { type Step, stepsOn } from "./steps.ts";

const MINUTES = 60;
/** each waits up to twice the pause before its next step */
const LOOPS = 16;
const PAUSE_MS = 400;
const SHOWN_FAILURES = 20;
/**
 * Steps for each minute of the run that are taken as fast as possible before it. An hour at the steady rate is not enough to compile
 * every function that is used and to fill every cache, so without them the warm-up would look like a leak.
 */
const WARM_UP_STEPS = 1_000;

/** Uses every part of the service for a long time and checks that nothing grows. */
export async function soak(minutes = MINUTES): Promise<Figure[]> {
  await using product = await prepareProduct();
  const { site } = product;
  await using service = await site.start();
  const steps = await stepsOn(site);
  const failures: string[] = [];
  const warmedUp = await warmUp(steps, { steps: WARM_UP_STEPS * minutes, failures });
  const watch = new Minutes(site, service.pid, printMinute);
  const taken = await takeSteps(steps, { untilMs: performance.now() + minutes * MINUTE_MS, watch, failures });
  watch.stop();
  failures.push(...errorsIn(service));
  await stop(service);
  for (const failure of failures.slice(0, SHOWN_FAILURES)) console.error(failure);
  if (watch.all.length > 0) printMinutes(watch.all);
  console.error(growthNote(watch.all.length));
  return [
    { what: "steps of the warm-up", unit: "steps", ours: warmedUp },
    { what: `soak of ${minutes} minutes: steps`, unit: "steps", ours: taken },
    ...growthFigures(watch.all),
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
  let taken = 0;
  await inLoops(async () => {
    if (performance.now() >= untilMs) return false;
    taken += 1;
    watch.step(await takeOne(steps, failures));
    await Bun.sleep(Math.random() * 2 * PAUSE_MS);
    return true;
  });
  return taken;
}

/** @returns how many steps were taken */
async function warmUp(
  steps: readonly Step[],
  { steps: count, failures }: { steps: number } & Pick<Run, "failures">,
): Promise<number> {
  let taken = 0;
  await inLoops(async () => {
    if (taken >= count) return false;
    taken += 1;
    await takeOne(steps, failures);
    return true;
  });
  return taken;
}

/** @param next returns false at the end */
async function inLoops(next: () => Promise<boolean>): Promise<void> {
  const loop = async () => {
    while (await next());
  };
  await Promise.all(Array.from({ length: LOOPS }, loop));
}

/** Takes a step at random, by weight. @returns its duration in milliseconds; undefined if that does not show how fast the service is */
async function takeOne(steps: readonly Step[], failures: string[]): Promise<number | undefined> {
  let left = Math.random() * steps.reduce((sum, { weight }) => sum + weight, 0);
  const step = steps.find(({ weight }) => {
    left -= weight;
    return left <= 0;
  });
  const startMs = performance.now();
  await step?.take().catch((error: unknown) => failures.push(`${step.name}: ${error}`));
  return step?.isTimed ? performance.now() - startMs : undefined;
}

const printMinute = ({ memoryMb, descriptors, files, walMb, p99Ms, steps }: Minute): void =>
  console.error(
    `  ${memoryMb.toFixed(0)} MB, ${descriptors} descriptors, ${files} files, log ${walMb.toFixed(1)} MB, 99th percentile ${p99Ms.toFixed(1)} ms, ${steps} steps`,
  );

/** Prints a dozen of the run's minutes. */
function printMinutes(all: readonly Minute[]): void {
  const every = Math.max(1, Math.ceil(all.length / 12));
  const rows = all.map((minute, at) => ({ minute: String(at + 1), ...minute }));
  printTable(rows.filter((_, at) => at % every === 0 || at === rows.length - 1));
}
