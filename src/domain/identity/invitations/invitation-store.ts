// SQL of invitations. Every transition out of `pending` is one conditional statement, so it happens once.
import { and, count, eq, exists, gt, inArray, isNull, lt, lte, ne, or, type SQL, sql } from "drizzle-orm";
import type { Connection, Tx } from "../../../platform/database/database.ts";
import { orderedRows, orderOf } from "../../shared/ordered-rows-store.ts";
import type { OrderedRows } from "../../shared/page-steps.ts";
import type { Invitation, Role } from "../model.ts";
import { contains } from "../search-store.ts";
import type { RowId } from "../store.ts";
import { invitations, users } from "../tables.ts";

export interface InvitationFilter {
  q?: string | undefined;
  role?: Role | undefined;
  status?: "outstanding" | undefined;
}

const shown = {
  id: invitations.id,
  organizationId: invitations.organizationId,
  email: invitations.email,
  role: invitations.role,
  status: invitations.status,
  inviterEmail: users.email,
  expiresAtMs: invitations.expiresAtMs,
  createdAtMs: invitations.createdAtMs,
};

/** Does not show a removed inviter. */
const invitationsWhere = (connection: Connection, matching: SQL | undefined) =>
  connection
    .select(shown)
    .from(invitations)
    .leftJoin(users, and(eq(users.id, invitations.inviterId), ne(users.status, "removed")))
    .where(matching);

export const findInvitation = (connection: Connection, row: RowId): Invitation | undefined =>
  invitationsWhere(connection, isRow(row)).limit(1).get();

export const findInvitationByToken = (connection: Connection, tokenHash: string): Invitation | undefined =>
  invitationsWhere(connection, eq(invitations.tokenHash, tokenHash)).limit(1).get();

const NEWEST_FIRST = {
  table: invitations,
  columns: [invitations.createdAtMs, invitations.id],
  isDescending: true,
} as const;

/** @returns invitations, newest first */
export function invitationsLike(
  connection: Connection,
  organizationId: string,
  { q, role, status }: InvitationFilter,
): OrderedRows<Invitation> {
  const matching = and(
    q === undefined ? undefined : contains(invitations.emailKey, q),
    role && eq(invitations.role, role),
    status && eq(invitations.status, "pending"),
  );
  return orderedRows(connection, {
    order: NEWEST_FIRST,
    within: eq(invitations.organizationId, organizationId),
    matching,
    read: (where, { limit, offset }) =>
      invitationsWhere(connection, where)
        .orderBy(...orderOf(NEWEST_FIRST))
        .limit(limit)
        .offset(offset)
        .all(),
  });
}

export function insertInvitation(tx: Tx, invitation: typeof invitations.$inferInsert): void {
  tx.insert(invitations).values(invitation).run();
}

/** The secret of a link, and the user who created it; null for the operator. */
export interface NewLink {
  tokenHash: string;
  inviterId: string | null;
}

/** @returns whether it was pending before */
export const changePending = (
  tx: Tx,
  row: RowId,
  changes: { status?: "canceled"; expiresAtMs?: number } & Partial<NewLink>,
): boolean =>
  tx
    .update(invitations)
    .set(changes)
    .where(and(isRow(row), eq(invitations.status, "pending")))
    .returning({ id: invitations.id })
    .get() !== undefined;

export const hasPending = (tx: Tx, key: { organizationId: string; emailKey: string }): boolean =>
  tx.select({ id: invitations.id }).from(invitations).where(isPendingOf(key)).limit(1).get() !== undefined;

/**
 * The inviter may lose the role while the invitation is being written; then it is pending but must not be accepted. An
 * invitation of the operator, who is not a user, stays valid.
 */
const isInviterAuthorized = (connection: Connection): SQL | undefined => {
  const isInviter = and(
    eq(users.id, invitations.inviterId),
    eq(users.role, "admin"),
    eq(users.status, "active"),
  );
  const inviter = connection.select({ id: users.id }).from(users).where(isInviter);
  return or(isNull(invitations.inviterId), exists(inviter));
};

/** The secret of its link, or an address that a provider has verified. */
export type Claimant = { tokenHash: string } | { organizationId: string; emailKey: string };

