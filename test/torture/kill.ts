// `kill -9` of the service at a random moment under load, and of a `catalog seed` at the same time, round after round on one data
// directory. After each the service starts again, everything acknowledged is there, and the file is intact.
import { Database } from "bun:sqlite";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { atMost, type Figure } from "../bench/figures.ts";
import { runCli } from "../support/cli/cli.ts";
import { productCommand } from "../support/cli/executable.ts";
import type { RunningService } from "../support/running-service.ts";
import {
  type Caller,
  provisionedName,
  provisionedUsers,
  publications,
  refreshes,
  reports,
  signIns,
} from "./callers.ts";
import { createSite, errorsIn, type Site, stop } from "./site.ts";

const ROUNDS = 200;
const LOAD_MS_MAX = 2_000;
/** one start in this many is killed as well, before it listens */
const START_KILLED_ONE_IN = 4;
const START_MS_MAX = 600;
const REPORTING = 12;
const REFRESHING = 4;
/** number of workstations; the administrator publishes from one of them */
const WORKSTATIONS = REPORTING + REFRESHING + 1;
const PROGRESS_EVERY = 10;

/** Kills the service at random moments and checks that nothing acknowledged is lost. */
export async function tortureByKilling(rounds = ROUNDS): Promise<Figure[]> {
  using site = await createSite({ workstations: WORKSTATIONS });
  const callers = callersOf(site);
  const seeds = new Seeds(site);
  const faults: string[] = [];
  let killedStarts = 0;
  for (let round = 1; round <= rounds; round++) {
    if (Math.random() < 1 / START_KILLED_ONE_IN) {
      await killStart(site);
      killedStarts += 1;
    }
    await using service = await site.start();
    faults.push(...inspect(site, callers, seeds));
    await loadUntilKilled(service, callers, seeds);
    faults.push(...errorsIn(service));
    if (round % PROGRESS_EVERY === 0) console.error(`${round} of ${rounds} rounds, ${faults.length} faults`);
  }
  faults.push(...(await lastLook(site, callers, seeds)));
  for (const fault of faults.slice(0, 20)) console.error(fault);
  const counts = new Map<string, number>();
  for (const { name, acknowledged } of [...callers, seeds])
    counts.set(name, (counts.get(name) ?? 0) + acknowledged);
  const told = (what: string, unit: string, ours: number): Figure => ({ what, unit, ours });
  return [
    told("kill -9 under load", "rounds", rounds),
    told("kill -9 before it listened", "starts", killedStarts),
    ...[...counts].map(([name, count]) => told(`acknowledged ${name}`, "changes", count)),
    {
      ...told("lost, damaged, or logged as a failure", "faults", faults.length),
      verdict: atMost(0, faults.length),
    },
  ];
}

function callersOf(site: Site): Caller[] {
  const reporting = site.workstations.slice(0, REPORTING);
  const refreshing = site.workstations.slice(REPORTING, REPORTING + REFRESHING);
  const [administrator] = site.workstations.slice(-1);
  if (!administrator) throw new Error("a site has workstations");
  return [
    signIns(site),
    provisionedUsers(site),
    provisionedUsers(site),
    ...Array.from({ length: 4 }, () => provisionedName(site)),
    ...reporting.map((workstation) => reports(site, workstation)),
    ...refreshing.map((workstation) => refreshes(site, workstation)),
    publications(site, administrator),
  ];
}

/** The command as a separate process, one per round: each creates the next version of one package. */
class Seeds {
  readonly name = "catalog seeds";
  acknowledged = 0;
  #sent = 0;
  #lastAcknowledged = 0;

  constructor(private readonly site: Site) {}

  start(): { kill(): Promise<void> } {
    const number = ++this.#sent;
    const file = join(this.site.data, "..", "catalog.json");
    const sha256 = "ab".repeat(32);
    const source_ref = "https://packages.example.com/one.tar.gz";
    writeFileSync(file, JSON.stringify([{ id: "one", version: `1.0.${number}`, source_ref, sha256 }]));
    const args = ["catalog", "seed", file, "--data-dir", this.site.data];
    const child = Bun.spawn([...productCommand(), ...args], { env: {}, stdout: "ignore", stderr: "ignore" });
    const done = child.exited.then((code) => {
      if (code !== 0) return;
      this.acknowledged += 1;
      this.#lastAcknowledged = number;
    });
    return {
      async kill() {
        child.kill("SIGKILL");
        await done;
      },
    };
  }

  faults(database: Database): string[] {
    const row = database.query<{ version: string }, []>(
      "SELECT version FROM catalog_packages WHERE id = 'one'",
    );
    const stored = Number(row.get()?.version.split(".")[2] ?? 0);
    if (stored >= this.#lastAcknowledged && stored <= this.#sent) return [];
    return [`catalog version ${stored}, acknowledged ${this.#lastAcknowledged}, sent ${this.#sent}`];
  }
}

/** Kills a start at a random moment: while it opens the database, seeds, or has just started to listen. */
async function killStart(site: Site): Promise<void> {
  const child = Bun.spawn([...productCommand(), "serve", ...site.args], {
    env: {},
    stdout: "ignore",
    stderr: "ignore",
  });
  await Bun.sleep(Math.random() * START_MS_MAX);
  child.kill("SIGKILL");
  await child.exited;
}

async function loadUntilKilled(
  service: RunningService,
  callers: readonly Caller[],
  seeds: Seeds,
): Promise<void> {
  let isOver = false;
  const seed = seeds.start();
  const running = callers.map(async (caller) => {
    while (!isOver) await caller.change();
  });
  // A forbidden refusal ends the round immediately; otherwise this lasts until the kill.
  await Promise.race([Bun.sleep(Math.random() * LOAD_MS_MAX), Promise.all(running)]);
  service.signal("SIGKILL");
  await service.ended();
  isOver = true;
  await seed.kill();
  await Promise.all(running);
}

/** Inspects from another process, while the service that recovered the file runs. */
function inspect({ database: file }: Site, callers: readonly Caller[], seeds: Seeds): string[] {
  using database = new Database(file, { readonly: true, strict: true });
  const sound = database.query<{ integrity_check: string }, []>("PRAGMA integrity_check").all();
  return [
    ...sound.map(({ integrity_check: text }) => text).filter((text) => text !== "ok"),
    ...database
      .query("PRAGMA foreign_key_check")
      .all()
      .map((row) => `foreign key: ${JSON.stringify(row)}`),
    ...[...callers, seeds].flatMap((caller) => caller.faults(database)),
  ];
}

/** After the last kill: the results of the rounds, the chain of the audit log, and a regular end. */
async function lastLook(site: Site, callers: readonly Caller[], seeds: Seeds): Promise<string[]> {
  await using service = await site.start();
  const faults = inspect(site, callers, seeds);
  const chain = await runCli(["audit", "verify", "--data-dir", site.data]);
  if (chain.exitCode !== 0) faults.push(chain.stderr);
  await stop(service);
  return faults;
}
