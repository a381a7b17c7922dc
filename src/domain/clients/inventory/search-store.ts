// SQL of the index of host names and instance ids, whose triggers are in the migration.
import { sql } from "drizzle-orm";
import type { Connection } from "../../../platform/database/database.ts";
import { isAmong } from "../../shared/ordered-rows-store.ts";
import { matchOf } from "../../shared/text-search/trigram-store.ts";
import { clientReports, clientSearchEntries } from "../tables.ts";

/** @returns the ids of records whose host name or instance id has all the parts, in any case */
export const recordsWith = (connection: Connection, parts: readonly string[], limit: number): string[] =>
  connection
    .select({ id: clientSearchEntries.clientId })
    .from(clientSearchEntries)
    .where(
      sql`${clientSearchEntries.number} IN (
        SELECT rowid FROM client_search WHERE client_search MATCH ${matchOf(parts)} LIMIT ${limit})`,
    )
    .all()
    .map(({ id }) => id);

/** @returns the ids of the users' records */
export const recordsOf = (connection: Connection, userIds: readonly string[], limit: number): string[] =>
  connection
    .select({ id: clientReports.id })
    .from(clientReports)
    .where(isAmong(clientReports.userId, userIds))
    .limit(limit)
    .all()
    .map(({ id }) => id);
