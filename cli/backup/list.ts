// `backup list`: what is in the folder of backups, by what the beginning of each file says.
import { backupFolder } from "../../src/backup/backup.ts";
import { backupsIn, type FoundBackup } from "../../src/backup/found.ts";
import { placesIn } from "../../src/platform/data-directory.ts";
import { dateOf, timeOf } from "../details.ts";
import type { SettingsCall } from "../in-domain.ts";
import type { Column } from "../table.ts";

const keyIdsOf = ({ manifest }: FoundBackup): readonly string[] => manifest?.sealing_key_ids ?? [];

const COLUMNS: readonly Column<FoundBackup>[] = [
  { header: "NAME", value: ({ name }) => name },
  { header: "KIND", value: ({ kind }) => kind },
  { header: "CREATED", value: ({ createdAtMs }) => dateOf(createdAtMs ?? null) },
  { header: "BYTES", value: ({ sizeBytes }) => sizeBytes },
  { header: "SCHEMA", value: ({ schema }) => schema },
  { header: "VERSION", value: ({ manifest }) => manifest?.version },
  { header: "KEYS", value: (backup) => keyIdsOf(backup).join(","), isWide: true },
  { header: "PATH", value: ({ path }) => path, isWide: true },
  { header: "PROBLEM", value: ({ problem }) => problem },
];

/** @throws DomainError `file.*` where the folder cannot be read */
export async function list({ config, output }: SettingsCall): Promise<void> {
  const folder = backupFolder(config, placesIn(config.get("data_dir")));
  const empty = `no backups in ${folder}`;
  output.list(backupsIn(folder), { columns: COLUMNS, json: documentOf, empty }, { folder });
}

function documentOf(backup: FoundBackup): object {
  const { name, path, kind, createdAtMs, sizeBytes, schema, manifest, problem } = backup;
  return {
    ...{ name, path, kind },
    created_at: timeOf(createdAtMs ?? null),
    size_bytes: sizeBytes,
    schema: schema ?? null,
    version: manifest?.version ?? null,
    sealing_key_ids: keyIdsOf(backup),
    problem: problem ?? null,
  };
}
