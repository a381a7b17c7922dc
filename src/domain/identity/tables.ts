// Tables of organizations, users, invitations and password links; migrations define constraints and indexes. `email_key` is the
// folded address, `token_hash` the SHA-256 of the secret in the link.
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const organizations = sqliteTable("organizations", {
  id: text("id").primaryKey(),
  name: text("name").notNull(),
  createdAtMs: integer("created_at_ms").notNull(),
});

export const users = sqliteTable("users", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  subject: text("subject").notNull(),
  email: text("email").notNull(),
  emailKey: text("email_key").notNull(),
  role: text("role", { enum: ["admin", "member"] }).notNull(),
  status: text("status", { enum: ["active", "suspended", "removed"] }).notNull(),
  protected: integer("protected", { mode: "boolean" }).notNull().default(false),
  provisioningSource: text("provisioning_source", { enum: ["local", "scim"] })
    .notNull()
    .default("local"),
  passwordHash: text("password_hash"),
  createdAtMs: integer("created_at_ms").notNull(),
  updatedAtMs: integer("updated_at_ms").notNull(),
  /** number that have reported; triggers of the reports maintain it */
  workstations: integer("workstations").notNull().default(0),
  /** number of the row in `user_search`, the index of addresses and subjects; null until a job adds it, and after a change */
  searchNumber: integer("search_number"),
});

export const invitations = sqliteTable("invitations", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  email: text("email").notNull(),
  emailKey: text("email_key").notNull(),
  role: text("role", { enum: ["admin", "member"] }).notNull(),
  status: text("status", { enum: ["pending", "accepted", "canceled"] }).notNull(),
  tokenHash: text("token_hash").notNull(),
  inviterId: text("inviter_id"),
  expiresAtMs: integer("expires_at_ms").notNull(),
  createdAtMs: integer("created_at_ms").notNull(),
});

export const passwordLinks = sqliteTable("password_links", {
  userId: text("user_id").primaryKey(),
  tokenHash: text("token_hash").notNull(),
  creatorId: text("creator_id"),
  createdAtMs: integer("created_at_ms").notNull(),
  expiresAtMs: integer("expires_at_ms").notNull(),
});
