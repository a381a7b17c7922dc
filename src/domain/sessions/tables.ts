// The tables of captured sessions. Constraints, indexes and the triggers that keep totals and counts are in the migrations.
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

const SHARING_MODES = ["private", "workspace", "selected"] as const;
const ARTIFACT_STATUSES = ["pending", "complete", "superseded", "failed"] as const;
const ARTIFACT_FORMATS = ["legacy-raw", "blue-session-bundle-v1"] as const;
const STORE_KINDS = ["local", "s3"] as const;

/** The announced facts about one version of a session. */
const metadata = {
  artifactFormat: text("artifact_format", { enum: ARTIFACT_FORMATS }).notNull(),
  resumable: integer("resumable", { mode: "boolean" }).notNull(),
  cwd: text("cwd"),
  title: text("title"),
  summary: text("summary"),
  repositoryRoot: text("repository_root"),
  repositoryRemote: text("repository_remote"),
  /** null if the uploader does not know */
  capturedAtMs: integer("captured_at_ms"),
};

export const capturedSessions = sqliteTable("captured_sessions", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  /** the owner */
  userId: text("user_id").notNull(),
  harness: text("harness").notNull(),
  /** canonical, or `legacy` */
  profile: text("profile").notNull(),
  nativeSessionId: text("native_session_id").notNull(),
  /** facts of the current artifact, or of the first announced one until there is a current one */
  ...metadata,
  /** native id, cwd, title and summary, folded by `searchTextOf` */
  searchText: text("search_text").notNull(),
  /** number of the text in the search index; null until a job has added it */
  searchNumber: integer("search_number"),
  /** number of superseded artifacts; triggers maintain it */
  oldVersions: integer("old_versions").notNull(),
  /** null until an artifact is complete, and after the last one is removed */
  currentArtifactId: text("current_artifact_id"),
  sharingMode: text("sharing_mode", { enum: SHARING_MODES }).notNull(),
  createdAtMs: integer("created_at_ms").notNull(),
  /** time of the last completion; sharing does not change it */
  updatedAtMs: integer("updated_at_ms").notNull(),
  /** since when an administrator holds the session, which prevents its removal */
  heldAtMs: integer("held_at_ms"),
  /** since when the current artifact is removed; a download answers 410 until the row is deleted */
  goneAtMs: integer("gone_at_ms"),
});

export const sessionArtifacts = sqliteTable("session_artifacts", {
  /** the upload id on the wire */
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  userId: text("user_id").notNull(),
  sessionId: text("session_id").notNull(),
  /** 64 lower-case hexadecimal digits, as announced */
  sha256: text("sha256").notNull(),
  sizeBytes: integer("size_bytes").notNull(),
  contentType: text("content_type").notNull(),
  ...metadata,
  status: text("status", { enum: ARTIFACT_STATUSES }).notNull(),
  store: text("store", { enum: STORE_KINDS }).notNull(),
  /** place of the object in its store: ObjectStore.placeOf */
  place: text("place").notNull(),
  createdAtMs: integer("created_at_ms").notNull(),
  /** until when the upload can be completed */
  windowEndsAtMs: integer("window_ends_at_ms").notNull(),
  /** when the local store verified the uploaded bytes; null before, and always for S3 */
  storedAtMs: integer("stored_at_ms"),
  completedAtMs: integer("completed_at_ms"),
  supersededAtMs: integer("superseded_at_ms"),
  failedAtMs: integer("failed_at_ms"),
  failureReason: text("failure_reason"),
  /** when the object was found missing or damaged */
  lostAtMs: integer("lost_at_ms"),
  /** when retention may remove the artifact */
  expiresAtMs: integer("expires_at_ms").notNull(),
});

/** Recipients of sessions in the mode `selected`. */
export const sessionGrants = sqliteTable(
  "session_grants",
  {
    sessionId: text("session_id").notNull(),
    userId: text("user_id").notNull(),
    /** copied from the session, like the harness */
    updatedAtMs: integer("updated_at_ms").notNull(),
    harness: text("harness").notNull(),
  },
  ({ sessionId, userId }) => [primaryKey({ columns: [sessionId, userId] })],
);

/** Objects without a row, which must still be deleted. */
export const sessionObjectRemovals = sqliteTable(
  "session_object_removals",
  {
    store: text("store", { enum: STORE_KINDS }).notNull(),
    place: text("place").notNull(),
    sizeBytes: integer("size_bytes").notNull(),
    markedAtMs: integer("marked_at_ms").notNull(),
  },
  ({ store, place }) => [primaryKey({ columns: [store, place] })],
);

/** Sums of a user's pending artifacts; triggers maintain them. */
export const sessionPending = sqliteTable("session_pending", {
  userId: text("user_id").primaryKey(),
  uploads: integer("uploads").notNull(),
  bytes: integer("bytes").notNull(),
});

/** Sums of artifacts; triggers maintain them. */
export const sessionTotals = sqliteTable(
  "session_totals",
  {
    store: text("store", { enum: STORE_KINDS }).notNull(),
    /** the status; `stored` for a pending artifact whose bytes are stored */
    state: text("state").notNull(),
    artifacts: integer("artifacts").notNull(),
    bytes: integer("bytes").notNull(),
  },
  ({ store, state }) => [primaryKey({ columns: [store, state] })],
);

/** Numbers of sessions with a current artifact, by the users who see them; triggers maintain them. */
export const sessionCounts = sqliteTable(
  "session_counts",
  {
    /** the owner, the organization, or a recipient */
    viewerId: text("viewer_id").notNull(),
    /** the sharing mode; `granted` for a recipient */
    mode: text("mode", { enum: [...SHARING_MODES, "granted"] }).notNull(),
    /** empty for the organization */
    ownerId: text("owner_id").notNull(),
    harness: text("harness").notNull(),
    /** day of the last completion, in days since 1970 */
    day: integer("day").notNull(),
    sessions: integer("sessions").notNull(),
  },
  ({ viewerId, mode, ownerId, harness, day }) => [
    primaryKey({ columns: [viewerId, mode, ownerId, harness, day] }),
  ],
);
