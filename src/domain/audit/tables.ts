// The tables of the audit log. migrations/ has the SQL that creates them.
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const auditEntries = sqliteTable("audit_entries", {
  id: integer("id").primaryKey({ autoIncrement: true }),
  atMs: integer("at_ms").notNull(),
  organizationId: text("organization_id").notNull(),
  actorKind: text("actor_kind").notNull(),
  actorId: text("actor_id"),
  actorLabel: text("actor_label").notNull(),
  address: text("address"),
  requestId: text("request_id"),
  action: text("action").notNull(),
  target: text("target").notNull(),
  before: text("before"),
  after: text("after"),
  previousDigest: text("previous_digest").notNull(),
  digest: text("digest").notNull(),
  /** public id of the credential of the actor, such as `grant:<id>`; null for actors without one, such as operators */
  credential: text("credential"),
  /** id of the entry of the newest erasure that redacted this one; not part of the digest */
  redactedBy: integer("redacted_by"),
});

/** The digest of an entry after its redaction. */
export const auditRedactions = sqliteTable(
  "audit_redactions",
  {
    entryId: integer("entry_id").notNull(),
    /** id of the entry of the erasure */
    erasureId: integer("erasure_id").notNull(),
    /** digest of the entry with its new content */
    digest: text("digest").notNull(),
  },
  (table) => [primaryKey({ columns: [table.entryId, table.erasureId] })],
);

/** At most one row, with id 1. */
export const auditCheckpoint = sqliteTable("audit_checkpoint", {
  id: integer("id").primaryKey(),
  /** id of the newest entry that retention removed */
  entryId: integer("entry_id").notNull(),
  /** digest of that entry, to which the first remaining entry is chained */
  digest: text("digest").notNull(),
  /** number of entries that retention has removed in total */
  removed: integer("removed").notNull(),
});

/** At most one row, with id 1. */
export const auditForwarding = sqliteTable("audit_forwarding", {
  id: integer("id").primaryKey(),
  /** id of the last entry that the receiver accepted */
  entryId: integer("entry_id").notNull(),
  deliveredAtMs: integer("delivered_at_ms"),
  /** null unless the last attempt failed */
  failingSinceMs: integer("failing_since_ms"),
  error: text("error"),
});
