// SQL that counts workstations by what they have installed.
import { and, eq, sql } from "drizzle-orm";
import type { Connection } from "../../../platform/database/database.ts";
import { boundsOf, isInSpan, NAMED } from "../../shared/ordered-rows-store.ts";
import type { Span } from "../../shared/page-steps.ts";
import { healthSince, NEWEST_FIRST } from "../inventory/list-store.ts";
import { clientReports } from "../tables.ts";

/** The installed versions on the workstations of a span. */
export interface InstalledInSpan {
  /** for each workstation the JSON text of an InstalledKind; equal texts mean equal software */
  kinds: readonly string[];
  /** number of workstations that follow the current revision */
  current: number;
}

/** Version of the client, and pairs of harness and version; null for a report that is not counted yet. */
export type InstalledKind = readonly [
  clientVersion: string,
  versions: readonly (readonly [string, string])[] | null,
];

/** @returns a function that reads the records of a span as one text, which is faster than grouping or reading rows */
export function installedKinds(
  connection: Connection,
  { organizationId, inForce }: { organizationId: string; inForce: string | null },
): (span: Span) => InstalledInSpan {
  const { harnessVersions, clientVersion } = clientReports;
  const kind = sql`'[' || json_quote(${clientVersion}) || ',' || coalesce(${harnessVersions}, 'null') || ']'`;
  const read = connection
    .select({
      kinds: sql<string | null>`group_concat(${kind}, x'0a')`,
      current: sql<number>`count(*) FILTER (WHERE ${healthSince(inForce)} = 'current')`,
    })
    .from(clientReports)
    .where(and(eq(clientReports.organizationId, organizationId), isInSpan(NEWEST_FIRST, NAMED)))
    .prepare();
  return (span) => {
    const { kinds = null, current = 0 } = read.get(boundsOf(NEWEST_FIRST, span)) ?? {};
    return { kinds: kinds?.split("\n") ?? [], current };
  };
}
