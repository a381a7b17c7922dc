// SQL of the audit log: append, and the digest to chain to.
import { desc } from "drizzle-orm";
import { statement, type Tx } from "../../platform/database.ts";
import { auditEntries } from "./tables.ts";

/** What the first entry is chained to. */
const CHAIN_START = "";

const newest = statement((connection) =>
  connection
    .select({ digest: auditEntries.digest })
    .from(auditEntries)
    .orderBy(desc(auditEntries.id))
    .limit(1)
    .prepare(),
);

export const lastDigest = (tx: Tx): string => newest(tx).get()?.digest ?? CHAIN_START;

export function append(tx: Tx, entry: typeof auditEntries.$inferInsert): void {
  tx.insert(auditEntries).values(entry).run();
}
