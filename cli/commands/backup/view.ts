// Formats backups as text and JSON.
import type { Manifest } from "../../../src/domain/backup/model.ts";
import { countText } from "../../../src/platform/count-text.ts";

/** @returns the public facts of a manifest, as JSON */
export const manifestDocument = ({
  created_at,
  version,
  schema,
  database,
  artifacts,
  sessions,
  sessions_elsewhere,
  sealing_key_ids,
}: Manifest) => ({
  created_at,
  version,
  schema,
  database,
  artifacts,
  captured_sessions: {
    count: sessionsIn(database),
    files_included: sessions !== undefined,
    files: sessions ?? null,
    in_object_store: sessions_elsewhere ?? null,
  },
  sealing_key_ids,
});

/** @returns `schema 6, 1204 rows, 12 artifacts`, and how many captured sessions, with what the backup has of their files */
export function contentsText(manifest: Manifest): string {
  const { schema, database, artifacts } = manifest;
  const rows = Object.values(database.rows).reduce((sum, count) => sum + count, 0);
  return [
    `schema ${schema}`,
    countText(rows, "row"),
    countText(artifacts.count, "artifact"),
    ...sessionTexts(manifest),
  ].join(", ");
}

function sessionTexts({ database, sessions, sessions_elsewhere: elsewhere = 0 }: Manifest): string[] {
  const count = sessionsIn(database);
  if (count === 0) return [];
  const files = sessions === undefined ? "no files (backup.sessions)" : countText(sessions.count, "file");
  return [
    `${countText(count, "captured session")} with ${files}`,
    ...(elsewhere > 0 ? [`${countText(elsewhere, "version")} in the object store not included`] : []),
  ];
}

/** A backup of an older schema has no such table. */
const sessionsIn = ({ rows }: Manifest["database"]): number => rows.captured_sessions ?? 0;
