// An upgrade in place from each earlier schema, under load: the old version ends by SIGTERM and the current one starts
// immediately, like `systemctl restart`. Measures how long callers that retry got no response, and checks that nothing
// acknowledged was lost and that the command printed by the old version restores it.
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { atMost, type Figure } from "../../bench/figures.ts";
import { quantile } from "../../bench/tools/compare.ts";
import { temporaryDirectory } from "../../bench/tools/installation.ts";
import { runCli } from "../../support/cli/cli.ts";
import { productCommand } from "../../support/cli/executable.ts";
import { type Caller, provisionedName, provisionedUsers, signIns } from "../callers.ts";
import { secretFiles, UNLIMITED } from "../site.ts";
import { type EarlierVersion, earlierSchemas, unpackEarlier } from "./earlier.ts";
import { RetryingLoad } from "./retrying.ts";

const LOAD_MS = 1_500;
const PORT = 18_970;
const BASE_URL = `http://127.0.0.1:${PORT}`;
const READY_MS_MAX = 60_000;
/** The first schema whose last version serves provisioning, and the first with backups. */
const SCIM_SCHEMA = 3;
const BACKUP_SCHEMA = 6;

interface Round {
  schema: number;
  downtimeMs: number;
  /** time that the old version took to end */
  endMs: number;
  faults: string[];
  /** whether that version can go back */
  hasWayBack: boolean;
}

/** @param count of schemas, spread over all; every schema by default */
export async function tortureByUpgrades(count?: number): Promise<Figure[]> {
  using folder = temporaryDirectory();
  const rounds: Round[] = [];
  for (const schema of earlierSchemas(count)) {
    const old = unpackEarlier(schema, folder.path);
    if (!old) {
      console.error(
        `schema ${schema}: no version of it, because its migrations changed before the next schema`,
      );
      continue;
    }
    const round = await upgradeFrom(old, folder.path);
    rounds.push(round);
    const found = round.faults.length === 0 ? "nothing lost" : round.faults.join("; ");
    console.error(
      `schema ${schema}: ${Math.round(round.downtimeMs)} ms without an answer, ${Math.round(round.endMs)} ms until the old version had ended, ${found}`,
    );
  }
  return figuresOf(rounds);
}

function figuresOf(rounds: readonly Round[]): Figure[] {
  const times = rounds.map(({ downtimeMs }) => downtimeMs);
  const faults = rounds.flatMap((round) => round.faults).length;
  const told = (what: string, unit: string, ours: number): Figure => ({ what, unit, ours });
  return [
    told("upgrades under load from an earlier schema", "schemas", rounds.length),
    told("without an answer, median", "ms", quantile(times, 0.5)),
    told("without an answer, 90 %", "ms", quantile(times, 0.9)),
    told("without an answer, longest", "ms", quantile(times, 1)),
    told(
      "ways back with the command of the old version",
      "schemas",
      rounds.filter(({ hasWayBack }) => hasWayBack).length,
    ),
    { ...told("lost, refused or damaged", "faults", faults), verdict: atMost(0, faults) },
  ];
}

async function upgradeFrom(old: EarlierVersion, folder: string): Promise<Round> {
  const data = join(folder, `data-${old.schema}`);
  const flags = [
    "--data-dir",
    data,
    ...secretFiles(folder),
    ...UNLIMITED,
    "--server-listen",
    `127.0.0.1:${PORT}`,
  ];
  const oldFlags = pairsOf(flags)
    .filter(([flag]) => old.knows(flag))
    .flat();
  const before = await serve([...old.command, "serve", ...oldFlags]);
  const load = new RetryingLoad(callersFor(old));
  await load.everyoneAnswered();
  await Bun.sleep(LOAD_MS);
  const momentMs = performance.now();
  await before.stop();
  const endMs = performance.now() - momentMs;
  const kept = load.callers.find(({ name }) => name === "provisioned users")?.acknowledged ?? 0;
  const after = await serve([...productCommand(), "serve", ...flags]);
  await load.everyoneAnswered();
  await load.end();
  const database = join(data, "quartermaster.db");
  const faults = [...load.refusals, ...faultsIn(database, load.callers), ...(await chainFaults(data))];
  await after.stop();
  const hasWayBack = old.schema >= BACKUP_SCHEMA;
  if (hasWayBack) faults.push(...(await goBack(old, { oldFlags, database, kept })));
  return { schema: old.schema, downtimeMs: load.gapAround(momentMs), endMs, faults, hasWayBack };
}

const callersFor = ({ schema }: EarlierVersion): Caller[] => {
  const site = { baseUrl: BASE_URL };
  return [signIns(site), ...(schema < SCIM_SCHEMA ? [] : [provisionedUsers(site), provisionedName(site)])];
};

const pairsOf = (flags: readonly string[]): [flag: string, value: string][] =>
  flags.flatMap((flag, index): [string, string][] =>
    index % 2 === 0 ? [[flag, flags[index + 1] ?? ""]] : [],
  );

/** Starts a service and waits until it answers. */
async function serve(command: readonly string[]) {
  const child = Bun.spawn([...command], { env: {}, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const said = new Response(child.stderr).text();
  const deadlineMs = performance.now() + READY_MS_MAX;
  for (;;) {
    const response = await fetch(`${BASE_URL}/health`).catch(() => undefined);
    if (response?.ok) break;
    if (child.exitCode !== null || performance.now() > deadlineMs) {
      child.kill("SIGKILL");
      throw new Error(`${command.slice(0, 2).join(" ")} did not start: ${await said}`);
    }
    await Bun.sleep(2);
  }
  return {
    async stop() {
      child.kill("SIGTERM");
      const code = await child.exited;
      if (code !== 0) throw new Error(`${command.slice(0, 2).join(" ")} ended with ${code}: ${await said}`);
    },
  };
}

function faultsIn(file: string, callers: readonly Caller[]): string[] {
  using database = new Database(file, { readonly: true, strict: true });
  const sound = database.query<{ integrity_check: string }, []>("PRAGMA integrity_check").all();
  return [
    ...sound.map(({ integrity_check: text }) => text).filter((text) => text !== "ok"),
    ...callers.flatMap((caller) => caller.faults(database)),
  ];
}

async function chainFaults(data: string): Promise<string[]> {
  const { exitCode, stderr } = await runCli(["audit", "verify", "--data-dir", data]);
  return exitCode === 0 ? [] : [stderr];
}

const RESTORE = /quartermaster (backup restore .+)/;

/** The old version refuses the new database and prints a command; that command, followed by a start, must restore the old state. */
async function goBack(
  old: EarlierVersion,
  { oldFlags, database, kept }: { oldFlags: readonly string[]; database: string; kept: number },
): Promise<string[]> {
  const refused = Bun.spawnSync([...old.command, "serve", ...oldFlags], { env: {}, stdin: "ignore" });
  const [, restore] = RESTORE.exec(`${refused.stderr}`) ?? [];
  if (refused.exitCode === 0 || restore === undefined) return [`no way back was printed: ${refused.stderr}`];
  const restored = Bun.spawnSync([...old.command, ...restore.trim().split(" ")], {
    env: {},
    stdin: "ignore",
  });
  if (restored.exitCode !== 0) return [`the way back failed: ${restored.stderr}`];
  const service = await serve([...old.command, "serve", ...oldFlags]);
  try {
    using found = new Database(database, { readonly: true, strict: true });
    const users =
      found.query<{ count: number }, []>("SELECT count(*) AS count FROM scim_users").get()?.count ?? 0;
    return users >= kept ? [] : [`${users} users after the way back, ${kept} were acknowledged before`];
  } finally {
    await service.stop();
  }
}
