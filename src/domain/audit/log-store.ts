// SQL that reads the audit log: pages with the newest entry first, and the chain in its order. Every filter has an index.
import { and, asc, between, count, desc, eq, gt, gte, inArray, lt, or, type SQL, sql } from "drizzle-orm";
import { type Connection, statement } from "../../platform/database/database.ts";
import { named } from "../../platform/database/drizzle.ts";
import type { AuditRow } from "./chain.ts";
import { CHECKPOINT_ID, type Checkpoint } from "./checkpoint.ts";
import { auditCheckpoint, auditEntries } from "./tables.ts";

export interface LogFilter {
  actorId?: string | undefined;
  /** in any case */
  actorLabel?: string | undefined;
  action?: string | undefined;
  target?: string | undefined;
  sinceMs?: number | undefined;
  beforeMs?: number | undefined;
}

/** The position of an entry in the order of lists. */
export type EntryPlace = Pick<AuditRow, "atMs" | "id">;

export interface LogSlice {
  organizationId: string;
  filter: LogFilter;
  /** the entry after which the list begins; undefined for the newest */
  after?: EntryPlace | undefined;
  offset: number;
  limit: number;
}

/** Newest first, by time, then id. */
export const listEntries = (connection: Connection, { offset, limit, ...wanted }: LogSlice): AuditRow[] =>
  connection
    .select()
    .from(auditEntries)
    .where(matching(wanted))
    .orderBy(desc(auditEntries.atMs), desc(auditEntries.id))
    .limit(limit)
    .offset(offset)
    .all();

/** @returns the entries on all pages */
export const countEntries = (connection: Connection, wanted: Wanted): number =>
  connection.select({ total: count() }).from(auditEntries).where(matching(wanted)).get()?.total ?? 0;

type Wanted = Pick<LogSlice, "organizationId" | "filter" | "after">;

const matching = ({ organizationId, filter, after }: Wanted): SQL | undefined =>
  and(
    eq(auditEntries.organizationId, organizationId),
    ...conditionsOf(filter),
    after && sql`(${auditEntries.atMs}, ${auditEntries.id}) < (${after.atMs}, ${after.id})`,
  );

/** @returns the entry with that id and its neighbors in the chain; ids are consecutive */
export function listAround(
  connection: Connection,
  { organizationId, id }: { organizationId: string; id: number },
): AuditRow[] {
  const isOwn = eq(auditEntries.organizationId, organizationId);
  return connection
    .select()
    .from(auditEntries)
    .where(and(between(auditEntries.id, id - 1, id + 1), isOwn))
    .orderBy(asc(auditEntries.id))
    .limit(3)
    .all();
}

const conditionsOf = (wanted: LogFilter): (SQL | undefined)[] => {
  const { actorId, actorLabel, action, target, sinceMs, beforeMs } = wanted;
  return [
    actorId === undefined ? undefined : eq(auditEntries.actorId, actorId),
    actorLabel === undefined ? undefined : sql`${auditEntries.actorLabel} = ${actorLabel} COLLATE NOCASE`,
    action === undefined ? undefined : eq(auditEntries.action, action),
    target === undefined ? undefined : eq(auditEntries.target, target),
    sinceMs === undefined ? undefined : gte(auditEntries.atMs, sinceMs),
    beforeMs === undefined ? undefined : lt(auditEntries.atMs, beforeMs),
  ];
};

export interface NamedTarget {
  actions: readonly string[];
  /** in any case */
  name: string;
  /** fields of `before` to compare with the name, in addition to the id of the target */
  fields: readonly string[];
}

/** @returns whether the log has an entry of one of the actions about the named target */
export function hasEntryOf(
  connection: Connection,
  organizationId: string,
  { actions, name, fields }: NamedTarget,
): boolean {
  const { before, action, target } = auditEntries;
  const isNamed = fields.map(
    (field) => sql`json_extract(${before}, ${`$.${field}`}) = ${name} COLLATE NOCASE`,
  );
  const found = connection
    .select({ id: auditEntries.id })
    .from(auditEntries)
    .where(
      and(
        eq(auditEntries.organizationId, organizationId),
        inArray(action, [...actions]),
        or(eq(target, name.toLowerCase()), ...isNamed),
      ),
    )
    .limit(1)
    .get();
  return found !== undefined;
}

const following = statement((connection) =>
  connection
    .select()
    .from(auditEntries)
    .where(gt(auditEntries.id, named("after")))
    .orderBy(asc(auditEntries.id))
    .limit(sql.placeholder("limit"))
    .prepare(),
);

/** @returns the entries after an id, of all organizations: they share one chain */
export const listFollowing = (connection: Connection, page: { after: number; limit: number }): AuditRow[] =>
  following(connection).all(page);

/** @returns the newest entry that retention removed; undefined when it has removed none */
export const findCheckpoint = (connection: Connection): Checkpoint | undefined => {
  const { entryId, digest, removed } = auditCheckpoint;
  return connection
    .select({ entryId, digest, removed })
    .from(auditCheckpoint)
    .where(eq(auditCheckpoint.id, CHECKPOINT_ID))
    .limit(1)
    .get();
};

/** @returns the id of the newest entry ever recorded, even if it was removed since; 0 for none. SQLite stores it separately. */
export const lastIdEver = (connection: Connection): number =>
  connection.all<{ seq: number }>(
    sql`SELECT seq FROM sqlite_sequence WHERE name = 'audit_entries' LIMIT 1`,
  )[0]?.seq ?? 0;

/** The last entry of the log or of a part of it. */
export type EntryEnd = Pick<AuditRow, "id" | "atMs" | "digest">;

/** @returns the newest entry; undefined for none */
export const lastEntry = (connection: Connection): EntryEnd | undefined =>
  connection
    .select({ id: auditEntries.id, atMs: auditEntries.atMs, digest: auditEntries.digest })
    .from(auditEntries)
    .orderBy(desc(auditEntries.id))
    .limit(1)
    .get();

/** @returns the time of the newest entry, UTC milliseconds; undefined for none */
export const lastTime = (connection: Connection): number | undefined =>
  connection
    .select({ atMs: auditEntries.atMs })
    .from(auditEntries)
    .orderBy(desc(auditEntries.id))
    .limit(1)
    .get()?.atMs;

export const countActionsAfter = (
  connection: Connection,
  after: number,
): { action: string; total: number; lastId: number }[] =>
  connection
    .select({
      action: auditEntries.action,
      total: count(),
      lastId: sql<number>`max(${auditEntries.id})`,
    })
    .from(auditEntries)
    // The plus keeps SQLite from reading the whole index on actions.
    .where(sql`${auditEntries.id} > ${after}`)
    .groupBy(sql`+${auditEntries.action}`)
    .all();
