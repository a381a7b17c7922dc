// SQL that reads the workstations' reports about packages.
import { and, count, eq, isNull, lt, or, sql } from "drizzle-orm";
import type { Connection } from "../../../platform/database/database.ts";
import { boundsOf, isInSpan, NAMED } from "../../shared/ordered-rows-store.ts";
import type { Span } from "../../shared/page-steps.ts";
import { NEWEST_FIRST } from "../inventory/list-store.ts";
import { clientReports } from "../tables.ts";

/** The workstations that report one list. */
export interface PackagesKind {
  /** JSON list, as reported */
  packages: string;
  clients: number;
}

/** @returns a function that counts the records of a span by the packages that they report */
export function packagesKinds(
  connection: Connection,
  organizationId: string,
): (span: Span) => PackagesKind[] {
  const { packages } = clientReports;
  const kinds = connection
    .select({ packages, clients: count() })
    .from(clientReports)
    .where(and(eq(clientReports.organizationId, organizationId), isInSpan(NEWEST_FIRST, NAMED)))
    .groupBy(packages)
    .prepare();
  return (span) => kinds.all({ ...boundsOf(NEWEST_FIRST, span) });
}

/** A workstation with a package problem. */
export interface FaultyRow {
  id: string;
  hostname: string | null;
  /** JSON list, as reported */
  packages: string;
}

/** @returns a function that reads the records of a span that may report a failure of the package */
export function faultyRows(
  connection: Connection,
  { organizationId, packageId }: { organizationId: string; packageId: string },
): (span: Span) => FaultyRow[] {
  const { hostname, id, packages, packagesApplied, packagesReported } = clientReports;
  const isFaulty = or(lt(packagesApplied, packagesReported), isNull(packagesApplied));
  const isNamed = sql`instr(${packages}, ${JSON.stringify(packageId)}) > 0`;
  const rows = connection
    .select({ id, hostname, packages })
    .from(clientReports)
    .where(
      and(eq(clientReports.organizationId, organizationId), isInSpan(NEWEST_FIRST, NAMED), isFaulty, isNamed),
    )
    .prepare();
  return (span) => rows.all({ ...boundsOf(NEWEST_FIRST, span) });
}
