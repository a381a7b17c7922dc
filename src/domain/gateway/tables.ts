// Tables of gateway keys, queued revocations and inference tokens. Constraints and indexes are in the migrations.
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { signingKeyTable } from "../shared/signing-keys/signing-key-tables.ts";

export const gatewayKeys = sqliteTable("gateway_keys", {
  userId: text("user_id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  state: text("state", { enum: ["ready", "error", "invalid", "recovering"] }).notNull(),
  /** email address under which the key was provisioned */
  email: text("email").notNull(),
  externalId: text("external_id"),
  alias: text("alias"),
  /** JSON that the provisioner receives again with the next call */
  metadata: text("metadata"),
  /** see configuration-digest.ts */
  configurationDigest: text("configuration_digest"),
  /** changes with every write of the credential; part of its sealing context */
  credentialVersion: text("credential_version").notNull(),
  sealedCredential: text("sealed_credential"),
  sealingKeyId: text("sealing_key_id"),
  expiresAtMs: integer("expires_at_ms"),
  invalidatedAtMs: integer("invalidated_at_ms"),
  invalidationReason: text("invalidation_reason"),
  problemCode: text("problem_code"),
  problem: text("problem"),
  /** consecutive failures; they lengthen the retry delay */
  failures: integer("failures").notNull(),
  /** automatic replacements of invalid keys since `replacementsSinceMs` */
  replacements: integer("replacements").notNull(),
  replacementsSinceMs: integer("replacements_since_ms"),
  /** when the service reconciles the key again on its own */
  nextAttemptAtMs: integer("next_attempt_at_ms"),
  /** end of the running attempt's lease */
  recoveringUntilMs: integer("recovering_until_ms"),
  /** owner of that attempt; null if an older version wrote it */
  recoveringBy: text("recovering_by", { enum: ["service", "command"] }),
  /** an attempt that never settled may have created an unknown key upstream */
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
