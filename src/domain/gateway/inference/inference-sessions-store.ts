// SQL for gateway sessions. A session lets one grant use the gateway. Callers decide whether a session is valid.
import { and, eq, ne, sql } from "drizzle-orm";
import { type Connection, statement, type Tx } from "../../../platform/database/database.ts";
import { equalAll } from "../../../platform/database/drizzle.ts";
import { gatewaySessions } from "../tables.ts";

export type GatewaySessionRow = typeof gatewaySessions.$inferSelect;

const selectByGrant = statement((connection) =>
  connection.select().from(gatewaySessions).where(equalAll(gatewaySessions, "grantId")).limit(1).prepare(),
);

export const findByGrant = (connection: Connection, grantId: string): GatewaySessionRow | undefined =>
  selectByGrant(connection).get({ grantId });

const selectOne = statement((connection) =>
  connection.select().from(gatewaySessions).where(equalAll(gatewaySessions, "id")).limit(1).prepare(),
);

export const find = (connection: Connection, id: string): GatewaySessionRow | undefined =>
  selectOne(connection).get({ id });

/** @returns those of the ids whose session is revoked or does not exist; one query, however many ids there are */
export function revokedAmong(connection: Connection, ids: readonly string[]): string[] {
  const rows = connection.all<{ id: string }>(sql`
    SELECT value AS id FROM json_each(${JSON.stringify(ids)})
    WHERE NOT EXISTS (SELECT 1 FROM ${gatewaySessions}
      WHERE ${gatewaySessions.id} = value AND ${gatewaySessions.revokedAtMs} IS NULL)`);
  return rows.map(({ id }) => id);
}

export const add = (tx: Tx, row: GatewaySessionRow): void =>
  void tx.insert(gatewaySessions).values(row).run();

export function revoke(tx: Tx, { id, revokedAtMs }: { id: string; revokedAtMs: number }): void {
  tx.update(gatewaySessions).set({ revokedAtMs }).where(eq(gatewaySessions.id, id)).run();
}

/** Removes the gateway sessions of the login session's other grants. @returns the number removed */
export const removeSiblings = (tx: Tx, { loginSessionId, grantId }: GatewaySessionRow): number =>
  tx
    .delete(gatewaySessions)
    .where(and(eq(gatewaySessions.loginSessionId, loginSessionId), ne(gatewaySessions.grantId, grantId)))
    .returning({ id: gatewaySessions.id })
    .all().length;
