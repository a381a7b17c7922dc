// The processes of a benchmark: servers that print their address, and the load generator. Each is stopped by its caller. The parts
// (catalog.ts and its neighbors) define the responses and the results.
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { processesIn } from "../../src/platform/process-liveness.ts";
import { productCommand } from "../support/cli/executable.ts";
import type { LoadPlan, LoadResult } from "./tools/load.ts";

const START_LIMIT_MS = 30_000;
const LISTENS = /https?:\/\/127\.0\.0\.1:(\d+)/;

export interface Running {
  pid: number;
  port: number;
  /** sends SIGTERM, then waits for the process to end */
  stop(): Promise<void>;
}

/** The recommended deployment of the references. The product sets its mode itself. */
const IN_PRODUCTION = ["env", "NODE_ENV=production"];

/** @returns the command that runs a TypeScript file of this folder on the same Bun */
export const script = (name: string, ...args: string[]): string[] => [
  process.execPath,
  join(import.meta.dir, name),
  ...args,
];

/** @returns the command that runs a reference on the same Bun, in the mode that its documentation recommends */
export const peerOnBun = (name: string, ...args: string[]): string[] => [
  ...IN_PRODUCTION,
  ...script(name, ...args),
];

/** @returns the command for Node. Not every version of Node reads TypeScript, so the file is bundled into that directory */
export async function peerOnNode(node: string, name: string, directory: string): Promise<string[]> {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, name)],
    target: "node",
    outdir: directory,
    naming: name.replace(/\.ts$/, ".mjs"),
  });
  return [...IN_PRODUCTION, node, outputs[0]?.path ?? ""];
}

/** @returns the command line of the shipped executable */
export const quartermaster = (...args: string[]): string[] => [...productCommand(), ...args];

/** Parallel callers for durable writes: as many as may share a commit. */
export const WRITING_CALLERS = 64;

/** The role of a process in a benchmark: the measured one, or one that measures. */
export type Role = "measured" | "measuring";

const CORES: Record<Role, string> = { measured: "0", measuring: "1" };

/**
 * All threads of a server share one core, and load comes from the other. The placement by the system therefore does not
 * matter, and a result is the work of one core.
 * @returns the command, pinned to its core if the machine has two and util-linux
 */
export function onItsCore(role: Role, command: readonly string[]): string[] {
  const taskset = availableParallelism() > 1 ? Bun.which("taskset") : null;
  return taskset ? [taskset, "--cpu-list", CORES[role], ...command] : [...command];
}

/**
 * Starts a server and waits until it prints its origin on loopback. Its log is written to a file, like that of a service to a
 * journal: a pipe would have to be read here, which would disturb the measurement.
 * @throws if it ends or prints nothing; the error has its output
 */
export async function startServer(command: string[], role: Role = "measured"): Promise<Running> {
  const log = Bun.file(join(tmpdir(), `quartermaster-bench-${crypto.randomUUID()}.log`));
  const child = Bun.spawn(onItsCore(role, command), { env: cleanEnvironment(), stdout: "pipe", stderr: log });
  const stop = async () => {
    child.kill();
    await child.exited;
    await log.delete();
  };
  const silence = setTimeout(() => child.kill("SIGKILL"), START_LIMIT_MS);
  let said = "";
  for await (const chunk of child.stdout) {
    said += Buffer.from(chunk).toString();
    const port = Number(LISTENS.exec(said)?.[1] ?? 0);
    if (port === 0) continue;
    clearTimeout(silence);
    return { pid: child.pid, port, stop };
  }
  said += await log.text();
  await stop();
  throw new Error(`${command.join(" ")} did not start: ${said}`);
}

/** variables that every login shell and service manager sets */
const USUAL_VARIABLES = ["HOME", "LANG", "PATH", "TMPDIR"];

