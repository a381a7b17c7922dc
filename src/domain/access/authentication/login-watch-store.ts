// SQL that finds ended logins among those that are watched.
import { sql } from "drizzle-orm";
import type { Connection } from "../../../platform/database/database.ts";
import { grants, loginSessions } from "../tables.ts";

/** @returns the ids without an active grant or login session; one query, however many ids there are */
export function endedAmong(connection: Connection, ids: readonly string[]): string[] {
  const rows = connection.all<{ id: string }>(sql`
    SELECT value AS id FROM json_each(${JSON.stringify(ids)})
    WHERE NOT EXISTS (SELECT 1 FROM ${grants} WHERE ${grants.id} = value AND ${grants.revokedAtMs} IS NULL)
    AND NOT EXISTS (SELECT 1 FROM ${loginSessions}
      WHERE ${loginSessions.id} = value AND ${loginSessions.endedAtMs} IS NULL)`);
  return rows.map(({ id }) => id);
}
