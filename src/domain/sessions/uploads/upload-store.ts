// SQL of uploads: announced sessions and artifacts, their limits, and each change of an artifact's state. Each change has the old
// state in its condition, so only one of two concurrent changes succeeds.
import { and, eq, getTableColumns, inArray, isNull, ne, sql } from "drizzle-orm";
import { type Connection, statement, type Tx } from "../../../platform/database/database.ts";
import { changesOf, equalAll, insertAll, named, updateAll } from "../../../platform/database/drizzle.ts";
import { type ArtifactRow, metadataOf, type SessionRow } from "../model.ts";
import type { RowId } from "../store.ts";
import { capturedSessions, sessionArtifacts, sessionGrants, sessionPending } from "../tables.ts";

const selectNative = statement((connection) =>
  connection
    .select()
    .from(capturedSessions)
    .where(equalAll(capturedSessions, "userId", "harness", "profile", "nativeSessionId"))
    .limit(1)
    .prepare(),
);

/** @returns the announced session */
export const findNative = (
  connection: Connection,
  key: Pick<SessionRow, "userId" | "harness" | "profile" | "nativeSessionId">,
): SessionRow | undefined => selectNative(connection).get({ ...key });

const insertSession = statement((connection) =>
  connection.insert(capturedSessions).values(insertAll(capturedSessions)).prepare(),
);

export const addSession = (tx: Tx, row: SessionRow): void => void insertSession(tx).run(row);

const selectArtifacts = statement((connection) =>
  connection
    .select()
    .from(sessionArtifacts)
    .where(and(equalAll(sessionArtifacts, "sessionId", "sha256"), ne(sessionArtifacts.status, "superseded")))
    .limit(SAME_BYTES_MAX)
    .prepare(),
);

/** Limit of rows with the same bytes in one session: one pending or failed, and one complete. */
const SAME_BYTES_MAX = 4;

/** @returns the artifacts of a session with these bytes, without superseded ones */
export const artifactsWith = (
  connection: Connection,
  wanted: Pick<ArtifactRow, "sessionId" | "sha256">,
): ArtifactRow[] => selectArtifacts(connection).all({ ...wanted });

const insertArtifact = statement((connection) =>
  connection.insert(sessionArtifacts).values(insertAll(sessionArtifacts)).prepare(),
);

export const addArtifact = (tx: Tx, row: ArtifactRow): void => void insertArtifact(tx).run(row);

const { sizeBytes, contentType, windowEndsAtMs, expiresAtMs } = sessionArtifacts;
const announced = { sizeBytes, contentType, ...metadataOf(sessionArtifacts), windowEndsAtMs, expiresAtMs };

const updateAnnounced = statement((connection) =>
  connection
    .update(sessionArtifacts)
    .set({
      ...updateAll(announced),
      status: "pending",
      storedAtMs: named("storedAtMs"),
      failedAtMs: null,
      failureReason: null,
    })
    .where(equalAll(sessionArtifacts, "id"))
    .prepare(),
);

/** Announces a pending or failed artifact again. */
export const announceAgain = (tx: Tx, row: ArtifactRow): void => void updateAnnounced(tx).run(row);

const selectPending = statement((connection) =>
  connection
    .select({ uploads: sessionPending.uploads, bytes: sessionPending.bytes })
    .from(sessionPending)
    .where(equalAll(sessionPending, "userId"))
    .limit(1)
    .prepare(),
);

/** @returns number and bytes of the user's pending uploads */
export const pendingOf = (connection: Connection, userId: string): { uploads: number; bytes: number } =>
  selectPending(connection).get({ userId }) ?? { uploads: 0, bytes: 0 };

const updateStored = statement((connection) =>
  connection
    .update(sessionArtifacts)
    .set({ status: "pending", storedAtMs: named("nowMs"), failedAtMs: null, failureReason: null })
    .where(and(equalAll(sessionArtifacts, "id"), inArray(sessionArtifacts.status, ["pending", "failed"])))
    .prepare(),
);

/** Records that the bytes are in the local store. @returns whether the artifact is pending */
export const markStored = (tx: Tx, stored: { id: string; nowMs: number }): boolean =>
  changesOf(updateStored(tx).run(stored)) > 0;

/**
 * Marks an artifact whose bytes are wrong. Bytes that were verified before stay verified.
 * @returns whether the artifact has failed
 */
