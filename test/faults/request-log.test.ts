// A process with a running request log is killed, and its disk fills up. Rows handed over more than a second ago are in the file, a
// full disk never affects callers that hand over rows, and lost rows are reported once there is space again.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { copyFileSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { FileSource } from "../../src/domain/inference/log/file-source.ts";
import { NOTHING_FOUND, NOTHING_SEEN } from "../../src/domain/inference/log/model.ts";
import type { QueueFigures } from "../../src/domain/inference/log/writing/request-log-queue.ts";
import { isRoot } from "../support/cli/child.ts";
import { SHORT_LIVED } from "../support/cli/executable.ts";
import { temporaryDirectory } from "../support/world.ts";

const PROCESS = join(import.meta.dir, "../support/inference/log-process.ts");
const READER = join(import.meta.dir, "../support/inference/log-reader.ts");
const ROWS = 20_000;

let directory: string;
let file: string;
beforeEach(() => {
  directory = temporaryDirectory();
  file = join(directory, "request-logs.db");
});
afterEach(() => rmSync(directory, { recursive: true }));

type Figures = QueueFigures & { handed: number };

/** Reads the output of the process until its figures meet the condition. */
async function untilFigures(
  lines: AsyncIterator<Figures>,
  holds: (figures: Figures) => boolean,
): Promise<Figures> {
  for (;;) {
    const { value, done } = await lines.next();
    if (done) throw new Error("the process has ended");
    if (holds(value)) return value;
  }
}

async function* figuresOf(stdout: ReadableStream<Uint8Array>): AsyncGenerator<Figures> {
  let rest = "";
  for await (const part of stdout) {
    const lines = (rest + new TextDecoder().decode(part)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line);
  }
}

const found = (path: string) =>
  new FileSource(path).searchNow({ filter: {}, sort: "occurred_asc", offset: 0, limit: 1 });

test("INF-43 a killed process loses only rows of its last moments", async () => {
  await using child = Bun.spawn([process.execPath, PROCESS, file, String(ROWS)], {
    stdout: "pipe",
    stderr: "inherit",
    env: SHORT_LIVED,
  });
  const lines = figuresOf(child.stdout);
  const { handed } = await untilFigures(lines, (figures) => figures.handed > ROWS);
  child.kill("SIGKILL");
  await child.exited;
  const { total } = found(file);
  expect(total).toBeGreaterThanOrEqual(ROWS);
  expect(handed).toBeGreaterThan(ROWS);
});

test("INF-43 the process survives an index that others truncate between two batches, and no row is lost", async () => {
  await using child = Bun.spawn([process.execPath, PROCESS, file, "10"], {
    stdout: "pipe",
    stderr: "inherit",
    env: SHORT_LIVED,
  });
  const lines = figuresOf(child.stdout);
  let written = 0;
  for (let round = 0; round < 2; round += 1) {
    // A batch has just been written, and the next one follows in 200 ms.
    const { handed, rows } = await untilFigures(
      lines,
      (figures) => figures.rows < 20 && figures.handed > written + 300,
    );
    truncateSync(`${file}-shm`);
    written = handed - rows;
  }
  await untilFigures(lines, ({ rows, handed }) => rows < 20 && handed > written + 300);
  child.kill("SIGTERM");
  await child.exited;
  expect(child.signalCode).toBe("SIGTERM");
  const { total } = found(file);
  expect(total).toBeGreaterThanOrEqual(written);
});

const onSmallDisk = (script: string): string[] => [
  ...["unshare", ...(isRoot ? ["--mount"] : ["--map-root-user", "--mount"])],
  ...["sh", "-c", script, "sh"],
];
const [command = "", ...rest] = onSmallDisk("mount -t tmpfs -o size=1m none /mnt");
const canMount = spawnSync(command, rest).status === 0;

describe.if(canMount)("a request log on a full disk", () => {
  test("INF-44 drops rows that do not fit in the queue, and shows the gap afterwards", async () => {
    const mount = `mount -t tmpfs -o size=4m none '${directory}' && exec "$@"`;
    const process_ = [process.execPath, PROCESS, file, "10", "100"];
    await using child = Bun.spawn([...onSmallDisk(mount), ...process_], {
      stdout: "pipe",
      stderr: "inherit",
      env: SHORT_LIVED,
    });
    const lines = figuresOf(child.stdout);
    await untilFigures(lines, () => true);
    const disk = join("/proc", String(child.pid), "root", directory);
    const filler = join(disk, "filler");
    spawnSync("dd", ["if=/dev/zero", `of=${filler}`, "bs=4k"]);
    const { dropped } = await untilFigures(lines, (figures) => figures.dropped.disk_full > 0);
    expect(dropped.broken).toBe(0);
    rmSync(filler);
    await untilFigures(lines, ({ rows }) => rows < 50);
    child.kill("SIGSTOP"); // so that the copy is consistent
    for (const end of ["", "-wal"])
      copyFileSync(join(disk, `request-logs.db${end}`), join(directory, `copy.db${end}`));
    const { gaps } = await new FileSource(join(directory, "copy.db")).figures(0);
    child.kill("SIGKILL");
    await child.exited;
    const shown = gaps.find(({ cause }) => cause === "disk_full");
    expect(shown?.count).toBeGreaterThanOrEqual(dropped.disk_full);
  });

  test("INF-43 is empty, and can be read, while the disk is too full to create its file", () => {
    const fill = `dd if=/dev/zero of='${directory}/filler' bs=4k 2>/dev/null`;
    const mount = `mount -t tmpfs -o size=1m none '${directory}' && { ${fill}; exec "$@"; }`;
    const [unshare = "", ...options] = [...onSmallDisk(mount), process.execPath, READER, file];
    const { stdout, stderr } = spawnSync(unshare, options, { env: { ...process.env, ...SHORT_LIVED } });
    expect(String(stderr)).toBe("");
    expect(JSON.parse(String(stdout))).toEqual([NOTHING_FOUND, NOTHING_SEEN, { oldestMs: null, gaps: [] }]);
  });
});
