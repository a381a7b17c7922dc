// Tables of the branding, one row for each organization that has any, and of the last untrusted proxy; migrations define the
// constraints. An unset URL is null.
import { blob, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const branding = sqliteTable("branding", {
  organizationId: text("organization_id").primaryKey(),
  logoUrl: text("logo_url"),
  faviconUrl: text("favicon_url"),
});

export const IMAGE_TYPES = ["image/png", "image/svg+xml"] as const;

const imageTable = <Name extends string>(name: Name) =>
  sqliteTable(name, {
    organizationId: text("organization_id").primaryKey(),
    mediaType: text("media_type", { enum: IMAGE_TYPES }).notNull(),
    bytes: blob("bytes", { mode: "buffer" }).notNull(),
  });

export const brandingLogos = imageTable("branding_logos");
export const brandingIcons = imageTable("branding_icons");

export const untrustedProxy = sqliteTable("untrusted_proxy", {
  id: integer("id").primaryKey(),
  peer: text("peer"),
  header: text("header").notNull(),
  seenAtMs: integer("seen_at_ms").notNull(),
});
