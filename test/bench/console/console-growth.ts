// What the console costs a service whose console nobody opens, and the first request of somebody who does.
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { BROTLI_QUALITY_MAX, browserFiles } from "../../../src/server/console/assets/bundle.ts";
import { builtExecutable } from "../../support/cli/executable.ts";
import { buildWithoutConsole } from "../../support/cli/without-console.ts";
import { startExecutable } from "../executable.ts";
import { atMost, budgeted, type Figure } from "../figures.ts";
import { processorMs, residentMb } from "../processes.ts";
import { compareAlternating, median } from "../tools/compare.ts";
import { temporaryDirectory } from "../tools/installation.ts";

const MB = 1_000_000;
const STARTS = 15;
/** Work that the service begins after its start has ended by then. */
const IDLE_AFTER_MS = 1_000;
const GROWTH_MAX_MB = 3;
const COST_MAX = 1.03;

interface Costs {
  processor: number[];
  memory: number[];
  /** of the first request for a page of the console */
  first: number[];
  memoryAfter: number[];
}

/** Measures size, start time and idle memory, compared with the same sources without the console */
export async function* measureConsoleGrowth(): AsyncGenerator<Figure> {
  using directory = temporaryDirectory();
  const sources = join(directory.path, "sources");
  mkdirSync(sources);
  const executables = { without: await buildWithoutConsole(sources), ours: builtExecutable() };
  const noted = (): Costs => ({ processor: [], memory: [], first: [], memoryAfter: [] });
  const costs: Record<keyof typeof executables, Costs> = { without: noted(), ours: noted() };
  const startOf = (name: keyof typeof executables) => async () => {
    const { readyMs, pid, port, stop } = await startExecutable(executables[name], join(directory.path, name));
    costs[name].processor.push(await processorMs(pid));
    await Bun.sleep(IDLE_AFTER_MS);
    costs[name].memory.push(await residentMb(pid));
    const begin = performance.now();
    await (await fetch(`http://127.0.0.1:${port}/console`, { redirect: "manual" })).bytes();
    costs[name].first.push(performance.now() - begin);
    costs[name].memoryAfter.push(await residentMb(pid));
    await stop();
    return readyMs;
  };
  const subjects = { without: startOf("without"), ours: startOf("ours") };
  const [other, own] = await compareAlternating({ rounds: STARTS, warmUps: 1, subjects });
  const { without, ours } = costs;
  const files = browserFiles(BROTLI_QUALITY_MAX).reduce((sum, { brotli }) => sum + brotli.length, 0);
  const growth = (statSync(executables.ours).size - statSync(executables.without).size + files) / MB;
  const told = (what: string, unit: string, own: number, reference: number): Figure => {
    const ratio = own / reference;
    return { what, unit, ours: own, reference, ratio, verdict: atMost(COST_MAX, ratio) };
  };
  yield {
    what: "CON-138 growth of the executable",
    unit: "MB",
    ours: growth,
    verdict: budgeted(GROWTH_MAX_MB, growth),
  };
  yield told("first 200 after start", "ms", own?.median ?? Number.NaN, other?.median ?? Number.NaN);
  yield told("processor time until then", "ms", median(ours.processor), median(without.processor));
  yield told("memory at rest", "MB", median(ours.memory), median(without.memory));
  yield { what: "first request of the console", unit: "ms", ours: median(ours.first) };
  yield { what: "memory after it", unit: "MB", ours: median(ours.memoryAfter) };
}
