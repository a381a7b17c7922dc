// Runs command lines in this process on separate data directories, with a clock that stands still and ids that count up, so that
// all output can be compared. cli.ts runs a real child process, for signals and terminals.
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import type { CliCommand } from "../../cli/command.ts";
import type { Context } from "../../cli/context.ts";
import { run } from "../../cli/program.ts";
import { performTask } from "../../src/app/backup/perform-task.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { type Ids, sha256Hex, systemIds } from "../../src/platform/ids.ts";
import type { CliResult } from "./cli/cli.ts";
import { remember } from "./content/copies.ts";
import { type HeldClock, heldClock, PREFIX, placeOfWorlds } from "./world.ts";

export interface Workspace extends Disposable {
  /** of the files of the test; the data directory is `data` in it */
  readonly folder: string;
  readonly data: string;
  readonly clock: HeldClock;
  readonly ids: Ids;
  /** Runs one command line; `--data-dir` is added. */
  run(line: string, options?: WorkspaceOptions): Promise<CliResult>;
  /** Runs one that must succeed. @returns its `--json` document */
  json(line: string, options?: WorkspaceOptions): Promise<Record<string, unknown>>;
}

export interface WorkspaceOptions extends Partial<Pick<Context, "env" | "userId">> {
  stdin?: string;
  /** makes the command stop itself */
  signal?: AbortSignal;
}

/** @returns an empty workspace; `setup` creates the installation */
export const createWorkspace = (): Workspace => workspaceWith(countingIds());

function workspaceWith(ids: Ids): Workspace {
  const folder = mkdtempSync(join(placeOfWorlds, PREFIX));
  const data = join(folder, "data");
  const clock = heldClock();
  const runLine = (line: string, options: WorkspaceOptions = {}): Promise<CliResult> =>
    runHere([...line.split(" "), "--data-dir", data], { cwd: folder, clock, ids, ...options });
  return {
    folder,
    data,
    clock,
    ids,
    run: runLine,
    json: async (line, options) => {
      const { stdout, stderr, exitCode } = await runLine(`${line} --json`, options);
      if (exitCode !== 0) throw new Error(`${line}: exit code ${exitCode}\n${stderr}`);
      return JSON.parse(stdout);
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Created once in a process: hashing the administrator's password takes longer than most tests. */
let made: ReturnType<typeof makeInstallation> | undefined;

async function makeInstallation() {
  const ids = countingIds();
  using workspace = workspaceWith(ids);
  await workspace.json("setup --bootstrap-admin-email root@example.org");
  return { write: remember(workspace.data), ids };
}

/** @returns a workspace with an installation: administrator root@example.org, no catalog */
export async function createInstallation(): Promise<Workspace> {
  made ??= makeInstallation();
  const { write, ids } = await made;
  const workspace = workspaceWith(ids.goingOn());
  write(workspace.data);
  return workspace;
}

/**
 * @returns a workspace with the same files under another path, to which this process has no open connection: otherwise a restore waits
 *   for the garbage collection
 */
export function copyOf(other: Workspace): Workspace {
  const copy = createWorkspace();
  cpSync(other.folder, copy.folder, { recursive: true });
  return copy;
}

interface Surroundings extends WorkspaceOptions, Partial<Pick<Context, "clock" | "ids">> {
  cwd: string;
  /** replaces the product's commands */
  programFor?: (context: Context) => CliCommand;
}

/** Low costs of hashing, because hashes in tests protect nothing. */
export const CHEAP = { passwordCost: { memoryKib: 8, passes: 1 }, passphraseCost: { n: 2, r: 1, p: 1 } };

/** The name in the audit log, whichever user runs the tests. */
const OPERATOR = { SUDO_USER: "olga" };

/** Runs one command line in this process, with the system's clock by default. */
export async function runHere(args: readonly string[], options: Surroundings): Promise<CliResult> {
  const { stdin = "", signal, clock = systemClock, ids = systemIds, env = OPERATOR, cwd } = options;
  const { userId = process.getuid?.() } = options;
  const [stdout, stderr] = [capture(), capture()];
  const context: Context = {
    stdin: Readable.from(stdin === "" ? [] : [Buffer.from(stdin)]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    env,
    cwd,
    clock,
    ids,
    ...CHEAP,
    performTask, // a thread takes longer to start than its task; the tests in backup.test.ts use one
    userId,
    runId: "<run>",
    stopSignal: () => signal ?? new AbortController().signal,
  };
  const exitCode = await run(args, context, options.programFor?.(context));
  return { stdout: stdout.text(), stderr: stderr.text(), exitCode };
}

function capture() {
  const parts: string[] = [];
  const stream = new Writable({
    write(chunk, _, next) {
      parts.push(String(chunk));
      next();
    },
  });
  return { stream, text: () => parts.join("") };
}

interface CountingIds extends Ids {
  /** @returns ids that count on from here */
  goingOn(): CountingIds;
}

/** In the form of UUIDv7 and in its order; the bytes are not secret. */
function countingIds(uuids = 0, draws = 0): CountingIds {
  return {
    goingOn: () => countingIds(uuids, draws),
    uuid: () => {
      uuids += 1;
      return `01940000-0000-7000-8000-${String(uuids).padStart(12, "0")}`;
    },
    bytes: (length) => {
      draws += 1;
      const blocks = Math.ceil(length / 32);
      const hex = Array.from({ length: blocks }, (_, block) => sha256Hex(`${draws}.${block}`)).join("");
      return Buffer.from(hex, "hex").subarray(0, length);
    },
  };
}
