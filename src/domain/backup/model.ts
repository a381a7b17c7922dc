// What a backup is: one tar file `.qmb` of a manifest, a copy of the database and every artifact. Its names, the shape of its
// manifest and their bounds; writing and reading the bytes is for pack.ts and unpack.ts.
import { type Static, Type } from "@sinclair/typebox";
import { MINUTE_MS, toStamp } from "../../platform/clock.ts";
import { upgradeCopyIn } from "../../platform/database/schema/schema.ts";

export const BACKUP_SUFFIX = ".qmb";

/** keys that `--with-keys` writes beside a backup */
const KEYS_SUFFIX = ".qmk";

/** @returns the file of keys that belongs to a backup */
export function keysPathOf(backup: string): string {
  const stem = backup.endsWith(BACKUP_SUFFIX) ? backup.slice(0, -BACKUP_SUFFIX.length) : backup;
  return `${stem}${KEYS_SUFFIX}`;
}

/** The manifest's place has this size from the start, so that the digests can be put in once they are known. */
export const MANIFEST_BYTES = 64 * 1024;
export const FORMAT = 1;
/** Damaged artifacts that are told by name; `catalog verify` tells all. */
export const LEFT_OUT_MAX = 100;

export const MANIFEST_NAME = "manifest.json";
export const DATABASE_NAME = "quartermaster.db";
/** last of all; without it the file was cut short */
export const SEAL_NAME = "manifest.sha256";

const Count = Type.Integer({ minimum: 0 });
const Sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });
const ShortText = Type.String({ minLength: 1, maxLength: 200 });

export const ManifestSchema = Type.Object({
  format: Type.Literal(FORMAT),
  /** RFC 3339 */
  created_at: Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$" }),
  version: ShortText,
  /** whose it is; backups of earlier versions do not say it */
  organization_id: Type.Optional(ShortText),
  /** number of the last migration */
  schema: Count,
  database: Type.Object({
    size_bytes: Count,
    sha256: Sha256,
    /** of every table */
    rows: Type.Record(ShortText, Count),
  }),
  artifacts: Type.Object({
    count: Count,
    size_bytes: Count,
    /** of one line `digest size` for each, in their order */
    sha256: Sha256,
    /** digests of those whose bytes were damaged already */
    left_out: Type.Array(Sha256, { maxItems: LEFT_OUT_MAX }),
  }),
  /** of the keys that open what is sealed in the database; the keys themselves are not in a backup */
  sealing_key_ids: Type.Array(Type.String({ maxLength: 64 }), { maxItems: 1000 }),
});

export type Manifest = Static<typeof ManifestSchema>;

/** A backup that is this much newer than the clock is from the future: one of them was wrong. */
export const FUTURE_TOLERANCE_MS = MINUTE_MS;

export type BackupKind = "manual" | "scheduled";
/** `upgrade`: a copy of the database that was made before its schema changed */
export type FileKind = BackupKind | "upgrade";

const PREFIXES: Readonly<Record<BackupKind, string>> = { manual: "backup", scheduled: "scheduled" };
const SCHEDULED = new RegExp(`^${PREFIXES.scheduled}-\\d{8}T\\d{6}Z(?:-\\d{1,4})?\\${BACKUP_SUFFIX}$`);

/** @returns the name that the program gives; further ones of the same second have a number */
export const fileNameOf = (kind: BackupKind, { atMs, again }: { atMs: number; again: number }): string =>
  `${PREFIXES[kind]}-${toStamp(atMs)}${again === 0 ? "" : `-${again}`}${BACKUP_SUFFIX}`;

/** @returns what the name says; only those with a name that the schedule gives are ever removed */
export function kindOfFile(name: string): FileKind | undefined {
  if (upgradeCopyIn(name)) return "upgrade";
  if (SCHEDULED.test(name)) return "scheduled";
  return name.endsWith(BACKUP_SUFFIX) ? "manual" : undefined;
}
