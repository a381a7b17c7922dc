// `backup list`: lists the files in the backup folder, with the facts from their manifests, and the data replaced by restores.
import { basename, resolve } from "node:path";
import { backupFolder } from "../../../src/app/backup/backup.ts";
import { type FoundBackup, listBackups } from "../../../src/app/backup/backup-folder.ts";
import { listReplacedDatabases, type ReplacedData } from "../../../src/app/backup/replaced-databases.ts";
import { placesIn } from "../../../src/platform/data-directory/data-directory.ts";
import type { SettingsCall } from "../../data-directory/in-domain.ts";
import { dateOf, timeOf } from "../../output/details.ts";
import type { Column } from "../../output/table.ts";

interface Row extends Omit<FoundBackup, "kind"> {
  kind: FoundBackup["kind"] | "replaced";
  /** undefined if it is not removed automatically */
  keptUntilMs?: number;
}

const keyIdsOf = ({ manifest }: Row): readonly string[] => manifest?.sealing_key_ids ?? [];

const COLUMNS: readonly Column<Row>[] = [
  { header: "NAME", value: ({ name }) => name },
  { header: "KIND", value: ({ kind }) => kind },
  { header: "CREATED", value: ({ createdAtMs }) => dateOf(createdAtMs ?? null) },
  { header: "BYTES", value: ({ sizeBytes }) => sizeBytes },
  { header: "SCHEMA", value: ({ schema }) => schema },
  { header: "VERSION", value: ({ manifest }) => manifest?.version },
  { header: "SESSION FILES", value: ({ manifest }) => manifest?.sessions?.count, isWide: true },
  { header: "KEYS", value: (backup) => keyIdsOf(backup).join(","), isWide: true },
  { header: "PATH", value: ({ path }) => path, isWide: true },
  { header: "KEPT UNTIL", value: ({ keptUntilMs }) => dateOf(keptUntilMs ?? null), isWide: true },
  { header: "PROBLEM", value: ({ problem }) => problem },
];

/** @throws DomainError `file.*` if the folder cannot be read */
export async function list({ config, output }: SettingsCall): Promise<void> {
  const directory = placesIn(resolve(config.get("data_dir")));
  const folder = backupFolder(config, directory);
  const replaced = listReplacedDatabases(directory, config.get("backup.keep_replaced")).map(replacedRow);
  const empty = `no backups in ${folder}`;
  output.list(
    [...listBackups(folder), ...replaced],
    { columns: COLUMNS, json: documentOf, empty },
    { folder },
  );
}

const replacedRow = ({ folder, path, replacedAtMs, keptUntilMs, sizeBytes }: ReplacedData): Row => ({
  name: basename(folder),
  path,
  kind: "replaced",
  createdAtMs: replacedAtMs,
  keptUntilMs,
  sizeBytes,
  schema: undefined,
  manifest: undefined,
  problem: undefined,
});

function documentOf(backup: Row): object {
  const { name, path, kind, createdAtMs, sizeBytes, schema, manifest, problem } = backup;
  return {
    name,
    path,
    kind,
    created_at: timeOf(createdAtMs ?? null),
    size_bytes: sizeBytes,
    schema: schema ?? null,
    version: manifest?.version ?? null,
    session_files: manifest?.sessions?.count ?? null,
    sealing_key_ids: keyIdsOf(backup),
    kept_until: timeOf(backup.keptUntilMs ?? null),
    problem: problem ?? null,
  };
}
