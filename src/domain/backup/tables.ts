// The table of recorded backups; migrations contain its SQL.
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const backups = sqliteTable("backups", {
  id: text("id").primaryKey(),
  kind: text("kind", { enum: ["manual", "scheduled"] }).notNull(),
  path: text("path").notNull(),
  createdAtMs: integer("created_at_ms").notNull(),
  durationMs: integer("duration_ms").notNull(),
  sizeBytes: integer("size_bytes").notNull(),
  databaseSha256: text("database_sha256").notNull(),
});
