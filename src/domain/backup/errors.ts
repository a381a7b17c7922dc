// Errors of backups that cannot be created, read or restored.
import { DomainError } from "../../platform/errors.ts";
import type { Manifest } from "./model.ts";

/** The bytes differ from those that were written. */
export const damaged = (path: string, what: string): DomainError =>
  new DomainError("unverified", "backup.damaged", `${path} is damaged: ${what}`, {
    hint: "use another backup; `quartermaster backup list` shows them",
  });

/** The file is not a backup, or its beginning is missing. */
export const notBackupFile = (path: string, why: string): DomainError =>
  new DomainError(
    "unverified",
    "backup.unreadable",
    `${path} is not a backup that this program can read: ${why}`,
    {
      hint: "name a file that `quartermaster backup create` has made",
    },
  );

/** @param differences in words; at least one */
export const foreignObjects = (path: string, differences: readonly string[]): DomainError =>
  new DomainError(
    "unverified",
    "backup.foreign_objects",
    `the database of ${path} does not match the schema that the migrations of Quartermaster create: ${differences[0]}`,
    {
      hint: "use another backup, or find out who made these objects, and drop them in a copy of the database with sqlite3",
      problems: differences.map((detail) => ({ pointer: "", detail })),
    },
  );

/** @param programKnows the newest schema that this program reads */
export const newerBackup = (
  path: string,
  { schema, version }: Pick<Manifest, "schema" | "version">,
  programKnows: number,
): DomainError =>
  new DomainError(
    "conflict",
    "schema.newer",
    `${path} has schema ${schema} (made by version ${version}); this program knows up to ${programKnows}`,
    { hint: `restore it with version ${version} or newer` },
  );

/** The database failed SQLite's check, so a copy of it would be worthless. */
export const databaseDamaged = (problems: readonly string[]): DomainError =>
  new DomainError("unverified", "backup.database_damaged", `the database is damaged: ${problems[0]}`, {
    hint: "restore the last backup that `quartermaster backup verify` accepts; `doctor --deep` shows more",
    problems: problems.map((detail) => ({ pointer: "", detail })),
  });

/** @param bytes the required and the available bytes */
export const insufficientDiskSpace = (
  folder: string,
  bytes: { needed: number; available: number },
): DomainError =>
  new DomainError(
    "unavailable",
    "storage.full",
    `${folder} has ${megabytes(bytes.available)} MB left, and ${megabytes(bytes.needed)} MB are needed`,
    { hint: "free some space there, or name another folder" },
  );

const megabytes = (bytes: number): string => (bytes / 1_000_000).toFixed(1);
