// The tables of the audit log; the SQL that made them is in migrations/.
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
  /** public id of what the actor came in with: `grant:<id>`; null where that was none of ours, as at the terminal */
  credential: text("credential"),
  /** id of the newest erasure that replaced personal data in it; not part of its digest */
  redactedBy: integer("redacted_by"),
});

/** What an entry says since an erasure. */
export const auditRedactions = sqliteTable(
  "audit_redactions",
  {
    entryId: integer("entry_id").notNull(),
    /** id of the entry that vouches for it */
    erasureId: integer("erasure_id").notNull(),
    /** of the entry with its new content */
    digest: text("digest").notNull(),
  },
  (table) => [primaryKey({ columns: [table.entryId, table.erasureId] })],
);

/** One row at most, with id 1. */
export const auditCheckpoint = sqliteTable("audit_checkpoint", {
  id: integer("id").primaryKey(),
  /** of the newest entry that retention removed */
  entryId: integer("entry_id").notNull(),
  /** of that entry: what the first one that is left is chained to */
  digest: text("digest").notNull(),
  /** how many entries retention has removed in all */
  removed: integer("removed").notNull(),
});
