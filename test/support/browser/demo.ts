// The demo as a separate service with its simulated workstations, in the process of a test.
import { runDemo } from "../../../src/app/demo/demo.ts";
import type { Started } from "../../../src/app/demo/events.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { systemIds } from "../../../src/platform/ids.ts";

/** Runs a demo that ends when the result is disposed. */
export async function startDemo(workstations: number): Promise<Started & AsyncDisposable> {
  const ending = new AbortController();
  const started = Promise.withResolvers<Started>();
  const demo = runDemo({
    directory: undefined,
    port: 0,
    workstations,
    seed: "1",
    clock: systemClock,
    ids: systemIds,
    report: (event) => event.event === "started" && started.resolve(event),
    signal: ending.signal,
  });
  const stop = async () => {
    ending.abort();
    await demo;
  };
  // A demo that fails must not be waited for.
  const facts = await Promise.race([started.promise, demo.then(() => started.promise)]);
  return { ...facts, [Symbol.asyncDispose]: stop };
}
