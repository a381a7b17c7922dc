// A backup is read only where there is room for what it unpacks to, and reading it reports its progress.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { makeBackup } from "../../../src/app/backup/backup.ts";
import { type BackupFile, inspectFile, readBackup } from "../../../src/app/backup/read-backup.ts";
import { PIECE_BYTES } from "../../../src/domain/backup/pack.ts";
import { unpackBackup } from "../../../src/domain/backup/unpack.ts";
import { placesIn } from "../../../src/platform/data-directory/data-directory.ts";
import { type Bench, createInstallation } from "../../support/in-process.ts";

/** The kernel's own file system has no free bytes, whatever else happens on the machine. */
const FULL = "/proc";

let bench: Bench;
let whole: BackupFile;

beforeAll(async () => {
  bench = await createInstallation();
  const target = join(bench.folder, "whole.qmb");
  const directory = placesIn(bench.data);
  const request = { kind: "manual", directory, folder: bench.folder, target } as const;
  await makeBackup({ ...request, clock: bench.clock, keyIdsIn: () => [] });
  whole = inspectFile(target);
});
afterAll(() => bench[Symbol.dispose]());

interface Sizes {
  database: number;
  artifacts: number;
}

/** The same file with other sizes in its manifest. */
function sized({ database, artifacts }: Sizes): BackupFile {
  const { manifest } = whole;
  if (!manifest) throw new Error("a backup has a manifest");
  const changed = {
    ...manifest,
    database: { ...manifest.database, size_bytes: database },
    artifacts: { ...manifest.artifacts, size_bytes: artifacts },
  };
  return { ...whole, manifest: changed, sizeBytes: 1 };
}

const copyOf = (sizeBytes: number): BackupFile => ({ ...whole, manifest: undefined, sizeBytes });

test.each<[string, () => BackupFile, string | undefined, boolean]>([
  ["a database that needs nothing", () => sized({ database: 0, artifacts: 1 }), undefined, true],
  ["a database", () => sized({ database: 1, artifacts: 0 }), undefined, false],
  ["artifacts that are unpacked", () => sized({ database: 0, artifacts: 1 }), `${FULL}/artifacts`, false],
  ["artifacts that need nothing", () => sized({ database: 0, artifacts: 0 }), `${FULL}/artifacts`, true],
  ["a copy of a database that needs nothing", () => copyOf(0), undefined, true],
  ["a copy of a database that has no artifacts", () => copyOf(0), `${FULL}/artifacts`, true],
  ["a copy of a database", () => copyOf(1), undefined, false],
])("without free bytes, %s is read: %#", async (_what, backupOf, artifacts, fits) => {
  const request = { backup: backupOf(), folder: FULL, clock: bench.clock };
  const reading = readBackup({ ...request, ...(artifacts !== undefined && { artifacts }) });
  const error = await reading.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Error); // nothing can be written there in any case
  const isWithoutRoom = error instanceof Error && "reason" in error && error.reason === "storage.full";
  expect(isWithoutRoom).toBe(!fits);
});

test("every piece that is read is reported with the size of the file", () => {
  const seen: number[] = [];
  const database = join(bench.folder, "unpacked.db");
  const { manifest, path, sizeBytes } = whole;
  unpackBackup({ path, database }, (done, total) => {
    expect(total).toBe(sizeBytes);
    seen.push(done);
  });
  const length = manifest?.database.size_bytes ?? 0;
  expect(seen).toHaveLength(Math.ceil(length / PIECE_BYTES));
  expect(seen[0]).toBeGreaterThan(Math.min(length, PIECE_BYTES));
});
