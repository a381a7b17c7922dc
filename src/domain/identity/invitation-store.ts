// SQL of invitations. Every way out of `pending` is one conditional statement, so it happens once.
import { and, count, desc, eq, gt, lte, ne, type SQL, sql } from "drizzle-orm";
import type { Connection, Tx } from "../../platform/database/database.ts";
import type { Invitation, Role } from "./model.ts";
import { contains, type RowId } from "./store.ts";
import { invitations, users } from "./tables.ts";

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

/** An inviter who was removed is not shown. */
const invitationsWhere = (connection: Connection, matching: SQL | undefined) =>
  connection
    .select(shown)
    .from(invitations)
    .leftJoin(users, and(eq(users.id, invitations.inviterId), ne(users.status, "removed")))
    .where(matching);

export const invitationIn = (connection: Connection, row: RowId): Invitation | undefined =>
  invitationsWhere(connection, isRow(row)).limit(1).get();

export const invitationOfToken = (connection: Connection, tokenHash: string): Invitation | undefined =>
  invitationsWhere(connection, eq(invitations.tokenHash, tokenHash)).limit(1).get();

/** Newest first; ids are time-ordered and break ties. */
export function listInvitations(
  connection: Connection,
  organizationId: string,
  { filter, offset, limit }: { filter: InvitationFilter; offset: number; limit: number },
): { items: Invitation[]; total: number } {
  const matching = and(
    eq(invitations.organizationId, organizationId),
    filter.q === undefined ? undefined : contains(invitations.emailKey, filter.q),
    filter.role && eq(invitations.role, filter.role),
    filter.status && eq(invitations.status, "pending"),
  );
  const total = connection.select({ total: count() }).from(invitations).where(matching).get()?.total ?? 0;
  const items = invitationsWhere(connection, matching)
    .orderBy(desc(invitations.createdAtMs), desc(invitations.id))
    .limit(limit)
    .offset(offset)
    .all();
  return { items, total };
}

export function insertInvitation(tx: Tx, invitation: typeof invitations.$inferInsert): void {
  tx.insert(invitations).values(invitation).run();
}

/** @returns whether it was pending until now */
export const changePending = (
  tx: Tx,
  row: RowId,
  changes: { status?: "canceled"; expiresAtMs?: number; tokenHash?: string },
): boolean =>
  tx
    .update(invitations)
    .set(changes)
    .where(and(isRow(row), eq(invitations.status, "pending")))
    .returning({ id: invitations.id })
    .get() !== undefined;

export const hasPending = (tx: Tx, key: { organizationId: string; emailKey: string }): boolean =>
  tx.select({ id: invitations.id }).from(invitations).where(isPendingOf(key)).limit(1).get() !== undefined;

/** @returns whether this secret opened its invitation: once, and before it expires */
export const claim = (tx: Tx, { tokenHash, nowMs }: { tokenHash: string; nowMs: number }): boolean =>
  tx
    .update(invitations)
    .set({ status: "accepted" })
    .where(
      and(
        eq(invitations.tokenHash, tokenHash),
        eq(invitations.status, "pending"),
        gt(invitations.expiresAtMs, nowMs),
      ),
    )
    .returning({ id: invitations.id })
    .get() !== undefined;

/** @returns ids of the pending invitations of an address, now canceled; with `expiredAtMs` only those expired by then */
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

/** Pending invitations of one inviter pass to another, or to nobody. */
export const passOnInvitations = (tx: Tx, inviter: RowId, newInviterId: string | null): void =>
  passOn(tx, inviter, newInviterId);

/** Pending invitations of one inviter pass to the protected administrator, who is looked up only if there are any. */
export function passOnToProtected(tx: Tx, inviter: RowId): void {
  const isProtected = and(eq(users.organizationId, inviter.organizationId), eq(users.protected, true));
  passOn(tx, inviter, sql`(${tx.select({ id: users.id }).from(users).where(isProtected).limit(1)})`);
}

function passOn(tx: Tx, { organizationId, id }: RowId, newInviterId: string | null | SQL): void {
  tx.update(invitations)
    .set({ inviterId: newInviterId })
    .where(
      and(
        eq(invitations.organizationId, organizationId),
        eq(invitations.inviterId, id),
        eq(invitations.status, "pending"),
      ),
    )
    .run();
}

const isRow = ({ organizationId, id }: RowId) =>
  and(eq(invitations.organizationId, organizationId), eq(invitations.id, id));

const isPendingOf = ({ organizationId, emailKey }: { organizationId: string; emailKey: string }) =>
  and(
    eq(invitations.organizationId, organizationId),
    eq(invitations.emailKey, emailKey),
    eq(invitations.status, "pending"),
  );
