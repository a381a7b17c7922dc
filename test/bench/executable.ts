// The executable as shipped: its start time, its memory when idle and after load, and its size on disk.
import { mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { builtExecutable } from "../support/cli/executable.ts";
import { freePort } from "../support/network/free-port.ts";
import type { Figure } from "./figures.ts";
import { startMixedSite } from "./mixed-load.ts";
import { cleanEnvironment, peakMb, residentMb } from "./processes.ts";
import { median } from "./tools/compare.ts";
import { temporaryDirectory } from "./tools/installation.ts";

const STARTS = 7;
const START_LIMIT_MS = 20_000;
/** By then every workstation has sent each request several times. */
const LOAD_SECONDS = 20;

/** Measures size, start time and memory of the executable. The results have no goal. */
export async function* measureExecutable(): AsyncGenerator<Figure> {
  using directory = temporaryDirectory();
  const executable = builtExecutable();
  const data = join(directory.path, "data");
  const empty: number[] = [];
  const existing: number[] = [];
  for (let round = 0; round < STARTS; round++) {
    rmSync(data, { recursive: true, force: true });
    for (const times of [empty, existing]) {
      const started = await startExecutable(executable, data);
      times.push(started.readyMs);
      await started.stop();
    }
  }
  const idleMb = await restingMb(executable, data);
  const loaded = await loadedMb(join(directory.path, "company"));
  const told = (what: string, unit: string, ours: number): Figure => ({ what, unit, ours });
  yield told("executable, first 200 from an empty directory", "ms", median(empty));
  yield told("executable, first 200 from an existing one", "ms", median(existing));
  yield told("executable, memory at rest", "MB", idleMb);
  yield told("executable, memory after the mixed load", "MB", loaded.afterMb);
  yield told("executable, most memory under it", "MB", loaded.mostMb);
  yield told("executable, the mixed load", "requests/s", loaded.perSecond);
  yield told("executable, size", "MB", statSync(executable).size / 2 ** 20);
}

async function restingMb(executable: string, data: string): Promise<number> {
  const { pid, stop } = await startExecutable(executable, data);
  const restingMb = await residentMb(pid);
  await stop();
  return restingMb;
}

/** Runs a service for 1,000 workstations that send their usual requests at full speed. */
async function loadedMb(directory: string) {
  mkdirSync(directory);
  await using site = await startMixedSite(directory);
  const perSecond = await site.load(LOAD_SECONDS);
  const { pid } = site.service;
  return { perSecond, afterMb: await residentMb(pid), mostMb: await peakMb(pid) };
}

/** Starts an executable on a free port. The first response is measured, because the printed line comes later. */
export async function startExecutable(executable: string, data: string) {
  const port = freePort();
  const begin = performance.now();
  const child = Bun.spawn([executable, "serve", "--data-dir", data, "--server-listen", `127.0.0.1:${port}`], {
    env: cleanEnvironment(),
    stdout: "ignore",
    stderr: "ignore",
  });
  const stop = async () => {
    child.kill();
    await child.exited;
  };
  while (!(await isHealthy(port))) {
    if (child.exitCode !== null || performance.now() > begin + START_LIMIT_MS) {
      await stop();
      throw new Error(`the executable does not answer (exit code ${child.exitCode})`);
    }
    await Bun.sleep(1);
  }
  return { pid: child.pid, port, readyMs: performance.now() - begin, stop };
}

const isHealthy = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/health`).then(
    ({ status }) => status === 200,
    () => false,
  );
