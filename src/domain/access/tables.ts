// The tables of logins, keys and budgets; migrations/ contains their SQL.
import { integer, primaryKey, sqliteTable, sqliteView, text } from "drizzle-orm/sqlite-core";
import { signingKeyTable } from "../shared/signing-keys/signing-key-tables.ts";

export const loginSessions = sqliteTable("login_sessions", {
  id: text("id").primaryKey(),
  userId: text("user_id").notNull(),
  tokenHash: text("token_hash").notNull(),
  address: text("address"),
  userAgent: text("user_agent"),
  createdAtMs: integer("created_at_ms").notNull(),
  renewedAtMs: integer("renewed_at_ms").notNull(),
  expiresAtMs: integer("expires_at_ms").notNull(),
  endedAtMs: integer("ended_at_ms"),
  method: text("method", { enum: ["password", "oidc"] })
    .notNull()
    .default("password"),
  issuer: text("issuer"),
  providerSessionId: text("provider_session_id"),
  authTimeMs: integer("auth_time_ms"),
  acr: text("acr"),
  confirmedAtMs: integer("confirmed_at_ms"),
});

export const deviceLogins = sqliteTable("device_logins", {
  id: text("id").primaryKey(),
  deviceCodeHash: text("device_code_hash").notNull(),
  userCodeHash: text("user_code_hash").notNull(),
  linkHash: text("link_hash").notNull(),
  clientId: text("client_id").notNull(),
  scope: text("scope").notNull(),
  resource: text("resource"),
  address: text("address"),
  state: text("state", { enum: ["pending", "approved", "refused", "redeemed"] }).notNull(),
  userId: text("user_id"),
  loginSessionId: text("login_session_id"),
  createdAtMs: integer("created_at_ms").notNull(),
  expiresAtMs: integer("expires_at_ms").notNull(),
  decidedAtMs: integer("decided_at_ms"),
  countedAddress: text("counted_address"),
  countedNetwork: text("counted_network"),
});

export const grants = sqliteTable("grants", {
  id: text("id").primaryKey(),
  userId: text("user_id").notNull(),
  loginSessionId: text("login_session_id").notNull(),
  familyHash: text("family_hash"),
  clientId: text("client_id").notNull(),
  scope: text("scope").notNull(),
  resource: text("resource").notNull(),
  address: text("address"),
  createdAtMs: integer("created_at_ms").notNull(),
  refreshedAtMs: integer("refreshed_at_ms").notNull(),
  rotations: integer("rotations").notNull().default(0),
  expiresAtMs: integer("expires_at_ms").notNull(),
  revokedAtMs: integer("revoked_at_ms"),
  revokedReason: text("revoked_reason"),
});

/** A view: each grant with its user. */
export const grantHolders = sqliteView("grant_holders", {
  grantId: text("grant_id").notNull(),
  loginSessionId: text("login_session_id").notNull(),
  revokedAtMs: integer("revoked_at_ms"),
  userId: text("user_id").notNull(),
  organizationId: text("organization_id").notNull(),
  subject: text("subject").notNull(),
  role: text("role", { enum: ["admin", "member"] }).notNull(),
  status: text("status", { enum: ["active", "suspended", "removed"] }).notNull(),
}).existing();

export const refreshTokens = sqliteTable(
  "refresh_tokens",
  {
    grantId: text("grant_id").notNull(),
    tokenHash: text("token_hash").notNull(),
    createdAtMs: integer("created_at_ms").notNull(),
    expiresAtMs: integer("expires_at_ms").notNull(),
    rotatedAtMs: integer("rotated_at_ms"),
  },
  (table) => [primaryKey({ columns: [table.grantId, table.tokenHash] })],
);

export const signingKeys = signingKeyTable("signing_keys");

export const budgets = sqliteTable(
  "budgets",
  {
    name: text("name").notNull(),
    subject: text("subject").notNull(),
    used: integer("used").notNull(),
    resetsAtMs: integer("resets_at_ms").notNull(),
  },
  (table) => [primaryKey({ columns: [table.name, table.subject] })],
);

export const authenticatorApps = sqliteTable("authenticator_apps", {
  userId: text("user_id").primaryKey(),
  sealedSecret: text("sealed_secret").notNull(),
  lastStep: integer("last_step").notNull(),
  createdAtMs: integer("created_at_ms").notNull(),
  usedAtMs: integer("used_at_ms"),
});

export const passkeys = sqliteTable("passkeys", {
  id: text("id").primaryKey(),
  userId: text("user_id").notNull(),
  credentialId: text("credential_id").notNull(),
  publicKey: text("public_key").notNull(),
  counter: integer("counter").notNull(),
  transports: text("transports").notNull(),
  name: text("name").notNull(),
  createdAtMs: integer("created_at_ms").notNull(),
  usedAtMs: integer("used_at_ms"),
});

export const recoveryCodes = sqliteTable(
  "recovery_codes",
  { userId: text("user_id").notNull(), codeHash: text("code_hash").notNull() },
  (table) => [primaryKey({ columns: [table.userId, table.codeHash] })],
);

export const signInAttempts = sqliteTable("sign_in_attempts", {
  id: text("id").primaryKey(),
  userId: text("user_id").notNull(),
  tokenHash: text("token_hash").notNull(),
  userUpdatedAtMs: integer("user_updated_at_ms").notNull(),
  createdAtMs: integer("created_at_ms").notNull(),
  expiresAtMs: integer("expires_at_ms").notNull(),
});

export const spentChallenges = sqliteTable("spent_challenges", {
  challengeHash: text("challenge_hash").primaryKey(),
  expiresAtMs: integer("expires_at_ms").notNull(),
});
