// SQL of the lists of sessions: their selection, order and columns.
import {
  and,
  asc,
  count,
  desc,
  eq,
  getTableColumns,
  gte,
  inArray,
  isNotNull,
  lt,
  type SQL,
  sql,
} from "drizzle-orm";
import { unionAll } from "drizzle-orm/sqlite-core";
import { DAY_MS } from "../../../platform/clock.ts";
import { type Connection, statement } from "../../../platform/database/database.ts";
import { equalAll } from "../../../platform/database/drizzle.ts";
import {
  boundsOf,
  isAmong,
  isInSpan,
  NAMED,
  orderedRows,
  orderOf,
  type RowOrder,
} from "../../shared/ordered-rows-store.ts";
import type { OrderedRows, Span } from "../../shared/page-steps.ts";
import { capturedSessions, sessionArtifacts, sessionGrants } from "../tables.ts";
import type { DaySpan } from "./count-store.ts";
import type { OwnerScope, Scope, SessionFilter } from "./list-query.ts";
import { searched } from "./search-store.ts";

const { id, organizationId, userId, harness, updatedAtMs, sharingMode, searchText, resumable, oldVersions } =
  capturedSessions;

/** The position of a session in a list: `first` and `second`. */
export interface SessionPlace {
  /** the last completion, in milliseconds */
  first: number;
  /** the id */
  second: string;
}

const PLACE = { first: updatedAtMs, second: id };
/** The same values, from the table whose index has them in order; otherwise SQLite sorts all granted sessions. */
const GRANTED_PLACE = { first: sessionGrants.updatedAtMs, second: sessionGrants.sessionId };
const isCurrent = isNotNull(capturedSessions.currentArtifactId);
// Constants are literals, because SQLite does not use a partial index for a placeholder.
const isWorkspace = sql`${sharingMode} = 'workspace'`;
const isSelected = sql`${sharingMode} = 'selected'`;

/** @returns sessions by the time of their last completion; those with an unfinished or failed upload are in unfinished-store.ts */
export function sessionsLike(
  connection: Connection,
  scope: Scope,
  filter: SessionFilter,
): OrderedRows<SessionPlace> {
  const order: RowOrder = {
    table: capturedSessions,
    columns: [updatedAtMs, id],
    isDescending: filter.sort === "updated_desc",
    from: filter.updated.fromMs,
    before: filter.updated.beforeMs,
  };
  const read = (where: SQL | undefined, { limit, offset }: { limit: number; offset: number }) =>
    connection
      .select(PLACE)
      .from(capturedSessions)
      .where(where)
      .orderBy(...orderOf(order))
      .limit(limit)
      .offset(offset)
      .all();
  const found = searched(connection, scope, filter);
  if (found) return orderedRows(connection, { order, within: isAmong(id, found), matching: undefined, read });
  const selected = selectionOf(filter);
  if (scope.kind === "visible") return visibleRows(connection, { scope, order, ...selected });
  const { ownWithin, within, matching } = selected;
  return orderedRows(connection, {
    order,
    within: and(withinOf(scope, filter.status), scope.kind === "owner" ? ownWithin : within) ?? sql`TRUE`,
    matching,
    read,
  });
}

/** @returns how many of the owner's sessions that nobody else sees have the text */
export const countPrivate = (
  connection: Connection,
  scope: OwnerScope,
  { q, days: { first, last } }: { q: string; days: DaySpan },
): number =>
  connection
    .select({ total: count() })
    .from(capturedSessions)
    .where(
      and(
        withinOf(scope, undefined),
        gte(updatedAtMs, first * DAY_MS),
        lt(updatedAtMs, (last + 1) * DAY_MS),
        sql`${sharingMode} = 'private'`,
        sql`instr(${searchText}, ${q}) > 0`,
      ),
    )
    .get()?.total ?? 0;

interface Selection {
  /** conditions on the sessions of one user, whose index has these columns after the order */
  ownWithin?: SQL | undefined;
  /** conditions on sessions of the organization, and on sessions shared with everyone */
  within?: SQL | undefined;
  /** conditions on sessions shared by name */
  grantedWithin?: SQL | undefined;
  /** checked row by row */
  matching: SQL | undefined;
}

/** Indexes of listed sessions include the harness, or whether the session is portable. */
function selectionOf(filter: SessionFilter): Selection {
  const { harness: wanted, isResumable, status } = filter;
  if (wanted !== undefined && status === undefined)
    return {
      ownWithin: sql`+${harness} = ${wanted}`,
      within: byIndex(eq(harness, wanted)),
      grantedWithin: eq(sessionGrants.harness, wanted),
      matching: matchingOf({ ...filter, harness: undefined }),
    };
  if (!isResumable) return { matching: matchingOf(filter) };
  const isPortable = sql`+${resumable} = 1`;
  return {
    ownWithin: isPortable,
    within: byIndex(sql`${resumable} = 1`),
    grantedWithin: isPortable,
    matching: matchingOf({ ...filter, isResumable: false }),
  };
}

/** Without the hint, SQLite uses an index without the column and reads every session. */
const byIndex = (condition: SQL): SQL => sql`unlikely(${condition})`;

/** The plus prevents SQLite from using this column's index, because it would then read every session. */
function withinOf(
  scope: Exclude<Scope, { kind: "visible" }>,
  status: SessionFilter["status"],
): SQL | undefined {
  const isListed = status === undefined ? isCurrent : hasOldVersion;
  if (scope.kind === "organization") return and(eq(organizationId, scope.organizationId), isListed);
  return and(eq(userId, scope.userId), sql`+${organizationId} = ${scope.organizationId}`, isListed);
}

