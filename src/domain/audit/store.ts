// SQL that appends to the audit log and reads the digest of its last entry. log-store.ts reads the log.
import { desc, getTableColumns, type SQL, sql } from "drizzle-orm";
import { statement, type Tx } from "../../platform/database/database.ts";
import { insertAll, updateAll } from "../../platform/database/drizzle.ts";
import { CHAIN_START, type Facts, type Link } from "./chain.ts";
import { auditEntries } from "./tables.ts";

/** Maximum number of entries per statement, which holds their JSON text in memory twice. */
const LINKS_MAX = 1_000;

const newest = statement((connection) =>
  connection
    .select({ digest: auditEntries.digest })
    .from(auditEntries)
    .orderBy(desc(auditEntries.id))
    .limit(1)
    .prepare(),
);

export const lastDigest = (tx: Tx): string => newest(tx).get()?.digest ?? CHAIN_START;

/** SQLite assigns the id. */
const NEW = { id: null, redactedBy: null };

/** For a single entry, the usual case. */
const insertEntry = statement((connection) =>
  connection.insert(auditEntries).values(insertAll(auditEntries)).prepare(),
);

const ofLink = (place: number): SQL => sql`value ->> ${sql.raw(String(place))}`;

/** For many entries: takes half the time of single statements. */
const insertEntries = statement((connection) => {
  const links = { target: ofLink(0), previousDigest: ofLink(1), digest: ofLink(2) };
  const values = Object.values({ ...updateAll(getTableColumns(auditEntries)), ...links });
  return connection
    .insert(auditEntries)
    .select(sql`SELECT ${sql.join(values, sql`, `)} FROM json_each(${sql.placeholder("links")})`)
    .prepare();
});

/** Appends one entry for each link, in their order. */
export function append(tx: Tx, facts: Facts, links: readonly Link[]): void {
  const [only] = links;
  if (only && links.length === 1) {
    insertEntry(tx).run({ ...NEW, ...facts, ...only });
    return;
  }
  for (let at = 0; at < links.length; at += LINKS_MAX) {
    const slice = links
      .slice(at, at + LINKS_MAX)
      .map((link) => [link.target, link.previousDigest, link.digest]);
    insertEntries(tx).run({ ...NEW, ...facts, links: JSON.stringify(slice) });
  }
}
