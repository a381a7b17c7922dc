// The columns of a table of signing keys, the same for every kind of token. migrations/ has the SQL that creates the tables.
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** @param name of the table in the migrations */
export const signingKeyTable = (name: string) =>
  sqliteTable(name, {
    kid: text("kid").primaryKey(),
    algorithm: text("algorithm").notNull(),
    /** JSON */
    publicJwk: text("public_jwk").notNull(),
    /** empty after the key is retired, because it never signs again */
    sealedPrivateKey: text("sealed_private_key").notNull(),
    createdAtMs: integer("created_at_ms").notNull(),
    /** null while the key is active */
    retiredAtMs: integer("retired_at_ms"),
    verifiesUntilMs: integer("verifies_until_ms"),
  });

export type SigningKeyTable = ReturnType<typeof signingKeyTable>;
export type SigningKeyRow = SigningKeyTable["$inferSelect"];
