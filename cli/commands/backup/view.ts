// Formats backups as text and JSON.
import type { Manifest } from "../../../src/domain/backup/model.ts";

/** @returns the public facts of a manifest, as JSON */
export const manifestDocument = ({
  created_at,
  version,
  schema,
  database,
  artifacts,
  ...rest
}: Manifest) => ({
  created_at,
  version,
  schema,
  database,
  artifacts,
  captured_sessions: { count: sessionsIn(database), files_included: false },
  sealing_key_ids: rest.sealing_key_ids,
});

/** @returns `schema 6, 1204 rows, 12 artifacts`, and how many captured sessions, whose files no backup has */
export function contentsText({ schema, database, artifacts }: Manifest): string {
  const rows = Object.values(database.rows).reduce((sum, count) => sum + count, 0);
  const sessions = sessionsIn(database);
  return [
    `schema ${schema}`,
    amount(rows, "row"),
    amount(artifacts.count, "artifact"),
    ...(sessions > 0 ? [`${amount(sessions, "captured session")} without files`] : []),
  ].join(", ");
}

/** A backup of an older schema has no such table. */
export const sessionsIn = ({ rows }: Manifest["database"]): number => rows.captured_sessions ?? 0;

/** @returns `1 row`, `2 rows` */
export const amount = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
