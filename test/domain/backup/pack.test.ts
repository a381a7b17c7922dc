// A backup that does not fit on the disk is refused before it is written. Large files are sparse, so that they take no space.
import { expect, test } from "bun:test";
import { mkdirSync, mkdtempDisposableSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { memberOf } from "../../../src/domain/backup/model.ts";
import { packBackup } from "../../../src/domain/backup/pack.ts";
import { diskSpace } from "../../../src/platform/files/disk.ts";

const FACTS = {
  created_at: "2026-01-01T00:00:00.000Z",
  version: "1.0.0",
  organization_id: "org",
  schema: 1,
  sealing_key_ids: [],
  rows: {},
};

test.each(["quartermaster.db", memberOf("artifacts", "a".repeat(64)), memberOf("sessions", "b".repeat(64))])(
  "reports a disk that is too small for %s before writing anything",
  (large) => {
    using folder = mkdtempDisposableSync(join(tmpdir(), "quartermaster-pack-"));
    const at = (name: string) => join(folder.path, name);
    mkdirSync(dirname(at(large)), { recursive: true });
    for (const name of ["quartermaster.db", large]) writeFileSync(at(name), "small");
    truncateSync(at(large), diskSpace(folder.path).availableBytes + 10 ** 9);
    const request = {
      database: at("quartermaster.db"),
      artifacts: at("artifacts"),
      sessions: at("sessions"),
      target: at("target"),
      partial: at("partial"),
      facts: FACTS,
    };
    const written = () => {
      throw new Error("it was written");
    };
    expect(() => packBackup(request, written)).toThrow(expect.objectContaining({ reason: "storage.full" }));
    expect(statSync(at("partial")).size).toBe(0);
  },
);
