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
  sealing_key_ids: rest.sealing_key_ids,
});

/** @returns `schema 6, 1204 rows, 12 artifacts` */
export function contentsText({ schema, database, artifacts }: Manifest): string {
  const rows = Object.values(database.rows).reduce((sum, count) => sum + count, 0);
  return [`schema ${schema}`, amount(rows, "row"), amount(artifacts.count, "artifact")].join(", ");
}

/** @returns `1 row`, `2 rows` */
export const amount = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