const hasOldVersion = sql`${oldVersions} > 0`;

/** @returns a condition on columns that no index has */
export const matchingOf = ({ q, harness: wanted, isResumable }: SessionFilter): SQL | undefined =>
  and(
    q === undefined ? undefined : sql`instr(${searchText}, ${q}) > 0`,
    wanted === undefined ? undefined : sql`+${harness} = ${wanted}`, // without its index, which has another order
    isResumable ? eq(resumable, true) : undefined,
  );

interface VisibleList extends Selection {
  scope: Extract<Scope, { kind: "visible" }>;
  order: RowOrder;
}

/**
 * Three disjoint parts, each with an index, which SQLite merges in order: the user's sessions that are not shared with everyone,
 * sessions shared with everyone, and sessions that other owners share with the user by name.
 */
function visibleRows(
  connection: Connection,
  { scope, order, ownWithin, within, grantedWithin, matching }: VisibleList,
): OrderedRows<SessionPlace> {
  type Bounds = Parameters<typeof isInSpan>[1];
  const granted: RowOrder = { ...order, columns: [sessionGrants.updatedAtMs, sessionGrants.sessionId] };
  const conditions = (bounds: Bounds, matches: SQL | undefined) => {
    const isListed = and(isCurrent, isInSpan(order, bounds), matches);
    return {
      own: and(eq(userId, scope.userId), sql`NOT ${isWorkspace}`, ownWithin, isListed),
      workspace: and(eq(organizationId, scope.organizationId), isWorkspace, within, isListed),
      granted: and(
        eq(sessionGrants.userId, scope.userId),
        ...[isCurrent, isSelected, isInSpan(granted, bounds), grantedWithin, matches],
      ),
    };
  };
  const isGranted = eq(id, sessionGrants.sessionId);
  const merged = (bounds: Bounds, matches: SQL | undefined) => {
    const { own, workspace, granted: shared } = conditions(bounds, matches);
    return unionAll(
      connection.select(PLACE).from(capturedSessions).where(own),
      connection.select(PLACE).from(capturedSessions).where(workspace),
      connection
        .select(GRANTED_PLACE)
        .from(sessionGrants)
        .innerJoin(capturedSessions, isGranted)
        .where(shared),
    ).orderBy(...orderOf(order));
  };
  const { own, workspace, granted: shared } = conditions(NAMED, matching);
  const counts = [
    connection.select({ total: count() }).from(capturedSessions).where(own).prepare(),
    connection.select({ total: count() }).from(capturedSessions).where(workspace).prepare(),
    connection
      .select({ total: count() })
      .from(sessionGrants)
      .innerJoin(capturedSessions, isGranted)
      .where(shared)
      .prepare(),
  ];
  const totalIn = (span: Span): number =>
    counts.reduce((sum, counted) => sum + (counted.get({ ...boundsOf(order, span) })?.total ?? 0), 0);
  return {
    isComplete: matching === undefined,
    placeAhead: (after, rows) =>
      merged(boundsOf(order, { after }), undefined)
        .limit(1)
        .offset(rows - 1)
        .get(),
    count: totalIn,
    read: (span: Span, { offset, limit }) =>
      merged(boundsOf(order, span), matching).limit(limit).offset(offset).all(),
  };
}

const {
  searchText: _searchText,
  searchNumber: _searchNumber,
  oldVersions: _oldVersions,
  ...shown
} = getTableColumns(capturedSessions);
const current = {
  status: sessionArtifacts.status,
  sizeBytes: sessionArtifacts.sizeBytes,
  contentType: sessionArtifacts.contentType,
  expiresAtMs: sessionArtifacts.expiresAtMs,
  lostAtMs: sessionArtifacts.lostAtMs,
};

/** A session with the listed columns of its current artifact, which are null without one. */
export type ListedSession = ReturnType<typeof listedSessions>[number];

/** @returns the sessions in the order of the ids */
export function listedSessions(connection: Connection, ids: readonly string[]) {
  const rows = connection
    .select({ ...shown, artifact: current })
    .from(capturedSessions)
    .leftJoin(sessionArtifacts, eq(sessionArtifacts.id, capturedSessions.currentArtifactId))
    .where(inArray(id, [...ids]))
    .limit(ids.length)
    .all();
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((wanted) => byId.get(wanted) ?? []);
}

const selectGrantees = statement((connection) =>
  connection
    .select({ userId: sessionGrants.userId })
    .from(sessionGrants)
    .where(equalAll(sessionGrants, "sessionId"))
    .orderBy(asc(sessionGrants.userId))
    .prepare(),
);

/** @returns the sorted ids of the users with whom the session is shared by name */
export const granteesOf = (connection: Connection, sessionId: string): string[] =>
  selectGrantees(connection)
    .all({ sessionId })
    .map(({ userId: grantee }) => grantee);

const selectArtifacts = statement((connection) =>
  connection
    .select()
    .from(sessionArtifacts)
    .where(equalAll(sessionArtifacts, "sessionId"))
    .orderBy(desc(sessionArtifacts.createdAtMs), desc(sessionArtifacts.id))
    .limit(sql.placeholder("limit"))
    .prepare(),
);

/** @returns versions of the session in any state, newest first */
export const listArtifacts = (connection: Connection, wanted: { sessionId: string; limit: number }) =>
  selectArtifacts(connection).all(wanted);
