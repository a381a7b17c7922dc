// An upgrade of a database with a million workstations, from the first schema that has them to the newest, including the copy that
// is made before.
import { statSync } from "node:fs";
import { join } from "node:path";
import { migrations } from "../../migrations/index.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { openConnection } from "../../src/platform/database/connection.ts";
import { migrate } from "../../src/platform/database/schema/migrate.ts";
import { addClientRows } from "./clients/client-rows.ts";
import type { Figure } from "./figures.ts";
import { temporaryDirectory } from "./tools/installation.ts";

const ROWS = 1_000_000;
const ROW_BYTES = 1_000;
/** the migration that created the inventory */
const FROM = 4;

/** Measures a migration. The results have no goal. */
export async function* measureMigration(): AsyncGenerator<Figure> {
  using directory = temporaryDirectory();
  const file = join(directory.path, "quartermaster.db");
  const options = { clock: systemClock, version: "bench", backupDirectory: join(directory.path, "backups") };
  migrate(file, { ...options, migrations: migrations.slice(0, FROM) });
  fill(file);
  const begin = performance.now();
  const { from, to } = migrate(file, options);
  const seconds = (performance.now() - begin) / 1_000;
  const again = performance.now();
  migrate(file, options);
  const idle = performance.now() - again;
  yield {
    what: `migration of ${ROWS} clients from schema ${from} to ${to}, with its copy`,
    unit: "s",
    ours: seconds,
  };
  yield { what: "the database", unit: "MB", ours: statSync(file).size / 1e6 };
  yield { what: "a start that has nothing to migrate", unit: "ms", ours: idle };
}

function fill(file: string): void {
  using connection = openConnection(file, {});
  connection.run("INSERT INTO organizations (id, name, created_at_ms) VALUES ('o', 'Bench', 0)");
  connection.run(`INSERT INTO users (id, organization_id, subject, email, email_key, role, status, created_at_ms, updated_at_ms)
    VALUES ('u', 'o', 'u', 'u@example.org', 'u@example.org', 'member', 'active', 0, 0)`);
  addClientRows(connection, { count: ROWS, bytesEach: ROW_BYTES });
}