export const markFailed = (
  tx: Tx,
  { id, nowMs, keptMs, reason }: { id: string; nowMs: number; keptMs: number; reason: string },
): boolean =>
  changesOf(
    tx
      .update(sessionArtifacts)
      .set({ status: "failed", failedAtMs: nowMs, failureReason: reason, expiresAtMs: nowMs + keptMs })
      .where(
        and(
          eq(sessionArtifacts.id, id),
          eq(sessionArtifacts.status, "pending"),
          isNull(sessionArtifacts.storedAtMs),
        ),
      )
      .run(),
  ) > 0;

/** Records that the verified bytes are no longer in the store. */
export const clearVerification = (tx: Tx, id: string): void =>
  void tx.update(sessionArtifacts).set({ storedAtMs: null }).where(eq(sessionArtifacts.id, id)).run();

const selectUpload = statement((connection) =>
  connection
    .select({
      ...getTableColumns(sessionArtifacts),
      nativeSessionId: capturedSessions.nativeSessionId,
      sharingMode: capturedSessions.sharingMode,
      currentArtifactId: capturedSessions.currentArtifactId,
    })
    .from(sessionArtifacts)
    .innerJoin(capturedSessions, eq(capturedSessions.id, sessionArtifacts.sessionId))
    .where(equalAll(sessionArtifacts, "id", "organizationId"))
    .limit(1)
    .prepare(),
);

/** @returns the artifact in any state, with what its completion needs of its session */
export const findUpload = (connection: Connection, { organizationId, id }: RowId) =>
  selectUpload(connection).get({ organizationId, id: id.toLowerCase() });

export type FoundUpload = NonNullable<ReturnType<typeof findUpload>>;

const updateComplete = statement((connection) =>
  connection
    .update(sessionArtifacts)
    .set({
      status: "complete",
      completedAtMs: named("nowMs"),
      expiresAtMs: named("expiresAtMs"),
    })
    .where(and(equalAll(sessionArtifacts, "id"), eq(sessionArtifacts.status, "pending")))
    .prepare(),
);

/** Completes a pending artifact. */
export const markComplete = (tx: Tx, completed: { id: string; nowMs: number; expiresAtMs: number }): void =>
  void updateComplete(tx).run(completed);

const updateSuperseded = statement((connection) =>
  connection
    .update(sessionArtifacts)
    .set({
      status: "superseded",
      supersededAtMs: named("nowMs"),
      expiresAtMs: sql`min(${sessionArtifacts.expiresAtMs}, ${named("expiresAtMs")})`,
    })
    .where(
      and(
        equalAll(sessionArtifacts, "sessionId"),
        eq(sessionArtifacts.status, "complete"),
        ne(sessionArtifacts.id, named("id")),
      ),
    )
    .prepare(),
);

/** Marks every other complete artifact of the session as superseded, to be kept until `expiresAtMs` at the latest. */
export const supersedeOthers = (
  tx: Tx,
  { id, sessionId }: Pick<ArtifactRow, "id" | "sessionId">,
  times: { nowMs: number; expiresAtMs: number },
): void => void updateSuperseded(tx).run({ id, sessionId, ...times });

const promoted = {
  ...metadataOf(capturedSessions),
  searchText: capturedSessions.searchText,
  currentArtifactId: capturedSessions.currentArtifactId,
  updatedAtMs: capturedSessions.updatedAtMs,
};

/** A changed text must be indexed again. */
const keptNumber = sql`CASE WHEN ${capturedSessions.searchText} = ${named("searchText")} THEN ${capturedSessions.searchNumber} END`;

const updateCurrent = statement((connection) =>
  connection
    .update(capturedSessions)
    .set({ ...updateAll(promoted), searchNumber: keptNumber, goneAtMs: null })
    .where(equalAll(capturedSessions, "id"))
    .prepare(),
);

const updateGrants = statement((connection) =>
  connection
    .update(sessionGrants)
    .set(updateAll({ updatedAtMs: sessionGrants.updatedAtMs }))
    .where(eq(sessionGrants.sessionId, named("id")))
    .prepare(),
);

/** Copies the metadata of the new current artifact to the session, which readers see. */
export function promote(
  tx: Tx,
  session: Pick<SessionRow, "id" | "sharingMode" | keyof typeof promoted>,
): void {
  updateCurrent(tx).run(session);
  if (session.sharingMode === "selected")
    updateGrants(tx).run({ id: session.id, updatedAtMs: session.updatedAtMs });
}
