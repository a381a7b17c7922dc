// SQL that counts workstations by what they have installed.
import { and, count, eq, sql } from "drizzle-orm";
import type { Connection } from "../../../platform/database/database.ts";
import { boundsOf, isInSpan, NAMED } from "../../shared/ordered-rows-store.ts";
import type { Span } from "../../shared/page-steps.ts";
import { healthSince, NEWEST_FIRST } from "../inventory/list-store.ts";
import { clientReports } from "../tables.ts";

/** Workstations that have the same versions installed. */
export interface InstalledKind {
  /** JSON list of pairs of harness and version; null for a report that is not counted yet */
  versions: string | null;
  clientVersion: string;
  clients: number;
  /** of these, those that follow the current revision */
  current: number;
}

/** @returns a function that counts the records of a span by what they have installed */
export function installedKinds(
  connection: Connection,
  { organizationId, inForce }: { organizationId: string; inForce: string | null },
): (span: Span) => InstalledKind[] {
  const { harnessVersions: versions, clientVersion } = clientReports;
  const kinds = connection
    .select({
      ...{ versions, clientVersion, clients: count() },
      current: sql<number>`count(*) FILTER (WHERE ${healthSince(inForce)} = 'current')`,
    })
    .from(clientReports)
    .where(and(eq(clientReports.organizationId, organizationId), isInSpan(NEWEST_FIRST, NAMED)))
    .groupBy(versions, clientVersion)
    .prepare();
  return (span) => kinds.all({ ...boundsOf(NEWEST_FIRST, span) });
}
