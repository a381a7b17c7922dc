// A data directory of the release before: with the schema before the newest, an organization and two people.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { migrations } from "../../../migrations/index.ts";
import type { Clock } from "../../../src/platform/clock.ts";
import { placesIn } from "../../../src/platform/data-directory/data-directory.ts";
import { openConnection } from "../../../src/platform/database/connection.ts";
import { migrate } from "../../../src/platform/database/schema/migrate.ts";

export const OLDER_SCHEMA = migrations.length - 1;

/** Replaces the database in `data`, to which this process may have no open connection. */
export function makeOlder(data: string, clock: Clock): void {
  const { database, backups } = placesIn(data);
  mkdirSync(data, { recursive: true, mode: 0o700 });
  for (const end of ["", "-wal", "-shm"]) rmSync(database + end, { force: true });
  const nowMs = clock.nowMs();
  const bytes = made.get(nowMs) ?? bytesOfOlder(database, { clock, backups });
  made.set(nowMs, bytes);
  writeFileSync(database, bytes, { mode: 0o600 });
}

/** Databases by the time of the clock: running all migrations takes longer than most tests. */
const made = new Map<number, Uint8Array>();

function bytesOfOlder(database: string, { clock, backups }: { clock: Clock; backups: string }): Uint8Array {
  const older = migrations.slice(0, OLDER_SCHEMA);
  migrate(database, { clock, version: "development", backupDirectory: backups, migrations: older });
  const connection = openConnection(database, {});
  connection.run("INSERT INTO organizations (id, name, created_at_ms) VALUES ('o', 'Observatory', 0)");
  for (const name of ["later", "root"])
    connection.run(
      `INSERT INTO users (id, organization_id, subject, email, email_key, role, status, created_at_ms, updated_at_ms)
       VALUES ('${name}', 'o', '${name}', '${name}@example.org', '${name}@example.org', 'admin', 'active', 0, 0)`,
    );
  connection.close();
  return readFileSync(database);
}
