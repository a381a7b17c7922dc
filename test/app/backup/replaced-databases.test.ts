// The order in which databases that a restore replaced are listed. It does not depend on the order of the file system.
import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { listReplacedDatabases } from "../../../src/app/backup/replaced-databases.ts";
import { DAY_MS } from "../../../src/platform/clock.ts";
import { placesIn } from "../../../src/platform/data-directory/data-directory.ts";

test("replaced databases are listed newest first, those of one second by their number", () => {
  const folder = mkdtempSync(join(tmpdir(), "quartermaster-replaced-"));
  const days = [4, 1, 6, 3, 5, 2];
  try {
    for (const day of days) mkdirSync(join(folder, `replaced-2026010${day}T000000Z`));
    mkdirSync(join(folder, "replaced-20260103T000000Z-1"));
    mkdirSync(join(folder, "replaced-by-hand"));
    const listed = listReplacedDatabases(placesIn(folder), 3);
    expect(listed.map((each) => basename(each.folder).slice("replaced-".length))).toEqual([
      "20260106T000000Z",
      "20260105T000000Z",
      "20260104T000000Z",
      "20260103T000000Z-1",
      "20260103T000000Z",
      "20260102T000000Z",
      "20260101T000000Z",
    ]);
    for (const { replacedAtMs, keptUntilMs } of listed) expect(keptUntilMs - replacedAtMs).toBe(3 * DAY_MS);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
