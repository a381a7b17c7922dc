// `catalog seed` interrupted or killed while it stores archives: the old catalog stays intact and the next seed succeeds.
import { expect, test } from "bun:test";
import { randomFillSync } from "node:crypto";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Interrupted } from "../../../../cli/exit.ts";
import { sha256Hex } from "../../../../src/platform/ids.ts";
import { productCommand, SHORT_LIVED } from "../../../support/cli/executable.ts";
import { stopAt } from "../../../support/cli/stop-child.ts";
import { tarFile, tarGzOf, tarOf } from "../../../support/content/tar.ts";
import { type Bench, createInstallation } from "../../../support/in-process.ts";

/** The first takes long enough to be seen while it is stored. */
const ARCHIVE_BYTES = [20 * 1024 * 1024, 100, 100];
/** each archive is created, written and read about ten times */
const PATIENCE_MS = 60_000;

/** A seeded catalog with one small package, and an unseeded one with three packages, of which the first is large. */
async function prepared(): Promise<Bench> {
  const bench = await createInstallation();
  writeCatalog(bench, "old.yaml", [tarGzOf(tarFile("a", "a"))]);
  await bench.json("catalog seed old.yaml");
  const archives = ARCHIVE_BYTES.map((bytes) =>
    gzipSync(tarOf(tarFile("a", randomFillSync(Buffer.alloc(bytes)))), { level: 0 }),
  );
  writeCatalog(bench, "new.yaml", archives);
  return bench;
}

function writeCatalog({ folder }: Bench, name: string, archives: readonly Uint8Array[]): void {
  const entries = archives.map((bytes, at) => {
    const source_ref = `${name}-${at}.tar.gz`;
    writeFileSync(join(folder, source_ref), bytes);
    return { id: `package-${at}`, version: name, source_ref, sha256: sha256Hex(bytes) };
  });
  writeFileSync(join(folder, name), JSON.stringify(entries));
}

const halfWritten = ({ data }: Bench): string[] =>
  readdirSync(join(data, "artifacts")).filter((name) => name.startsWith("put-"));

interface CutShort extends Disposable {
  bench: Bench;
  /** `catalog list` before the seed */
  before: Record<string, unknown>;
  stdout: string;
  stderr: string;
  exitCode: number;
}

/** Seeds, and sends the signal while an archive is stored. A seed that ends before it was seen storing one is repeated. */
async function seedUntilStoring(signal: NodeJS.Signals): Promise<CutShort> {
  for (;;) {
    const bench = await prepared();
    const before = await bench.json("catalog list");
    const ended = await endWhileStoring(bench, signal);
    if (ended) return { bench, before, ...ended, [Symbol.dispose]: () => bench[Symbol.dispose]() };
    bench[Symbol.dispose]();
  }
}

async function endWhileStoring(bench: Bench, signal: NodeJS.Signals) {
  const args = ["catalog", "seed", join(bench.folder, "new.yaml"), "--data-dir", bench.data];
  const child = Bun.spawn([...productCommand(), ...args], {
    env: SHORT_LIVED,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const isStoring = await stopAt(child, () => halfWritten(bench).length > 0);
  child.kill(signal);
  child.kill("SIGCONT");
  const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  const exitCode = await child.exited;
  return isStoring ? { stdout, stderr, exitCode } : undefined;
}

const textOf = (stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> =>
  new Response(stream).text();

test(
  "Ctrl-C leaves the old catalog, no half-written archive, and exit code 130",
  async () => {
    using cutShort = await seedUntilStoring("SIGINT");
    const { bench, before, stdout, stderr, exitCode } = cutShort;
    expect(stdout).toBe("");
    expect(stderr).toStartWith("error: interrupted\n");
    expect(exitCode).toBe(130);
    expect(halfWritten(bench)).toEqual([]);
    expect(await bench.json("catalog list")).toEqual(before);
    expect(await bench.json("catalog seed new.yaml")).toMatchObject({ added: [{}, {}], changed: [{}] });
  },
  PATIENCE_MS,
);

test(
  "kill -9 leaves the old catalog intact; the next seed succeeds and cleans up",
  async () => {
    using cutShort = await seedUntilStoring("SIGKILL");
    const { bench, before, exitCode } = cutShort;
    expect(exitCode).toBe(137);
    expect(halfWritten(bench)).toHaveLength(1);
    expect(await bench.json("catalog list")).toEqual(before);
    expect(await bench.json("catalog verify")).toEqual({ items: [], checked: 1 });
    expect(await bench.json("catalog seed new.yaml")).toMatchObject({ added: [{}, {}], changed: [{}] });
    expect(halfWritten(bench)).toEqual([]);
    expect(await bench.json("catalog verify")).toEqual({ items: [], checked: 4 });
  },
  PATIENCE_MS,
);

test(
  "a stop signal while archives are checked ends the seed before anything is stored",
  async () => {
    using bench = await prepared();
    const controller = new AbortController();
    controller.abort(new Interrupted("SIGTERM"));
    const { exitCode } = await bench.run("catalog seed new.yaml", { signal: controller.signal });
    expect(exitCode).toBe(143);
    expect(await bench.json("catalog verify")).toEqual({ items: [], checked: 1 });
  },
  PATIENCE_MS,
);
