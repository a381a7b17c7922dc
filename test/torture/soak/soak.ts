// Uses the whole product for an hour at a steady rate, like a fleet, people and unauthenticated callers. Memory, descriptors,
// files, the write-ahead log and latencies must not grow, and no response and no log line may be a failure of the service.
import { MINUTE_MS } from "../../../src/platform/clock.ts";
import { atMost, type Figure } from "../../bench/figures.ts";
import { printTable } from "../../bench/tools/compare.ts";
import { errorsIn, stop } from "../site.ts";
import { growthFigures, growthNote } from "./growth.ts";
import { type Minute, Minutes } from "./minutes.ts";
import { prepareProduct } from "./product.ts";
import { stepsOn } from "./steps.ts";
import { takeSteps, warmUp } from "./take-steps.ts";

const MINUTES = 60;
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
  const taken = await takeSteps(steps, {
    untilMs: performance.now() + minutes * MINUTE_MS,
    failures,
    onStep: (durationMs) => watch.step(durationMs),
  });
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
      what: "failures",
      unit: "failures",
      ours: failures.length,
      verdict: atMost(0, failures.length),
    },
  ];
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
