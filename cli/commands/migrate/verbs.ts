// `migrate status` and `migrate up`. src/platform/database/schema/migrate.ts applies migrations, all or none.
import { runTask } from "../../../src/app/backup/backup-task.ts";
import { existingDirectory } from "../../../src/app/installation/existing-directory.ts";
import { lockForServer } from "../../../src/platform/data-directory/data-directory.ts";
import { removePartialCopies } from "../../../src/platform/database/maintenance/copy.ts";
import { finishSwap } from "../../../src/platform/database/maintenance/data-swap.ts";
import {
  type MigrationState,
  migrationsOf,
  programSchema,
  schemaIn,
} from "../../../src/platform/database/schema/schema.ts";
import { VERSION } from "../../../src/platform/version.ts";
import type { SettingsCall } from "../../data-directory/in-domain.ts";
import { dateOf, timeOf } from "../../output/details.ts";
import type { Column } from "../../output/table.ts";
import { watchTask } from "../backup/progress.ts";

const COLUMNS: readonly Column<MigrationState>[] = [
  { header: "ID", value: ({ id }) => id },
  { header: "NAME", value: ({ name }) => name },
  { header: "STATE", value: ({ state }) => state },
  { header: "APPLIED", value: ({ appliedAtMs }) => dateOf(appliedAtMs) },
  { header: "BY VERSION", value: ({ appliedBy }) => appliedBy },
];

/** @throws DomainError `data_dir.*`, `storage.*` */
export async function status({ config, context, output }: SettingsCall): Promise<void> {
  const rows = migrationsOf(existingDirectory({ config, clock: context.clock }).database);
  const schemas = { database_schema: databaseSchema(rows), program_schema: programSchema() };
  output.list(rows, { columns: COLUMNS, json: documentOf, empty: "no migrations" }, schemas);
  if (rows.some(({ state }) => state === "unknown"))
    output.warning("this database was written by a newer or modified program; this program cannot use it");
  else if (rows.some(({ state }) => state === "pending"))
    output.note(
      "the service applies pending migrations when it starts; to apply them now: quartermaster migrate up",
    );
}

/** @throws DomainError `data_dir.in_use` while a service runs, `schema.*`, `storage.*` */
export async function up({ config, context, output, has }: SettingsCall): Promise<void> {
  const directory = existingDirectory({ config, clock: context.clock });
  const [from, to] = [schemaIn(directory.database), programSchema()];
  if (from === to) return output.result({ changed: false, from, to, copy: null }, `unchanged: schema ${to}`);
  if (has("dryRun")) {
    const text = `Would copy the database and upgrade it from schema ${from} to ${to}.\nNo changes made.`;
    return output.result({ dry_run: true, from, to }, text);
  }
  const lock = lockForServer(directory, context.clock);
  try {
    finishSwap(directory);
    using watch = watchTask(context, "copying and upgrading the database");
    const task = {
      file: directory.database,
      nowMs: context.clock.nowMs(),
      version: VERSION,
      backupDirectory: directory.backups,
      replicated: config.get("database.replicated"),
    };
    const done = await runTask("migrate", task, watch);
    watch[Symbol.dispose]();
    const copy = done.backup === undefined ? "" : `; copy before the upgrade: ${done.backup}`;
    const document = { changed: true, from: done.from, to: done.to, copy: done.backup ?? null };
    output.result(document, `upgraded the database from schema ${done.from} to ${done.to}${copy}`);
  } finally {
    removePartialCopies(directory.backups); // left by an interrupted copy
    lock.release();
  }
}

const databaseSchema = (rows: readonly MigrationState[]): number =>
  rows.findLast(({ state }) => state !== "pending")?.id ?? 0;

const documentOf = ({ id, name, state, appliedAtMs, appliedBy }: MigrationState) => ({
  id,
  name,
  state,
  applied_at: timeOf(appliedAtMs),
  applied_by: appliedBy,
});
