// Tables of what users save in the console. Migrations define constraints and indexes.
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Named lists: a URL of the console, for its owner or for all administrators. */
export const consoleViews = sqliteTable("console_views", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  ownerId: text("owner_id").notNull(),
  name: text("name").notNull(),
  /** `/console/users` */
  path: text("path").notNull(),
  /** without `?` */
  query: text("query").notNull(),
  isShared: integer("is_shared", { mode: "boolean" }).notNull(),
});

/** A user's saved columns and rows of a list. */
export const consoleLists = sqliteTable(
  "console_lists",
  {
    ownerId: text("owner_id").notNull(),
    path: text("path").notNull(),
    query: text("query").notNull(),
  },
  ({ ownerId, path }) => [primaryKey({ columns: [ownerId, path] })],
);
