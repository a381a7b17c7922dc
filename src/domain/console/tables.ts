// Tables of what people keep about the console. Constraints and indexes are in the migrations.
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Lists under a name: an address of the console, for its owner or for all administrators. */
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

/** How a person usually wants a list: columns and rows. */
export const consoleLists = sqliteTable(
  "console_lists",
  {
    ownerId: text("owner_id").notNull(),
    path: text("path").notNull(),
    query: text("query").notNull(),
  },
  ({ ownerId, path }) => [primaryKey({ columns: [ownerId, path] })],
);
