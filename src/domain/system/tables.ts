import { sqliteTable, text } from "drizzle-orm/sqlite-core";

export const branding = sqliteTable("branding", {
  organizationId: text("organization_id").primaryKey(),
  logoUrl: text("logo_url"),
  faviconUrl: text("favicon_url"),
});
