// SQL of the one question an access token cannot answer itself: does its grant still stand.
import { eq, sql } from "drizzle-orm";
import { type Connection, statement } from "../../../platform/database/database.ts";
import { grants } from "../tables.ts";

const selectGrant = statement((connection) =>
  connection
    .select({
      userId: grants.userId,
      loginSessionId: grants.loginSessionId,
      revokedAtMs: grants.revokedAtMs,
    })
    .from(grants)
    .where(eq(grants.id, sql.placeholder("id")))
    .limit(1)
    .prepare(),
);

/** @returns whose grant it is, what approved it, and whether it was revoked; nothing when its row is gone */
export const findGrant = (connection: Connection, id: string) => selectGrant(connection).get({ id });