/** A condition for invitations that can be accepted: once, before they expire, and while their inviter is an administrator. */
const isOpenFor = (connection: Connection, { nowMs, ...claimant }: Claimant & { nowMs: number }) =>
  and(
    "tokenHash" in claimant
      ? eq(invitations.tokenHash, claimant.tokenHash)
      : and(
          eq(invitations.organizationId, claimant.organizationId),
          eq(invitations.emailKey, claimant.emailKey),
        ),
    eq(invitations.status, "pending"),
    gt(invitations.expiresAtMs, nowMs),
    isInviterAuthorized(connection),
  );

const OPENED = { id: invitations.id, role: invitations.role };

/** @returns the invitation that the claimant can accept */
export const findOpen = (connection: Connection, claimant: Claimant & { nowMs: number }) =>
  connection.select(OPENED).from(invitations).where(isOpenFor(connection, claimant)).limit(1).get();

export const claim = (tx: Tx, claimant: Claimant & { nowMs: number }) =>
  tx.update(invitations).set({ status: "accepted" }).where(isOpenFor(tx, claimant)).returning(OPENED).get();

/** Cancels the pending invitations of an address; with `expiredAtMs`, only those that expired by then. @returns their ids */
export const cancelPending = (
  tx: Tx,
  {
    organizationId,
    emailKey,
    expiredAtMs,
  }: { organizationId: string; emailKey: string; expiredAtMs?: number },
): string[] =>
  tx
    .update(invitations)
    .set({ status: "canceled" })
    .where(
      and(
        isPendingOf({ organizationId, emailKey }),
        expiredAtMs === undefined ? undefined : lte(invitations.expiresAtMs, expiredAtMs),
      ),
    )
    .returning({ id: invitations.id })
    .all()
    .map(({ id }) => id);

/** Removes invitations that expired before a time. @returns how many, `limit` at most */
export function removeExpired(
  tx: Tx,
  {
    organizationId,
    expiredBeforeMs,
    limit,
  }: { organizationId: string; expiredBeforeMs: number; limit: number },
): number {
  const expired = tx
    .select({ id: invitations.id })
    .from(invitations)
    .where(and(eq(invitations.organizationId, organizationId), lt(invitations.expiresAtMs, expiredBeforeMs)))
    .limit(limit);
  const isExpired = inArray(invitations.id, expired);
  return tx.delete(invitations).where(isExpired).returning({ id: invitations.id }).all().length;
}

/** @returns the number of an inviter's pending invitations, including expired ones */
export const countPendingFrom = (connection: Connection, { organizationId, id }: RowId): number =>
  connection
    .select({ total: count() })
    .from(invitations)
    .where(isPendingFrom({ organizationId, ids: [id] }))
    .get()?.total ?? 0;

/** @returns the number of pending invitations that expire after `afterMs` and no later than `byMs` */
export const countExpiring = (
  connection: Connection,
  { organizationId, afterMs, byMs }: { organizationId: string; afterMs: number; byMs: number },
): number =>
  connection
    .select({ total: count() })
    .from(invitations)
    .where(
      and(
        eq(invitations.organizationId, organizationId),
        eq(invitations.status, "pending"),
        gt(invitations.expiresAtMs, afterMs),
        lte(invitations.expiresAtMs, byMs),
      ),
    )
    .get()?.total ?? 0;

/** Cancels the pending invitations of these inviters, including expired ones, which could be renewed. @returns their ids */
export const cancelPendingFrom = (tx: Tx, inviters: Inviters): string[] =>
  tx
    .update(invitations)
    .set({ status: "canceled" })
    .where(isPendingFrom(inviters))
    .returning({ id: invitations.id })
    .all()
    .map(({ id }) => id);

export interface Inviters {
  organizationId: string;
  ids: readonly string[];
}

/**
 * Binds one value for any number of ids, because a group may have more users than a statement may have parameters. The status
 * is literal, because SQLite uses the partial index of pending invitations only if it can see that the condition fits.
 */
const isPendingFrom = ({ organizationId, ids }: Inviters) =>
  and(
    eq(invitations.organizationId, organizationId),
    sql`${invitations.status} = 'pending'`,
    inArray(invitations.inviterId, sql`(SELECT value FROM json_each(${JSON.stringify(ids)}))`),
  );

const isRow = ({ organizationId, id }: RowId) =>
  and(eq(invitations.organizationId, organizationId), eq(invitations.id, id));

const isPendingOf = ({ organizationId, emailKey }: { organizationId: string; emailKey: string }) =>
  and(
    eq(invitations.organizationId, organizationId),
    eq(invitations.emailKey, emailKey),
    eq(invitations.status, "pending"),
  );
