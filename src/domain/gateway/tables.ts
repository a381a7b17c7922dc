// Tables of gateway keys, of what is to be revoked upstream, and of inference tokens; constraints and indices are in
// migrations.
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { signingKeyTable } from "../shared/signing-key-tables.ts";

export const gatewayKeys = sqliteTable("gateway_keys", {
  userId: text("user_id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  state: text("state", { enum: ["ready", "error", "invalid", "recovering"] }).notNull(),
  /** the address under which it was provisioned */
  email: text("email").notNull(),
  externalId: text("external_id"),
  alias: text("alias"),
  /** what the provisioner wants back with the next call, as JSON */
  metadata: text("metadata"),
  /** digest of all that a new reconciliation follows from */
  configurationDigest: text("configuration_digest"),
  /** changes with every write of the credential; part of what it is sealed under */
  credentialVersion: text("credential_version").notNull(),
  sealedCredential: text("sealed_credential"),
  sealingKeyId: text("sealing_key_id"),
  expiresAtMs: integer("expires_at_ms"),
  invalidatedAtMs: integer("invalidated_at_ms"),
  invalidationReason: text("invalidation_reason"),
  problemCode: text("problem_code"),
  problem: text("problem"),
  /** failures in a row; they make the waits longer */
  failures: integer("failures").notNull(),
  /** automatic replacements of invalid keys since `replacementsSinceMs` */
  replacements: integer("replacements").notNull(),
  replacementsSinceMs: integer("replacements_since_ms"),
  /** when the service looks at it again by itself */
  nextAttemptAtMs: integer("next_attempt_at_ms"),
  /** until then another attempt is under way */
  recoveringUntilMs: integer("recovering_until_ms"),
  /** who makes that attempt; null for one of an older program */
  recoveringBy: text("recovering_by", { enum: ["service", "command"] }),
  /** an attempt that was not heard of again may have made a key upstream that nobody knows */
  leftovers: integer("leftovers", { mode: "boolean" }).notNull(),
  reconciledAtMs: integer("reconciled_at_ms"),
  validatedAtMs: integer("validated_at_ms"),
  createdAtMs: integer("created_at_ms").notNull(),
  updatedAtMs: integer("updated_at_ms").notNull(),
});

export const gatewayRevocations = sqliteTable("gateway_revocations", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  userId: text("user_id").notNull(),
  email: text("email").notNull(),
  externalId: text("external_id"),
  reason: text("reason").notNull(),
  attempts: integer("attempts").notNull(),
  nextAttemptAtMs: integer("next_attempt_at_ms").notNull(),
  problem: text("problem"),
  createdAtMs: integer("created_at_ms").notNull(),
});

export const gatewaySessions = sqliteTable("gateway_sessions", {
  id: text("id").primaryKey(),
  grantId: text("grant_id").notNull(),
  loginSessionId: text("login_session_id").notNull(),
  userId: text("user_id").notNull(),
  createdAtMs: integer("created_at_ms").notNull(),
  revokedAtMs: integer("revoked_at_ms"),
});

export const gatewaySigningKeys = signingKeyTable("gateway_signing_keys");
