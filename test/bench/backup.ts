// A backup of one gigabyte while workstations report: its duration, made by the service itself and by the command in parallel to
// it, and the effect on the reports. Then the restore, without the service.
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { openConnection } from "../../src/platform/database/connection.ts";
import { addClientRows } from "./clients/client-rows.ts";
import { enrolReports, reportRequest } from "./clients/clients.ts";
import type { Figure } from "./figures.ts";
import { cleanEnvironment, load, peakMb, quartermaster, spawnLoad } from "./processes.ts";
import { median } from "./tools/compare.ts";
import { startQuartermaster, temporaryDirectory } from "./tools/installation.ts";
import type { LoadRequest, LoadResult } from "./tools/load.ts";

const ROWS = 1_000_000;
/** Workstations that report in the meantime. */
const WORKSTATIONS = 500;
const ROW_BYTES = 1_000;
const WARM_UP_SECONDS = 4;
/** Reports in flight at the same time. A fleet reports every few minutes, so these are many. */
const CALLERS = 16;
const WINDOW_SECONDS = 2;
const QUIET_WINDOWS = 3;

/** Measures backups. The results have no goal. */
export async function* measureBackup(): AsyncGenerator<Figure> {
  using directory = temporaryDirectory();
  const data = join(directory.path, "data");
  const service = await startQuartermaster(data);
  try {
    const requests = (await enrolReports(data, { port: service.port, workstations: WORKSTATIONS })).map(
      reportRequest,
    );
    fill(join(data, "quartermaster.db"));
    await spawnLoad({ port: service.port, connections: CALLERS, seconds: WARM_UP_SECONDS, requests });
    const windows = windowsOn(service.port, requests);
    const quiet = await windows.during(() => Bun.sleep(QUIET_WINDOWS * WINDOW_SECONDS * 1_000));
    yield told("reports without a backup, 99th percentile", "ms", quiet.p99Ms);
    const beside = await windows.during(() => run("backup", "create", join(directory.path, "a.qmb"), data));
    yield* madeFigures(
      "by the command beside the service",
      beside,
      statSync(join(directory.path, "a.qmb")).size,
    );
    const own = await windows.during(() => ownBackup(data));
    yield* madeFigures("by the service itself", own, statSync(join(directory.path, "a.qmb")).size);
    yield told("most memory of the service", "MB", await peakMb(service.pid));
  } finally {
    await service.stop();
  }
  yield* await restoreFigures(directory.path, data);
}

const told = (what: string, unit: string, ours: number): Figure => ({ what, unit, ours });

/** Sends reports during the measured work, one window after another. */
function windowsOn(port: number, requests: readonly LoadRequest[]) {
  return {
    async during(work: () => Promise<unknown>) {
      const results: LoadResult[] = [];
      let isOver = false;
      const loading = (async () => {
        while (!isOver) {
          results.push(await load({ port, connections: CALLERS, seconds: WINDOW_SECONDS, requests }, 204));
        }
      })();
      const begin = performance.now();
      await work();
      const seconds = (performance.now() - begin) / 1_000;
      isOver = true;
      await loading;
      return {
        seconds,
        p99Ms: median(results.map(({ p99Ms }) => p99Ms)),
        worstMs: Math.max(...results.map(({ p99Ms }) => p99Ms)),
        perSecond: median(results.map(({ perSecond }) => perSecond)),
      };
    },
  };
}

type Windows = Awaited<ReturnType<ReturnType<typeof windowsOn>["during"]>>;

const madeFigures = (
  how: string,
  { seconds, p99Ms, worstMs, perSecond }: Windows,
  bytes: number,
): Figure[] => [
  told(`backup ${how}`, "MB/s", bytes / 1e6 / seconds),
  told("reports meanwhile, 99th percentile", "ms", p99Ms),
  told("the same, in the worst 2 s", "ms", worstMs),
  told("reports meanwhile", "reports/s", perSecond),
];

async function restoreFigures(folder: string, data: string): Promise<Figure[]> {
  const file = join(folder, "a.qmb");
  const begin = performance.now();
  await run("backup", "verify", file, data);
  const verified = performance.now();
  await run("backup", "restore", file, data, "--confirm", "data");
  const bytes = statSync(file).size / 1e6;
  return [
    told("backup, size", "MB", bytes),
    told("backup verified", "MB/s", bytes / ((verified - begin) / 1_000)),
    told("backup restored", "MB/s", bytes / ((performance.now() - verified) / 1_000)),
  ];
}

function fill(file: string): void {
  using connection = openConnection(file, {});
  addClientRows(connection, { count: ROWS, bytesEach: ROW_BYTES });
  connection.run("PRAGMA wal_checkpoint(TRUNCATE)"); // otherwise the measured work would do it
}

/** Makes the job of the service due, and waits until its file is complete. */
async function ownBackup(data: string): Promise<void> {
  const folder = join(data, "backups");
  rmSync(folder, { recursive: true, force: true });
  await run("jobs", "run", "backup", data);
  while (!existsSync(folder) || !readdirSync(folder).some((name) => name.endsWith(".qmb")))
    await Bun.sleep(50);
}

async function run(noun: string, verb: string, name: string, data: string, ...more: string[]): Promise<void> {
  const command = quartermaster(noun, verb, name, "--data-dir", data, ...more);
  const child = Bun.spawn(command, { env: cleanEnvironment(), stdout: "ignore", stderr: "pipe" });
  const said = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`${noun} ${verb}: ${said}`);
}
