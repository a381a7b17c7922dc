// SQL for what an access token cannot prove itself: whether its grant and its user are still active, and who the user is.
import { eq } from "drizzle-orm";
import { type Connection, statement } from "../../../platform/database/database.ts";
import { named } from "../../../platform/database/drizzle.ts";
import { grantHolders } from "../tables.ts";

const selectHolder = statement((connection) =>
  connection
    .select({
      userId: grantHolders.userId,
      organizationId: grantHolders.organizationId,
      subject: grantHolders.subject,
      role: grantHolders.role,
      status: grantHolders.status,
      loginSessionId: grantHolders.loginSessionId,
      revokedAtMs: grantHolders.revokedAtMs,
    })
    .from(grantHolders)
    .where(eq(grantHolders.grantId, named("grantId")))
    .limit(1)
    .prepare(),
);

/** @returns the user of a grant, active or not, and the time of the grant's revocation; undefined if either has no row */
export const findHolder = (connection: Connection, grantId: string) =>
  selectHolder(connection).get({ grantId });
