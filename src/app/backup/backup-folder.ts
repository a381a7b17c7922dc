// Lists the backups in a folder. Reads only the beginning and the end of each file.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type FileKind, kindOfFile, type Manifest } from "../../domain/backup/model.ts";
import { readManifest } from "../../domain/backup/unpack.ts";
import { upgradeCopyIn } from "../../platform/database/schema/schema.ts";
import { codeOf, DomainError } from "../../platform/errors.ts";

export interface FoundBackup {
  name: string;
  path: string;
  kind: FileKind;
  /** undefined if the file does not record it */
  createdAtMs: number | undefined;
  sizeBytes: number;
  schema: number | undefined;
  /** undefined for the copy that an upgrade makes, and for a file with a problem */
  manifest: Manifest | undefined;
  /** why the file cannot be read */
  problem: string | undefined;
}

/**
 * @returns the files whose names look like a backup, newest first; empty if the folder does not exist
 * @throws DomainError `file.not_permitted`
 */
export const listBackups = (folder: string): FoundBackup[] =>
  namesIn(folder)
    .flatMap((name) => describe(folder, name) ?? [])
    .sort(newestFirst);

/** Files without a creation time come last. */
const newestFirst = (one: FoundBackup, other: FoundBackup): number =>
  (other.createdAtMs ?? 0) - (one.createdAtMs ?? 0) || (one.name < other.name ? -1 : 1);

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return [];
    throw new DomainError("forbidden", "file.not_permitted", `${folder} cannot be read`, {
      hint: "check backup.directory and the permissions of that folder",
      cause,
    });
  }
}

function describe(folder: string, name: string): FoundBackup | undefined {
  const kind = kindOfFile(name);
  if (kind === undefined) return undefined;
  const path = join(folder, name);
  const sizeBytes = statSync(path, { throwIfNoEntry: false })?.size;
  if (sizeBytes === undefined) return undefined; // the service removed it in the meantime
  return { name, path, kind, sizeBytes, ...contentsOf(path, name) };
}

type Contents = Pick<FoundBackup, "createdAtMs" | "schema" | "manifest" | "problem">;

function contentsOf(path: string, name: string): Contents {
  const copy = upgradeCopyIn(name);
  if (copy) return { createdAtMs: copy.atMs, schema: copy.schema, manifest: undefined, problem: undefined };
  try {
    const manifest = readManifest(path);
    return {
      createdAtMs: Date.parse(manifest.created_at),
      schema: manifest.schema,
      manifest,
      problem: undefined,
    };
  } catch (error) {
    // A disk that fails for one file must not hide the others.
    const problem = error instanceof Error ? error.message : String(error);
    return { createdAtMs: undefined, schema: undefined, manifest: undefined, problem };
  }
}
