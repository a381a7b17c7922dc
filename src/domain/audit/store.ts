// SQL that appends to the audit log, and the digest to chain to. Reading is in log-store.ts.
import { desc, type SQL, sql } from "drizzle-orm";
import { statement, type Tx } from "../../platform/database/database.ts";
import { CHAIN_START, type Facts, type Link } from "./chain.ts";
import { auditEntries } from "./tables.ts";

/** entries of one statement: their text is held twice while it runs */
const LINKS_MAX = 1_000;

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

const fact = (name: keyof Facts): SQL<string> => sql`${named(name)}`;
const ofLink = (place: number): SQL<string> => sql`value ->> ${sql.raw(String(place))}`;

const insertEntries = statement((connection) =>
  connection
    .insert(auditEntries)
    .select(
      connection
        .select({
          id: sql`NULL`.as("id"),
          atMs: fact("atMs").as("at_ms"),
          organizationId: fact("organizationId").as("organization_id"),
          actorKind: fact("actorKind").as("actor_kind"),
          actorId: fact("actorId").as("actor_id"),
          actorLabel: fact("actorLabel").as("actor_label"),
          address: fact("address").as("address"),
          requestId: fact("requestId").as("request_id"),
          action: fact("action").as("action"),
          target: ofLink(0).as("target"),
          before: fact("before").as("before"),
          after: fact("after").as("after"),
          previousDigest: ofLink(1).as("previous_digest"),
          digest: ofLink(2).as("digest"),
          credential: fact("credential").as("credential"),
          redactedBy: sql`NULL`.as("redacted_by"),
        })
        .from(sql`json_each(${named("links")})`),
    )
    .prepare(),
);

/** Most changes are told in one entry, for which a list would have to be written and read. */
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
      credential: named("credential"),
    })
    .prepare(),
);

/** Appends one entry for each link, in their order. */
export function append(tx: Tx, facts: Facts, links: readonly Link[]): void {
  const [only] = links;
  if (only && links.length === 1) {
    insertEntry(tx).run({ ...facts, ...only });
    return;
  }
  for (let at = 0; at < links.length; at += LINKS_MAX) {
    const slice = links
      .slice(at, at + LINKS_MAX)
      .map((link) => [link.target, link.previousDigest, link.digest]);
    insertEntries(tx).run({ ...facts, links: JSON.stringify(slice) });
  }
}
