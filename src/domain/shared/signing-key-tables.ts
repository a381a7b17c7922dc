// The columns of a table of signing keys, the same for every sort of token; the SQL that made the tables is in migrations/.
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** @param name as the migration calls the table */
export const signingKeyTable = (name: string) =>
  sqliteTable(name, {
    kid: text("kid").primaryKey(),
    algorithm: text("algorithm").notNull(),
    /** JSON */
    publicJwk: text("public_jwk").notNull(),
    /** erased when the key retires, for it never signs again */
    sealedPrivateKey: text("sealed_private_key").notNull(),
    createdAtMs: integer("created_at_ms").notNull(),
    /** null while the key is active */
    retiredAtMs: integer("retired_at_ms"),
    verifiesUntilMs: integer("verifies_until_ms"),
  });

export type SigningKeyTable = ReturnType<typeof signingKeyTable>;
export type SigningKeyRow = SigningKeyTable["$inferSelect"];
