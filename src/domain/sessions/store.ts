// SQL that reads single sessions and artifacts, for every part of the area. uploads/, downloads/ and removal have their own
// statements.
import { eq, getTableColumns } from "drizzle-orm";
import { type Connection, statement } from "../../platform/database/database.ts";
import { equalAll } from "../../platform/database/drizzle.ts";
import { timedRows } from "../../platform/database/maintenance/timed-rows.ts";
import type { ArtifactRow, SessionRow, StoreKind } from "./model.ts";
import { capturedSessions, sessionArtifacts, sessionGrants, sessionTotals } from "./tables.ts";

/** The id of a row and of the organization that it must belong to. */
export interface RowId {
  organizationId: string;
  id: string;
}

export const timedSessions = timedRows(capturedSessions, capturedSessions.updatedAtMs);

const selectSession = statement((connection) =>
  connection
    .select()
    .from(capturedSessions)
    .where(equalAll(capturedSessions, "id", "organizationId"))
    .limit(1)
    .prepare(),
);

/** @returns the session in any state */
export const findSession = (connection: Connection, { organizationId, id }: RowId): SessionRow | undefined =>
  selectSession(connection).get({ organizationId, id: id.toLowerCase() });

const selectArtifact = statement((connection) =>
  connection
    .select()
    .from(sessionArtifacts)
    .where(equalAll(sessionArtifacts, "id", "organizationId"))
    .limit(1)
    .prepare(),
);

/** @returns the artifact in any state */
export const findArtifact = (
  connection: Connection,
  { organizationId, id }: RowId,
): ArtifactRow | undefined => selectArtifact(connection).get({ organizationId, id: id.toLowerCase() });

const selectLinked = statement((connection) =>
  connection
    .select({
      ...getTableColumns(sessionArtifacts),
      harness: capturedSessions.harness,
    })
    .from(sessionArtifacts)
    .innerJoin(capturedSessions, eq(capturedSessions.id, sessionArtifacts.sessionId))
    .where(equalAll(sessionArtifacts, "id"))
    .limit(1)
    .prepare(),
);

/** @returns the artifact of a signed URL, of any organization, with the harness of its session */
export const findLinked = (connection: Connection, id: string) => selectLinked(connection).get({ id });

const selectGrant = statement((connection) =>
  connection
    .select({ userId: sessionGrants.userId })
    .from(sessionGrants)
    .where(equalAll(sessionGrants, "sessionId", "userId"))
    .limit(1)
    .prepare(),
);

/** @returns whether the session is shared with that user by name */
export const hasGrant = (connection: Connection, grant: { sessionId: string; userId: string }): boolean =>
  selectGrant(connection).get(grant) !== undefined;

/** Number and bytes of the artifacts of one store in one state. */
export interface StoreTotals {
  store: StoreKind;
  /** the status; `stored` for a pending artifact whose bytes are in the local store */
  state: string;
  artifacts: number;
  bytes: number;
}

const TOTALS_MAX = 100;

const selectTotals = statement((connection) =>
  connection.select().from(sessionTotals).limit(TOTALS_MAX).prepare(),
);

export const totals = (connection: Connection): StoreTotals[] => selectTotals(connection).all();

/** Totals of the captured sessions of an installation. */
export interface Kept {
  /** number of versions with uploaded bytes, including those not completed yet */
  versions: number;
  bytes: number;
  /** number of announced uploads without known bytes; for S3 we learn of bytes only at completion */
  announced: { uploads: number; bytes: number };
}

/** @returns the sums of all stores; failed uploads have no bytes */
export function keptIn(sums: readonly StoreTotals[]): Kept {
  const kept: Kept = { versions: 0, bytes: 0, announced: { uploads: 0, bytes: 0 } };
  for (const { state, artifacts, bytes } of sums) {
    if (state === "failed") continue;
    if (state === "pending") {
      kept.announced.uploads += artifacts;
      kept.announced.bytes += bytes;
    } else {
      kept.versions += artifacts;
      kept.bytes += bytes;
    }
  }
  return kept;
}
