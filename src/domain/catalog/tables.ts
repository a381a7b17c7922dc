// Tables of the catalog and its artifacts; migrations contain their SQL.
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const catalogPackages = sqliteTable(
  "catalog_packages",
  {
    organizationId: text("organization_id").notNull(),
    id: text("id").notNull(),
    position: integer("position").notNull(),
    version: text("version").notNull(),
    sha256: text("sha256").notNull(),
    entry: text("entry").notNull(),
    updatedAtMs: integer("updated_at_ms").notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.id] })],
);

export const artifacts = sqliteTable("artifacts", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  sha256: text("sha256").notNull(),
  sizeBytes: integer("size_bytes").notNull(),
  entries: integer("entries").notNull(),
  expandedBytes: integer("expanded_bytes").notNull(),
  createdAtMs: integer("created_at_ms").notNull(),
  /** time since which nothing names it; null while something does */
  unnamedSinceMs: integer("unnamed_since_ms"),
});
