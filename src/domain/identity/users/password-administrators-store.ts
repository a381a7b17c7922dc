// SQL of the administrators who have a password.
import { and, eq, isNotNull, type SQL, sql } from "drizzle-orm";
import type { Connection } from "../../../platform/database/database.ts";
import { users } from "../tables.ts";

/** Maximum number of administrators to read. */
const ADMINISTRATORS_MAX = 10_000;

const IS_PROTECTED: SQL = eq(users.protected, true);

/** @returns the ids of active administrators with a password, optionally only the protected one */
export const passwordAdministratorIds = (
  connection: Connection,
  organizationId: string,
  { isProtectedOnly }: { isProtectedOnly: boolean },
): string[] =>
  connection
    .select({ id: users.id })
    .from(users)
    .where(
      and(
        eq(users.organizationId, organizationId),
        sql`${users.role} = 'admin'`, // literal, so that SQLite can use the partial index of administrators
        eq(users.status, "active"),
        isNotNull(users.passwordHash),
        isProtectedOnly ? IS_PROTECTED : undefined,
      ),
    )
    .limit(ADMINISTRATORS_MAX)
    .all()
    .map(({ id }) => id);
