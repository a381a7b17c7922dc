// Table of the branding, one row for each organization that has any; the constraints are in migrations.
// An address that is not set is null.
import { sqliteTable, text } from "drizzle-orm/sqlite-core";

export const branding = sqliteTable("branding", {
  organizationId: text("organization_id").primaryKey(),
  logoUrl: text("logo_url"),
  faviconUrl: text("favicon_url"),
});
