// Tables of the branding, one row for each organization that has any, and of the last untrusted proxy; migrations define the
// constraints. An address that is not set is null.
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const branding = sqliteTable("branding", {
  organizationId: text("organization_id").primaryKey(),
  logoUrl: text("logo_url"),
  faviconUrl: text("favicon_url"),
});

export const untrustedProxy = sqliteTable("untrusted_proxy", {
  id: integer("id").primaryKey(),
  peer: text("peer"),
  header: text("header").notNull(),
  seenAtMs: integer("seen_at_ms").notNull(),
});
