// SQL of the audit log: append, and the digest to chain to.
import { desc, sql } from "drizzle-orm";
import { statement, type Tx } from "../../platform/database.ts";
import { auditEntries } from "./tables.ts";

/** What the first entry is chained to. */
const CHAIN_START = "";

/** An entry before it has a number. */
export type NewEntry = Omit<typeof auditEntries.$inferSelect, "id">;

const named = sql.placeholder;

const newest = statement((connection) =>
  connection
    .select({ digest: auditEntries.digest })
    .from(auditEntries)
    .orderBy(desc(auditEntries.id))
    .limit(1)
    .prepare(),
);

export const lastDigest = (tx: Tx): string => newest(tx).get()?.digest ?? CHAIN_START;

const insertEntry = statement((connection) =>
  connection
    .insert(auditEntries)
    .values({
      atMs: named("atMs"),
      organizationId: named("organizationId"),
      actorKind: named("actorKind"),
      actorId: named("actorId"),
      actorLabel: named("actorLabel"),
      address: named("address"),
      requestId: named("requestId"),
      action: named("action"),
      target: named("target"),
      before: named("before"),
      after: named("after"),
      previousDigest: named("previousDigest"),
      digest: named("digest"),
    })
    .prepare(),
);

export function append(tx: Tx, entry: NewEntry): void {
  insertEntry(tx).run(entry);
}
