// The processes of a benchmark: servers that say where they listen, and the load generator beside them. Each is ended
// by its caller. What they answer, and what the figures mean, is for the parts (catalog.ts and its neighbors).
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { productCommand } from "../support/cli/executable.ts";
import type { LoadPlan, LoadResult } from "./tools/load.ts";

const START_LIMIT_MS = 30_000;
const LISTENS = /https?:\/\/127\.0\.0\.1:(\d+)/;

export interface Running {
  pid: number;
  port: number;
  /** SIGTERM, then waits for its end */
  stop(): Promise<void>;
}

/** How peers are meant to be deployed. The product sets its mode itself, as its users start it. */
const IN_PRODUCTION = ["env", "NODE_ENV=production"];

/** @returns the command that runs a TypeScript file of this folder on the same Bun */
export const script = (name: string, ...args: string[]): string[] => [
  process.execPath,
  join(import.meta.dir, name),
  ...args,
];

/** @returns the command that runs a peer on the same Bun, in the mode that its documentation recommends */
export const peerOnBun = (name: string, ...args: string[]): string[] => [
  ...IN_PRODUCTION,
  ...script(name, ...args),
];

/** @returns the same on Node, which does not read TypeScript in every version; it is bundled into that directory */
export async function peerOnNode(node: string, name: string, directory: string): Promise<string[]> {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, name)],
    target: "node",
    outdir: directory,
    naming: name.replace(/\.ts$/, ".mjs"),
  });
  return [...IN_PRODUCTION, node, outputs[0]?.path ?? ""];
}

/** @returns the command line of the executable that users get */
export const quartermaster = (...args: string[]): string[] => [...productCommand(), ...args];

/** Callers at once where what is acknowledged is on the disk: as many as may share a commit. */
export const WRITING_CALLERS = 64;

/** Which part of a benchmark a process is: the one that is measured, or what it is measured with. */
export type Role = "measured" | "measuring";

const CORES: Record<Role, string> = { measured: "0", measuring: "1" };

/**
 * Servers share one core, whatever threads they have, and load comes from the other: so no two of them differ by what the
 * system happened to put beside them, and a figure is what one core does.
 * @returns the command, kept to its core where the machine has two and util-linux
 */
export function onItsCore(role: Role, command: readonly string[]): string[] {
  const taskset = availableParallelism() > 1 ? Bun.which("taskset") : null;
  return taskset ? [taskset, "--cpu-list", CORES[role], ...command] : [...command];
}

/**
 * Starts a server and waits until it prints its origin on loopback. Its log goes to a file, as a service's goes to a
 * journal: a pipe would have to be read here, beside what is measured.
 * @throws when it ends or stays silent instead; what it said is in the error
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

/** what every login shell and service manager sets */
const USUAL_VARIABLES = ["HOME", "LANG", "PATH", "TMPDIR"];

/** Settings of whoever runs the benchmark must not change what is measured, nor may anything that users do not set. */
export const cleanEnvironment = (): Record<string, string | undefined> =>
  Object.fromEntries(USUAL_VARIABLES.map((name) => [name, process.env[name]]));

/** A load that is under way. */
export interface RunningLoad {
  result: Promise<LoadResult>;
  /** Ends it before its seconds are over. @returns what it did until then */
  end(): Promise<LoadResult>;
}

/** Starts one plan in a process of its own. */
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

/** Runs one plan in a process of its own. */
export const spawnLoad = (plan: LoadPlan): Promise<LoadResult> => startLoad(plan).result;

/**
 * Runs one plan whose answers must all have the same status.
 * @throws when a connection broke, or an answer had another status
 */
export async function load(plan: LoadPlan, status: number): Promise<LoadResult> {
  return needStatus(await spawnLoad(plan), status);
}

/** @returns the result @throws when a connection broke, an answer was another one, or there was none */
export function needStatus(result: LoadResult, status: number): LoadResult {
  const others = Object.keys(result.statuses).filter((found) => Number(found) !== status);
  if (result.errors === 0 && others.length === 0 && result.requests > 0) return result;
  throw new Error(`wanted ${status} only: ${JSON.stringify(result)}`);
}

/** @returns resident memory of a process in MB; NaN where the system does not say */
export const residentMb = (pid: number): Promise<number> => statusMb(pid, "VmRSS");

/** Looks every 10 ms. @returns a function that ends it and gives the most memory of its own that the process had, in MB */
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

/** @returns memory that no file stands behind, in MB; NaN where the system does not say */
export const ownMb = (pid: number): Promise<number> => statusMb(pid, "RssAnon");

/** @returns the most resident memory a process has had, in MB; NaN where the system does not say */
export const peakMb = (pid: number): Promise<number> => statusMb(pid, "VmHWM");

/** @returns nothing for a file that is not there */
const textOf = (file: string): Promise<string> =>
  Bun.file(file)
    .text()
    .catch(() => "");

async function statusMb(pid: number, field: string): Promise<number> {
  const status = await textOf(`/proc/${pid}/status`);
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1_024;
}

/** The system counts in these, whatever its own clock is (proc(5)). */
const TICK_MS = 10;

/** @returns processor time a process has used, in ms; NaN where the system does not say */
export async function processorMs(pid: number): Promise<number> {
  const stat = await textOf(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
