// Tables of company sign-in: identities at providers, users expected at another provider, facts about each provider, and used
// logout tokens. Login sessions are in access/tables.ts; migrations/ contains the SQL.
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const userIdentities = sqliteTable(
  "user_identities",
  {
    userId: text("user_id").notNull(),
    issuer: text("issuer").notNull(),
    subject: text("subject").notNull(),
    linkedBy: text("linked_by", {
      enum: ["external_id", "email", "invitation", "password", "sign_up", "operator"],
    }).notNull(),
    linkedAtMs: integer("linked_at_ms").notNull(),
    lastSignInAtMs: integer("last_sign_in_at_ms"),
  },
  (table) => [primaryKey({ columns: [table.userId, table.issuer] })],
);

export const expectedIdentities = sqliteTable(
  "expected_identities",
  {
    userId: text("user_id").notNull(),
    issuer: text("issuer").notNull(),
    expiresAtMs: integer("expires_at_ms").notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.issuer] })],
);

export const identityProviders = sqliteTable("identity_providers", {
  issuer: text("issuer").primaryKey(),
  /** the discovery document as received */
  metadata: text("metadata"),
  metadataAtMs: integer("metadata_at_ms"),
  lastErrorReason: text("last_error_reason"),
  lastErrorAtMs: integer("last_error_at_ms"),
  lastSuccessAtMs: integer("last_success_at_ms"),
});

export const logoutTokens = sqliteTable(
  "logout_tokens",
  {
    issuer: text("issuer").notNull(),
    tokenId: text("token_id").notNull(),
    expiresAtMs: integer("expires_at_ms").notNull(),
  },
  (table) => [primaryKey({ columns: [table.issuer, table.tokenId] })],
);
