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
import { createInstallation, type Workspace } from "../../../support/in-process.ts";

/** The first takes long enough to be seen while it is stored. */
const ARCHIVE_BYTES = [20 * 1024 * 1024, 100, 100];
/** each archive is created, written and read about ten times */
const PATIENCE_MS = 60_000;

/** A seeded catalog with one small package, and an unseeded one with three packages. The first of these is large. */
async function prepared(): Promise<Workspace> {
  const workspace = await createInstallation();
  writeCatalog(workspace, "old.yaml", [tarGzOf(tarFile("a", "a"))]);
  await workspace.json("catalog seed old.yaml");
  const archives = ARCHIVE_BYTES.map((bytes) =>
    gzipSync(tarOf(tarFile("a", randomFillSync(Buffer.alloc(bytes)))), { level: 0 }),
  );
  writeCatalog(workspace, "new.yaml", archives);
  return workspace;
}

function writeCatalog({ folder }: Workspace, name: string, archives: readonly Uint8Array[]): void {
  const entries = archives.map((bytes, at) => {
    const source_ref = `${name}-${at}.tar.gz`;
    writeFileSync(join(folder, source_ref), bytes);
    return { id: `package-${at}`, version: name, source_ref, sha256: sha256Hex(bytes) };
  });
  writeFileSync(join(folder, name), JSON.stringify(entries));
}

const halfWritten = ({ data }: Workspace): string[] =>
  readdirSync(join(data, "artifacts")).filter((name) => name.startsWith("put-"));

interface CutShort extends Disposable {
  workspace: Workspace;
  /** `catalog list` before the seed */
  before: Record<string, unknown>;
  stdout: string;
  stderr: string;
  exitCode: number;
}

/** Seeds, and sends the signal while an archive is stored. A seed that ends before it was seen storing one is repeated. */
async function seedUntilStoring(signal: NodeJS.Signals): Promise<CutShort> {
  for (;;) {
    const workspace = await prepared();
    const before = await workspace.json("catalog list");
    const ended = await endWhileStoring(workspace, signal);
    if (ended) return { workspace, before, ...ended, [Symbol.dispose]: () => workspace[Symbol.dispose]() };
    workspace[Symbol.dispose]();
  }
}

async function endWhileStoring(workspace: Workspace, signal: NodeJS.Signals) {
  const args = ["catalog", "seed", join(workspace.folder, "new.yaml"), "--data-dir", workspace.data];
  const child = Bun.spawn([...productCommand(), ...args], {
    env: SHORT_LIVED,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const isStoring = await stopAt(child, () => halfWritten(workspace).length > 0);
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
    const { workspace, before, stdout, stderr, exitCode } = cutShort;
    expect(stdout).toBe("");
    expect(stderr).toStartWith("error: interrupted\n");
    expect(exitCode).toBe(130);
    expect(halfWritten(workspace)).toEqual([]);
    expect(await workspace.json("catalog list")).toEqual(before);
    expect(await workspace.json("catalog seed new.yaml")).toMatchObject({ added: [{}, {}], changed: [{}] });
  },
  PATIENCE_MS,
);

test(
  "kill -9 leaves the old catalog intact; the next seed succeeds and cleans up",
  async () => {
    using cutShort = await seedUntilStoring("SIGKILL");
    const { workspace, before, exitCode } = cutShort;
    expect(exitCode).toBe(137);
    expect(halfWritten(workspace)).toHaveLength(1);
    expect(await workspace.json("catalog list")).toEqual(before);
    expect(await workspace.json("catalog verify")).toEqual({ items: [], checked: 1 });
    expect(await workspace.json("catalog seed new.yaml")).toMatchObject({ added: [{}, {}], changed: [{}] });
    expect(halfWritten(workspace)).toEqual([]);
    expect(await workspace.json("catalog verify")).toEqual({ items: [], checked: 4 });
  },
  PATIENCE_MS,
);

test(
  "a stop signal while archives are checked ends the seed before anything is stored",
  async () => {
    using workspace = await prepared();
    const controller = new AbortController();
    controller.abort(new Interrupted("SIGTERM"));
    const { exitCode } = await workspace.run("catalog seed new.yaml", { signal: controller.signal });
    expect(exitCode).toBe(143);
    expect(await workspace.json("catalog verify")).toEqual({ items: [], checked: 1 });
  },
  PATIENCE_MS,
);
