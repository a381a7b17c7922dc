// `backup list`: what is in the folder of backups, by what the beginning of each file says.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { backupFolder } from "../../src/backup/backup.ts";
import { type FileKind, kindOfFile, type Manifest } from "../../src/domain/backup/model.ts";
import { readManifest } from "../../src/domain/backup/unpack.ts";
import { DomainError } from "../../src/domain/errors.ts";
import { placesIn } from "../../src/platform/data-directory.ts";
import { upgradeCopyIn } from "../../src/platform/database/schema.ts";
import { dateOf, timeOf } from "../details.ts";
import type { SettingsCall } from "../in-domain.ts";
import type { Column } from "../table.ts";

interface Row {
  name: string;
  path: string;
  kind: FileKind;
  /** undefined where the file does not say it */
  createdAtMs: number | undefined;
  sizeBytes: number;
  schema: number | undefined;
  version: string | undefined;
  keyIds: readonly string[];
  /** why it cannot be read */
  problem: string | undefined;
}

const COLUMNS: readonly Column<Row>[] = [
  { header: "NAME", value: ({ name }) => name },
  { header: "KIND", value: ({ kind }) => kind },
  { header: "CREATED", value: ({ createdAtMs }) => dateOf(createdAtMs ?? null) },
  { header: "BYTES", value: ({ sizeBytes }) => sizeBytes },
  { header: "SCHEMA", value: ({ schema }) => schema },
  { header: "VERSION", value: ({ version }) => version },
  { header: "KEYS", value: ({ keyIds }) => keyIds.join(","), isWide: true },
  { header: "PATH", value: ({ path }) => path, isWide: true },
  { header: "PROBLEM", value: ({ problem }) => problem },
];

/** @throws DomainError `file.*` where the folder cannot be read */
export async function list({ config, output }: SettingsCall): Promise<void> {
  const folder = backupFolder(config, placesIn(config.get("data_dir")));
  const rows = namesIn(folder)
    .flatMap((name) => rowOf(folder, name) ?? [])
    .sort(
      (one, other) => (other.createdAtMs ?? 0) - (one.createdAtMs ?? 0) || (one.name < other.name ? -1 : 1),
    );
  const empty = `no backups in ${folder}`;
  output.list(rows, { columns: COLUMNS, json: documentOf, empty }, { folder });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return [];
    throw new DomainError("forbidden", "file.not_permitted", `${folder} cannot be read`, {
      hint: "check backup.directory, and who may read that folder",
      cause,
    });
  }
}

function rowOf(folder: string, name: string): Row | undefined {
  const kind = kindOfFile(name);
  if (kind === undefined) return undefined;
  const path = join(folder, name);
  const sizeBytes = statSync(path, { throwIfNoEntry: false })?.size;
  if (sizeBytes === undefined) return undefined; // the service has just removed it
  const shared = { name, path, kind, sizeBytes };
  const nothing = { schema: undefined, version: undefined, keyIds: [], problem: undefined };
  if (kind === "upgrade") {
    const made = upgradeCopyIn(name);
    return { ...shared, ...nothing, createdAtMs: made?.atMs, schema: made?.schema };
  }
  try {
    return { ...shared, ...factsOf(readManifest(path)), problem: undefined };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { ...shared, ...nothing, createdAtMs: undefined, problem: error.message };
  }
}

const factsOf = ({ created_at, schema, version, sealing_key_ids }: Manifest) => ({
  createdAtMs: Date.parse(created_at),
  schema,
  version,
  keyIds: sealing_key_ids,
});

const documentOf = ({ createdAtMs, sizeBytes, schema, version, keyIds, problem, ...row }: Row) => ({
  ...row,
  created_at: timeOf(createdAtMs ?? null),
  size_bytes: sizeBytes,
  schema: schema ?? null,
  version: version ?? null,
  sealing_key_ids: keyIds,
  problem: problem ?? null,
});
