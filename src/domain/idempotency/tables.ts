// The table of stored responses; migrations define its constraints and indexes.
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const idempotentResponses = sqliteTable("idempotent_answers", {
  id: text("id").primaryKey(),
  callerId: text("caller_id").notNull(),
  requestDigest: text("request_digest").notNull(),
  sealedResponse: text("sealed_answer").notNull(),
  expiresAtMs: integer("expires_at_ms").notNull(),
});
