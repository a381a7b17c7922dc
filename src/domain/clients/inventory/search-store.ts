// SQL of the index of host names and instance ids; the migration has its triggers.
import type { Connection } from "../../../platform/database/database.ts";
import type { Steps } from "../../../platform/steps.ts";
import { isAmong } from "../../shared/ordered-rows-store.ts";
import { numbersWith } from "../../shared/text-search/trigram-store.ts";
import { clientReports, clientSearchEntries } from "../tables.ts";

/** @returns the ids of records whose host name or instance id may contain all parts, in any case; at most `max` + 1 */
export function* recordsWith(connection: Connection, parts: readonly string[], max: number): Steps<string[]> {
  const numbers = yield* numbersWith(connection, "client_search", { parts, max });
  yield;
  return connection
    .select({ id: clientSearchEntries.clientId })
    .from(clientSearchEntries)
    .where(isAmong(clientSearchEntries.number, numbers))
    .all()
    .map(({ id }) => id);
}

/** @returns the ids of the users' records */
export const recordsOf = (connection: Connection, userIds: readonly string[], limit: number): string[] =>
  connection
    .select({ id: clientReports.id })
    .from(clientReports)
    .where(isAmong(clientReports.userId, userIds))
    .limit(limit)
    .all()
    .map(({ id }) => id);
