// SQL for what an access token cannot prove itself: whether its grant is still active.
import { eq } from "drizzle-orm";
import { type Connection, statement } from "../../../platform/database/database.ts";
import { named } from "../../../platform/database/drizzle.ts";
import { grants } from "../tables.ts";

const selectGrant = statement((connection) =>
  connection
    .select({
      userId: grants.userId,
      loginSessionId: grants.loginSessionId,
      revokedAtMs: grants.revokedAtMs,
    })
    .from(grants)
    .where(eq(grants.id, named("id")))
    .limit(1)
    .prepare(),
);

/** @returns the user, the approving session, and whether the grant was revoked; undefined if there is no row */
export const findGrant = (connection: Connection, id: string) => selectGrant(connection).get({ id });
