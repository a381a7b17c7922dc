// Tables of provisioned users, groups and their tokens; migrations define constraints and indexes. `*_key` columns hold folded text
// (schema/values.ts), `doc` the resource as sent, `doc_key` its shown attributes, folded.
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const scimUsers = sqliteTable("scim_users", {
  /** order of creation */
  sequence: integer("sequence").primaryKey({ autoIncrement: true }),
  accountId: text("account_id").notNull(),
  organizationId: text("organization_id").notNull(),
  externalId: text("external_id"),
  userName: text("user_name").notNull(),
  userNameKey: text("user_name_key").notNull(),
  displayNameKey: text("display_name_key"),
  familyNameKey: text("family_name_key"),
  givenNameKey: text("given_name_key"),
  active: integer("active", { mode: "boolean" }).notNull(),
  /** the name that other resources show for the user; null if the user has only an address */
  display: text("display"),
  /** the user's label in the product: that name, or the address of the account */
  label: text("label").notNull(),
  createdAtMs: integer("created_at_ms").notNull(),
  doc: text("doc").notNull(),
  docKey: text("doc_key").notNull(),
});

/** Numbers of organizations, for rows that must be narrow. */
export const scimOrganizations = sqliteTable("scim_organizations", {
  number: integer("number").primaryKey(),
  organizationId: text("organization_id").notNull(),
});

/**
 * The part of a user that changes with its groups, one row per user. Without documents, 70 rows fit in a page, so a change of a
 * group with many members writes few pages.
 */
export const scimUserRevisions = sqliteTable("scim_user_revisions", {
  /** sequence of the user */
  sequence: integer("sequence").primaryKey(),
  organizationNumber: integer("organization_number").notNull(),
  version: integer("version").notNull(),
  updatedAtMs: integer("updated_at_ms").notNull(),
});

export const scimUserEmails = sqliteTable(
  "scim_user_emails",
  {
    userId: text("user_id").notNull(),
    position: integer("position").notNull(),
    organizationId: text("organization_id").notNull(),
    valueKey: text("value_key").notNull(),
    typeKey: text("type_key"),
    isPrimary: integer("is_primary", { mode: "boolean" }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.position] })],
);

export const scimGroups = sqliteTable("scim_groups", {
  /** order of creation */
  sequence: integer("sequence").primaryKey({ autoIncrement: true }),
  id: text("id").notNull(),
  organizationId: text("organization_id").notNull(),
  externalId: text("external_id"),
  displayName: text("display_name").notNull(),
  displayNameKey: text("display_name_key").notNull(),
  memberCount: integer("member_count").notNull(),
  version: integer("version").notNull(),
  createdAtMs: integer("created_at_ms").notNull(),
  updatedAtMs: integer("updated_at_ms").notNull(),
});

/** Both numbers are sequences: with ids, the two indexes had eight times the pages. */
export const scimGroupMembers = sqliteTable(
  "scim_group_members",
  { groupSequence: integer("group_sequence").notNull(), userSequence: integer("user_sequence").notNull() },
  (table) => [primaryKey({ columns: [table.groupSequence, table.userSequence] })],
);

export const scimTokens = sqliteTable("scim_tokens", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  label: text("label").notNull(),
  tokenHash: text("token_hash").notNull(),
  prefix: text("prefix").notNull(),
  profile: text("profile", { enum: ["standard", "entra"] }).notNull(),
  createdBy: text("created_by").notNull(),
  createdAtMs: integer("created_at_ms").notNull(),
  expiresAtMs: integer("expires_at_ms"),
  lastUsedAtMs: integer("last_used_at_ms"),
  revokedAtMs: integer("revoked_at_ms"),
});

export type TokenRow = typeof scimTokens.$inferSelect;

export const scimRefusals = sqliteTable("scim_refusals", {
  id: integer("id").primaryKey({ autoIncrement: true }),
  organizationId: text("organization_id").notNull(),
  atMs: integer("at_ms").notNull(),
  requestId: text("request_id").notNull(),
  actor: text("actor").notNull(),
  method: text("method").notNull(),
  route: text("route").notNull(),
  status: integer("status").notNull(),
  scimType: text("scim_type").notNull(),
  detail: text("detail").notNull(),
});

export const scimState = sqliteTable("scim_state", {
  organizationId: text("organization_id").primaryKey(),
  roleMappingDigest: text("role_mapping_digest").notNull(),
});
