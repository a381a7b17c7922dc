// SQL of the state of repository connections.
import { and, eq } from "drizzle-orm";
import type { Connection, Tx } from "../../../platform/database/database.ts";
import { connectionStates } from "./tables.ts";

export type ConnectionStateRow = typeof connectionStates.$inferSelect;

export const findState = (
  connection: Connection,
  organizationId: string,
  connectionId: string,
): ConnectionStateRow | undefined =>
  connection
    .select()
    .from(connectionStates)
    .where(
      and(
        eq(connectionStates.organizationId, organizationId),
        eq(connectionStates.connectionId, connectionId),
      ),
    )
    .limit(1)
    .get();

export function putState(tx: Tx, { organizationId, connectionId, ...changed }: ConnectionStateRow): void {
  tx.insert(connectionStates)
    .values({ organizationId, connectionId, ...changed })
    .onConflictDoUpdate({
      target: [connectionStates.organizationId, connectionStates.connectionId],
      set: changed,
    })
    .run();
}
