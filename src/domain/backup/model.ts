// The format of a backup: one tar file `.qmb` with a manifest, a copy of the database, every artifact and, optionally, the
// files of captured sessions. Defines names, limits and the manifest; pack.ts writes the bytes and unpack.ts reads them.
import { type Static, Type } from "@sinclair/typebox";
import { MINUTE_MS, toStamp } from "../../platform/clock.ts";
import { upgradeCopyIn } from "../../platform/database/schema/schema.ts";

export const BACKUP_SUFFIX = ".qmb";

/** suffix of the key file that `--with-keys` writes next to a backup */
const KEYS_SUFFIX = ".qmk";

/** @returns the key file that belongs to a backup */
export function keysPathOf(backup: string): string {
  const stem = backup.endsWith(BACKUP_SUFFIX) ? backup.slice(0, -BACKUP_SUFFIX.length) : backup;
  return `${stem}${KEYS_SUFFIX}`;
}

/** The writer reserves this size for the manifest first, and fills in the digests once they are known. */
export const MANIFEST_BYTES = 64 * 1024;
/** Format 2 contains files of captured sessions; earlier versions read only format 1. */
export const FORMAT = { plain: 1, withSessions: 2 } as const;
/** Maximum number of damaged files that a manifest lists; `catalog verify` and `sessions verify` list all of them. */
export const LEFT_OUT_MAX = 100;

export const MANIFEST_NAME = "manifest.json";
export const DATABASE_NAME = "quartermaster.db";
/** the last member; without it the file was truncated */
export const SEAL_NAME = "manifest.sha256";

const Count = Type.Integer({ minimum: 0 });
const Sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });
const ShortText = Type.String({ minLength: 1, maxLength: 200 });

/** Files of one folder, each named by its digest. */
const Files = Type.Object({
  count: Count,
  size_bytes: Count,
  /** digest of a text with one line `digest size` for each file, in the order of the backup */
  sha256: Sha256,
  /** digests of files that were damaged when the backup was created */
  left_out: Type.Array(Sha256, { maxItems: LEFT_OUT_MAX }),
});

export const ManifestSchema = Type.Object({
  format: Type.Union([Type.Literal(FORMAT.plain), Type.Literal(FORMAT.withSessions)]),
  /** RFC 3339 */
  created_at: Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$" }),
  version: ShortText,
  /** id of the installation; absent in backups of earlier versions */
  organization_id: Type.Optional(ShortText),
  /** number of the last migration */
  schema: Count,
  database: Type.Object({
    size_bytes: Count,
    sha256: Sha256,
    /** number of rows in each table */
    rows: Type.Record(ShortText, Count),
  }),
  artifacts: Files,
  /** files of captured sessions in the local store; absent if they are not in the backup */
  sessions: Type.Optional(Files),
  /** number of captured session versions whose bytes are in an object store, which backups never contain */
  sessions_elsewhere: Type.Optional(Count),
  /** ids of the keys that open the sealed values of the database; a backup never contains the keys */
  sealing_key_ids: Type.Array(Type.String({ maxLength: 64 }), { maxItems: 1000 }),
});

export type Manifest = Static<typeof ManifestSchema>;
export type PackedFiles = Static<typeof Files>;

/** The folders of the data directory whose files a backup contains. */
export type FileFolder = "artifacts" | "sessions";

/** @returns the name of a file in the archive, which is also its path in the data directory */
export const memberOf = (folder: FileFolder, digest: string): string =>
  `${folder}/sha256/${digest.slice(0, 2)}/${digest}`;

/** If a backup is dated further in the future than this, the clock was wrong when it was written, or is wrong now. */
export const FUTURE_TOLERANCE_MS = MINUTE_MS;

export type BackupKind = "manual" | "scheduled";
/** `upgrade`: a copy of the database before its schema changed */
export type FileKind = BackupKind | "upgrade";

const PREFIXES: Readonly<Record<BackupKind, string>> = { manual: "backup", scheduled: "scheduled" };
const SCHEDULED = new RegExp(`^${PREFIXES.scheduled}-\\d{8}T\\d{6}Z(?:-\\d{1,4})?\\${BACKUP_SUFFIX}$`);

/** @returns the file name; further backups of the same second get a number */
export const fileNameOf = (kind: BackupKind, { atMs, again }: { atMs: number; again: number }): string =>
  `${PREFIXES[kind]}-${toStamp(atMs)}${again === 0 ? "" : `-${again}`}${BACKUP_SUFFIX}`;

/** @returns the kind of a file by its name; only files named by the schedule are removed automatically */
export function kindOfFile(name: string): FileKind | undefined {
  if (upgradeCopyIn(name)) return "upgrade";
  if (SCHEDULED.test(name)) return "scheduled";
  return name.endsWith(BACKUP_SUFFIX) ? "manual" : undefined;
}
