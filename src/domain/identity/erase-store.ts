// SQL that permanently removes a user and the invitations of an address.
import { and, eq, inArray, ne } from "drizzle-orm";
import { markTopicChanged } from "../../platform/database/changed-topics.ts";
import type { Connection, Tx } from "../../platform/database/database.ts";
import { changesOf } from "../../platform/database/drizzle.ts";
import type { RowId } from "./store.ts";
import { invitations, users } from "./tables.ts";

/**
 * @param keys folded addresses
 * @returns how many invitations this removed
 */
export const removeInvitations = (tx: Tx, organizationId: string, keys: readonly string[]): number =>
  changesOf(
    tx
      .delete(invitations)
      .where(and(eq(invitations.organizationId, organizationId), inArray(invitations.emailKey, [...keys])))
      .run(),
  );

/**
 * Clears the inviter of a user's invitations. None may be pending, because an invitation without an inviter counts as the operator's.
 */
export const forgetInviter = (tx: Tx, inviterId: string): void =>
  void tx.update(invitations).set({ inviterId: null }).where(eq(invitations.inviterId, inviterId)).run();

/** @returns whether the user existed */
export function removeUser(tx: Tx, { organizationId, id }: RowId): boolean {
  markTopicChanged(tx, "access");
  markTopicChanged(tx, "user_rows");
  const isUser = and(eq(users.organizationId, organizationId), eq(users.id, id));
  return changesOf(tx.delete(users).where(isUser).run()) === 1;
}

/**
 * @param keys folded addresses
 * @returns the keys that belong or once belonged to another user
 */
export const keysOfOthers = (
  connection: Connection,
  organizationId: string,
  { keys, userId = "" }: { keys: readonly string[]; userId?: string | undefined },
): string[] =>
  connection
    .selectDistinct({ key: users.emailKey })
    .from(users)
    .where(
      and(eq(users.organizationId, organizationId), inArray(users.emailKey, [...keys]), ne(users.id, userId)),
    )
    .limit(Math.max(1, keys.length))
    .all()
    .map(({ key }) => key);
