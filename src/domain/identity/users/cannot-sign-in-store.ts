// SQL of the count of provisioned users who cannot sign in.
import { and, count, eq, isNull, sql } from "drizzle-orm";
import type { Connection } from "../../../platform/database/database.ts";
import { users } from "../tables.ts";

/** @returns the number of active provisioned users without a password */
export function countProvisionedWithoutPassword(connection: Connection, organizationId: string): number {
  const matching = and(
    eq(users.organizationId, organizationId),
    // Literals, because SQLite does not match parameters against the condition of a partial index.
    sql`${users.provisioningSource} = 'scim'`,
    sql`${users.status} = 'active'`,
    isNull(users.passwordHash),
  );
  return connection.select({ total: count() }).from(users).where(matching).get()?.total ?? 0;
}
