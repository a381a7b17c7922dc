// SQL that finds users by many addresses in one query.
import { and, asc, desc, eq, getTableColumns, inArray, sql } from "drizzle-orm";
import type { Connection } from "../../../platform/database/database.ts";
import type { User } from "../model.ts";
import { users } from "../tables.ts";

const { passwordHash: _hash, searchNumber: _number, ...shown } = getTableColumns(users);

/** A user with the folded address that selected the row. */
export type AddressedUser = User & { emailKey: string };

/**
 * @returns the users with these folded addresses, any number of them; for one address, users in use first, then the last removed one
 */
export const usersWithAddresses = (
  connection: Connection,
  organizationId: string,
  keys: readonly string[],
): AddressedUser[] =>
  connection
    .select(shown)
    .from(users)
    .where(
      and(
        eq(users.organizationId, organizationId),
        inArray(users.emailKey, sql`(SELECT value FROM json_each(${JSON.stringify(keys)}))`),
      ),
    )
    .orderBy(asc(eq(users.status, "removed")), desc(users.updatedAtMs), desc(users.id))
    .all();
