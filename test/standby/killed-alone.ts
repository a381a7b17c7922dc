// `kill -9` of the service alone, round after round, while Litestream runs on: at a random moment, or while the log of SQLite ends with
// a commit that its index does not have. Then what the units do, or, for other supervisors, the service alone is started again. After
// each round the replica must be sound and complete. If Litestream runs on, it may itself write over a commit that was never completed,
// before the service can keep it: then the commands of `doctor` must make the replica sound.
import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { productCommand } from "../support/cli/executable.ts";
import type { Site } from "../torture/site.ts";
import { SCIM_TOKEN } from "../torture/site.ts";
import { framesWithoutIndex } from "./log-end.ts";
import { command } from "./rounds.ts";
import type { Machine, Stage } from "./stage.ts";

/** What starts the killed service again. */
export type Supervisor = "units" | "service only";

const LOADED_MS = { min: 1_500, more: 2_500 };
const CREATE_EVERY_MS = 15;
const STOPPED_MS = 3;
const TRIES_MAX = 2_000;
const SOUND_WITHIN_MS = 20_000;
/** As in the units, in both orders: their times are close to each other. */
const RESTART_MS = [1_000, 2_000] as const;

/** @returns deviations from the description */
export async function killAlone(stage: Stage, supervisor: Supervisor, rounds: number): Promise<string[]> {
  const [data] = stage.machines;
  const failures: string[] = [];
  const units = await unitsOf(stage);
  let machine = await stage.start(data);
  await using growth = new Growth(stage.site);
  let cutCommits = 0;
  let damaged = 0;
  for (let round = 1; round <= rounds; round += 1) {
    growth.resume();
    await Bun.sleep(LOADED_MS.min + Math.random() * LOADED_MS.more);
    if (round % 2 === 0) await stopWithinCommit(machine);
    machine.service.signal("SIGKILL");
    await machine.service.ended();
    const isCut = hasCutCommit(machine);
    cutCommits += isCut ? 1 : 0;
    const order = round % 4 < 2 ? RESTART_MS : RESTART_MS.toReversed();
    const played = supervisor === "units" ? units : NO_UNITS;
    const restarted = await restart(stage, machine, { units: played, order });
    machine = restarted.machine;
    const isOverwritten = isCut && !restarted.hadCutCommit;
    await growth.pause();
    const fault = await faultOf(stage, data, growth.last);
    const by = isOverwritten ? ", Litestream had written over the cut commit" : "";
    process.stdout.write(`  round ${round}: ${growth.count} users, ${fault ?? "sound"}${by}\n`);
    if (fault === undefined) continue;
    if (supervisor === "units" || !isOverwritten)
      failures.push(`killed alone, ${supervisor}: round ${round}: ${fault}`);
    damaged += 1;
    machine = await resetReplica(stage, machine);
    const left = await faultOf(stage, data, growth.last);
    if (left !== undefined)
      failures.push(`killed alone, ${supervisor}: round ${round}: made anew, but ${left}`);
  }
  await machine.kill();
  process.stdout.write(
    `killed alone, ${supervisor}: ${rounds} rounds, ${cutCommits} within a commit, ${damaged} damaged\n`,
  );
  if (cutCommits < rounds / 3)
    failures.push(`killed alone, ${supervisor}: only ${cutCommits} within a commit`);
  return failures;
}

interface Units {
  /** whether the unit of the service ends Litestream after a kill */
  endsLitestream: boolean;
  /** whether the unit of Litestream may begin the replica anew */
  resets: boolean;
}

const NO_UNITS: Units = { endsLitestream: false, resets: false };

/** What the printed units do when the service was killed. */
async function unitsOf({ settings }: Stage): Promise<Units> {
  const service = await command(["unit"]);
  const litestream = await command(["unit", "--litestream", ...settings]);
  return {
    endsLitestream: /^ExecStopPost=.*signal.*kill -KILL/m.test(service.stdout),
    resets: /^ExecStartPre=.* replica reset --if-doubtful$/m.test(litestream.stdout),
  };
}

async function restart(
  stage: Stage,
  { data, replication }: Machine,
  { units, order: [litestreamMs = 0, serviceMs = 0] }: { units: Units; order: readonly number[] },
): Promise<{ machine: Machine; hadCutCommit: boolean }> {
  let hadCutCommit = false;
  const litestream = async () => {
    if (!units.endsLitestream) return replication;
    replication.kill("SIGKILL");
    await replication.exited;
    await Bun.sleep(litestreamMs);
    if (units.resets)
      await succeed(["replica", "reset", "--if-doubtful", "--data-dir", data, ...stage.settings]);
    return await stage.startLitestream(data);
  };
  const service = async () => {
    await Bun.sleep(serviceMs);
    hadCutCommit = hasCutCommit({ data });
    return await stage.startService(data);
  };
  const [next, running] = await Promise.all([litestream(), service()]);
  const stop = async () => {
    running.signal("SIGKILL");
    next.kill("SIGKILL");
    await Promise.all([running.ended(), next.exited]);
  };
  const machine = { data, service: running, replication: next, kill: stop, [Symbol.asyncDispose]: stop };
  return { machine, hadCutCommit };
}

