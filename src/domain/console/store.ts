// SQL of saved views, and of saved columns and rows of lists.
import { and, asc, count, eq, ne, or } from "drizzle-orm";
import type { Connection, Tx } from "../../platform/database/database.ts";
import { changesOf } from "../../platform/database/drizzle.ts";
import { LISTS_MAX, type ListAddress, type SavedView, VIEWS_MAX } from "./model.ts";
import { consoleLists as lists, consoleViews as views } from "./tables.ts";

/** Maximum number of other users' views in one response. */
const SHARED_ROWS = 500;

export interface ViewRow extends SavedView {
  organizationId: string;
}

const VIEW = {
  id: views.id,
  ownerId: views.ownerId,
  name: views.name,
  path: views.path,
  query: views.query,
  isShared: views.isShared,
};

/** @returns the user's views, ordered by path and name */
export const viewsOf = (connection: Connection, ownerId: string): SavedView[] =>
  connection
    .select(VIEW)
    .from(views)
    .where(eq(views.ownerId, ownerId))
    .orderBy(asc(views.path), asc(views.name))
    .limit(VIEWS_MAX)
    .all();

/** @returns views that others share with all administrators, ordered by path and name */
export const sharedViews = (connection: Connection, organizationId: string, ownerId: string): SavedView[] =>
  connection
    .select(VIEW)
    .from(views)
    .where(
      and(eq(views.organizationId, organizationId), eq(views.isShared, true), ne(views.ownerId, ownerId)),
    )
    .orderBy(asc(views.path), asc(views.name))
    .limit(SHARED_ROWS)
    .all();

export const findView = (
  connection: Connection,
  { organizationId, id }: { organizationId: string; id: string },
): SavedView | undefined =>
  connection
    .select(VIEW)
    .from(views)
    .where(and(eq(views.organizationId, organizationId), eq(views.id, id)))
    .get();

/** @returns the number of the user's other views */
export const countOtherViews = (tx: Tx, { ownerId, path, name }: ViewRow): number =>
  tx
    .select({ total: count() })
    .from(views)
    .where(and(eq(views.ownerId, ownerId), or(ne(views.path, path), ne(views.name, name))))
    .get()?.total ?? 0;

/** Adds the view, or replaces the view with this name and keeps its id. */
export const putView = (tx: Tx, row: ViewRow): SavedView =>
  tx
    .insert(views)
    .values(row)
    .onConflictDoUpdate({
      target: [views.ownerId, views.path, views.name],
      set: { query: row.query, isShared: row.isShared },
    })
    .returning(VIEW)
    .get();

/** @returns 0 if there is no such view */
export const removeView = (tx: Tx, id: string): number =>
  changesOf(tx.delete(views).where(eq(views.id, id)).run());

/** @returns the query that the user has saved for a list */
export const findList = (
  connection: Connection,
  { ownerId, path }: { ownerId: string; path: string },
): string | undefined =>
  connection
    .select({ query: lists.query })
    .from(lists)
    .where(and(eq(lists.ownerId, ownerId), eq(lists.path, path)))
    .get()?.query;

export const listsOf = (connection: Connection, ownerId: string): ListAddress[] =>
  connection
    .select({ path: lists.path, query: lists.query })
    .from(lists)
    .where(eq(lists.ownerId, ownerId))
    .orderBy(asc(lists.path))
    .limit(LISTS_MAX)
    .all();

/** @returns the number of other lists for which the user has saved something */
export const countOtherLists = (tx: Tx, ownerId: string, { path }: ListAddress): number =>
  tx
    .select({ total: count() })
    .from(lists)
    .where(and(eq(lists.ownerId, ownerId), ne(lists.path, path)))
    .get()?.total ?? 0;

/** Saves the query for the list; an empty query removes it. */
export function putList(tx: Tx, ownerId: string, { path, query }: ListAddress): void {
  if (query === "")
    tx.delete(lists)
      .where(and(eq(lists.ownerId, ownerId), eq(lists.path, path)))
      .run();
  else
    tx.insert(lists)
      .values({ ownerId, path, query })
      .onConflictDoUpdate({ target: [lists.ownerId, lists.path], set: { query } })
      .run();
}

/** Removes everything that the user has saved. @returns the number of removed views and lists */
export const removeAll = (tx: Tx, ownerId: string): { views: number; lists: number } => ({
  views: changesOf(tx.delete(views).where(eq(views.ownerId, ownerId)).run()),
  lists: changesOf(tx.delete(lists).where(eq(lists.ownerId, ownerId)).run()),
});
