// Tables of mirrored commits and of the state of connections; migrations contain their SQL.
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const mirrors = sqliteTable("mirrors", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  artifactId: text("artifact_id").notNull(),
  connectionId: text("connection_id").notNull(),
  provider: text("provider").notNull(),
  repository: text("repository").notNull(),
  /** folder of the repository; empty for the whole repository */
  path: text("path").notNull(),
  /** the ref of the first request */
  ref: text("ref").notNull(),
  refKind: text("ref_kind").notNull(),
  commit: text("commit_id").notNull(),
  committedAtMs: integer("committed_at_ms"),
  /** digest of the archive that the host sent */
  hostSha256: text("host_sha256").notNull(),
  mirrorFormat: integer("mirror_format").notNull(),
  /** JSON of MirrorView */
  view: text("view").notNull(),
  /** kind of the actor, and the id of a user */
  mirroredBy: text("mirrored_by").notNull(),
  mirroredAtMs: integer("mirrored_at_ms").notNull(),
});

/** The outcome of the last request to each connection. */
export const connectionStates = sqliteTable(
  "connection_states",
  {
    organizationId: text("organization_id").notNull(),
    connectionId: text("connection_id").notNull(),
    /** null if it succeeded */
    reason: text("reason"),
    sinceMs: integer("since_ms").notNull(),
    askedAtMs: integer("asked_at_ms").notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.connectionId] })],
);

/** The commits that branches and tags of packages in the policy pointed to at the last lookup. */
export const sourceWatches = sqliteTable(
  "source_watches",
  {
    organizationId: text("organization_id").notNull(),
    connectionId: text("connection_id").notNull(),
    repository: text("repository").notNull(),
    ref: text("ref").notNull(),
    /** null until the host answered once */
    commit: text("commit_id"),
    /** null if the host answered */
    reason: text("reason"),
    checkedAtMs: integer("checked_at_ms").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.connectionId, table.repository, table.ref] }),
  ],
);

/** When a host last announced a change of a repository. */
export const sourceAnnouncements = sqliteTable(
  "source_announcements",
  {
    organizationId: text("organization_id").notNull(),
    connectionId: text("connection_id").notNull(),
    announcedAtMs: integer("announced_at_ms").notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.connectionId] })],
);