/** Whether the log ends with a commit that the index does not have. */
const hasCutCommit = ({ data }: Pick<Machine, "data">): boolean =>
  (framesWithoutIndex(join(data, "quartermaster.db")) ?? 0) > 0;

/** The commands of `doctor` for a damaged replica. */
async function resetReplica(stage: Stage, machine: Machine): Promise<Machine> {
  machine.replication.kill("SIGTERM");
  await machine.replication.exited;
  await succeed(["replica", "reset", "--data-dir", machine.data, ...stage.settings]);
  const replication = await stage.startLitestream(machine.data);
  const stop = async () => {
    machine.service.signal("SIGKILL");
    replication.kill("SIGKILL");
    await Promise.all([machine.service.ended(), replication.exited]);
  };
  return { ...machine, replication, kill: stop, [Symbol.asyncDispose]: stop };
}

async function succeed(args: readonly string[]): Promise<void> {
  const { exitCode, stderr } = await command(args);
  if (exitCode !== 0) throw new Error(`${[...productCommand(), ...args].join(" ")}: ${stderr}`);
}

/** Stops the process while a commit is in the log but not in the index, as during the flush to the disk. */
async function stopWithinCommit({ service, data }: Machine): Promise<void> {
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    service.signal("SIGSTOP");
    Bun.sleepSync(STOPPED_MS);
    if (hasCutCommit({ data })) return;
    service.signal("SIGCONT");
    await Bun.sleep(CREATE_EVERY_MS * Math.random());
  }
}

/** @returns what is wrong with the replica once it has had time to catch up; undefined if it is sound and has the user */
async function faultOf(stage: Stage, data: string, last: string): Promise<string | undefined> {
  const deadline = performance.now() + SOUND_WITHIN_MS;
  for (;;) {
    const fault = await restoredFault(stage, data, last);
    if (fault === undefined || performance.now() > deadline) return fault;
    await Bun.sleep(1_000);
  }
}

async function restoredFault(stage: Stage, data: string, last: string): Promise<string | undefined> {
  const target = join(dirname(data), "restored.db");
  for (const end of ["", "-wal", "-shm", "-txid", ".tmp"]) rmSync(target + end, { force: true });
  const { exitCode, stderr } = await stage.restore(data, target);
  if (exitCode !== 0) return `no restore: ${stderr.trim().slice(-300)}`;
  try {
    return faultIn(target, last);
  } catch (error) {
    return String(error); // too damaged to be checked
  }
}

function faultIn(target: string, last: string): string | undefined {
  using database = new Database(target);
  const problems = database.query<{ integrity_check: string }, []>("PRAGMA integrity_check").all();
  if (problems[0]?.integrity_check !== "ok")
    return `${problems.length} problems: ${problems[0]?.integrity_check}`;
  return isThere(database, last) ? undefined : `the user ${last} is missing`;
}

const isThere = (database: Database, email: string): boolean =>
  database.query("SELECT 1 FROM users WHERE email = ?").get(email) !== null;

/** Creates users without pause, because new rows stay wrong in a damaged copy, and rows that are written again do not. */
class Growth implements AsyncDisposable {
  count = 0;
  /** the newest acknowledged user */
  last = "";
  #number = 0;
  #isRunning = false;
  #work: Promise<void> = Promise.resolve();

  constructor(private readonly site: Site) {}

  resume(): void {
    this.#isRunning = true;
    this.#work = this.#run();
  }

  async pause(): Promise<void> {
    this.#isRunning = false;
    await this.#work;
  }

  async #run(): Promise<void> {
    while (this.#isRunning) {
      await this.#create().catch(() => undefined); // no service answers
      await Bun.sleep(CREATE_EVERY_MS);
    }
  }

  async #create(): Promise<void> {
    this.#number += 1;
    const userName = `user-${this.#number}@drill.example`;
    const response = await fetch(`${this.site.baseUrl}/scim/v2/Users`, {
      method: "POST",
      headers: { "content-type": "application/scim+json", authorization: `Bearer ${SCIM_TOKEN}` },
      body: JSON.stringify({
        schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
        userName,
        active: true,
      }),
      signal: AbortSignal.timeout(2_000),
    });
    await response.arrayBuffer();
    if (response.status !== 201) return;
    this.count += 1;
    this.last = userName;
  }

  async [Symbol.asyncDispose]() {
    await this.pause();
  }
}
