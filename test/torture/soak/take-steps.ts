// Takes random steps of a soak, by weight, in several parallel loops.
import type { Step } from "./steps.ts";

/** each loop waits up to twice the pause before its next step */
const LOOPS = 16;
const PAUSE_MS = 400;

interface Run {
  untilMs: number;
  /** receives the steps that failed */
  failures: string[];
  /** @param durationMs undefined for a step that waits on purpose */
  onStep?(durationMs: number | undefined): void;
}

/** Takes steps at a steady rate. @returns how many were taken */
export async function takeSteps(steps: readonly Step[], { untilMs, failures, onStep }: Run): Promise<number> {
  let taken = 0;
  await inLoops(async () => {
    if (performance.now() >= untilMs) return false;
    taken += 1;
    const durationMs = await takeOne(steps, failures);
    onStep?.(durationMs);
    await Bun.sleep(Math.random() * 2 * PAUSE_MS);
    return true;
  });
  return taken;
}

/** Takes steps as fast as possible. @returns how many were taken */
export async function warmUp(
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
