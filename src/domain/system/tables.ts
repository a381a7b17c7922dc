// Tables of the branding, one row for each organization that has any, and of the last untrusted proxy; migrations define the
// constraints. An address that is not set is null.
import { blob, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const branding = sqliteTable("branding", {
  organizationId: text("organization_id").primaryKey(),
  logoUrl: text("logo_url"),
  faviconUrl: text("favicon_url"),
});

export const LOGO_TYPES = ["image/png", "image/svg+xml"] as const;

export const brandingLogos = sqliteTable("branding_logos", {
  organizationId: text("organization_id").primaryKey(),
  mediaType: text("media_type", { enum: LOGO_TYPES }).notNull(),
  bytes: blob("bytes", { mode: "buffer" }).notNull(),
});

export const untrustedProxy = sqliteTable("untrusted_proxy", {
  id: integer("id").primaryKey(),
  peer: text("peer"),
  header: text("header").notNull(),
  seenAtMs: integer("seen_at_ms").notNull(),
});