/** Neither personal settings nor settings that users lack may change the measurement. */
export const cleanEnvironment = (): Record<string, string | undefined> =>
  Object.fromEntries(USUAL_VARIABLES.map((name) => [name, process.env[name]]));

/** A running load. */
export interface RunningLoad {
  result: Promise<LoadResult>;
  /** Ends it early. @returns its result until then */
  end(): Promise<LoadResult>;
}

/** Starts one plan in a separate process. */
export function startLoad(plan: LoadPlan): RunningLoad {
  const child = Bun.spawn(onItsCore("measuring", script("tools/load.ts")), {
    env: cleanEnvironment(),
    stdin: Buffer.from(JSON.stringify(plan)),
    stdout: "pipe",
    stderr: "inherit",
  });
  const result = new Response(child.stdout).text().then((text): LoadResult => JSON.parse(text));
  const end = () => {
    child.kill("SIGTERM");
    return result;
  };
  return { result, end };
}

/** Runs one plan in a separate process. */
export const spawnLoad = (plan: LoadPlan): Promise<LoadResult> => startLoad(plan).result;

/**
 * Runs one plan whose responses must all have the same status.
 * @throws if a connection broke, or a response had another status
 */
export async function load(plan: LoadPlan, status: number): Promise<LoadResult> {
  return needStatus(await spawnLoad(plan), status);
}

/** @returns the result @throws if a connection broke, a response was wrong, or there was none */
export function needStatus(result: LoadResult, status: number): LoadResult {
  const others = Object.keys(result.statuses).filter((found) => Number(found) !== status);
  if (result.errors === 0 && others.length === 0 && result.requests > 0) return result;
  throw new Error(`wanted ${status} only: ${JSON.stringify(result)}`);
}

/** @returns resident memory of a process in MB; NaN if the system does not report it */
export const residentMb = (pid: number): Promise<number> => statusMb(pid, "VmRSS");

/** Samples every 10 ms. @returns a function that stops and returns the highest private memory of the process, in MB */
export function followOwnMb(pid: number): () => number {
  let most = Number.NaN;
  const look = async () => {
    const now = await ownMb(pid);
    most = Number.isNaN(most) ? now : Math.max(most, now);
  };
  const timer = setInterval(() => void look(), 10);
  return () => {
    clearInterval(timer);
    return most;
  };
}

/** Samples the processes that work in a folder every 10 ms. @returns a function that stops and returns the highest private memory of one, in MB */
export function followMbIn(folder: string): () => number {
  let most = 0;
  const look = async () => {
    for (const used of await Promise.all(processesIn(folder).map(ownMb))) most = Math.max(most, used || 0);
  };
  const timer = setInterval(() => void look(), 10);
  return () => {
    clearInterval(timer);
    return most;
  };
}

/** @returns memory that is not backed by a file, in MB; NaN if the system does not report it */
export const ownMb = (pid: number): Promise<number> => statusMb(pid, "RssAnon");

/** Begins to measure the highest memory of a process (proc_pid_clear_refs(5)). @returns the memory that it uses now, in MB */
export async function startPeak(pid: number): Promise<number> {
  await Bun.write(`/proc/${pid}/clear_refs`, "5");
  return await residentMb(pid);
}

/** @returns the highest resident memory of a process, since its start or since `startPeak`, in MB; NaN if the system does not report it */
export const peakMb = (pid: number): Promise<number> => statusMb(pid, "VmHWM");

/** @returns undefined for a file that does not exist */
const textOf = (file: string): Promise<string> =>
  Bun.file(file)
    .text()
    .catch(() => "");

async function statusMb(pid: number, field: string): Promise<number> {
  const status = await textOf(`/proc/${pid}/status`);
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1_024;
}

/** The system counts in this unit, regardless of its own clock (proc(5)). */
const TICK_MS = 10;

/** @returns processor time of a process, in ms; NaN if the system does not report it */
export async function processorMs(pid: number): Promise<number> {
  const stat = await textOf(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
