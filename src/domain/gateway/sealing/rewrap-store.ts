// SQL of the sealed values of the gateway area: how many each sealing key seals, and the replacement of their wrapping.
import { and, asc, count, eq, gt, isNotNull, sql } from "drizzle-orm";
import type { Connection, Tx } from "../../../platform/database/database.ts";
import type { RewrapPart, SealedRow } from "../../shared/sealed-secrets.ts";
import { gatewayKeys } from "../tables.ts";

/** The columns that the wrapping of a key needs; the id is the user's. */
export interface SealedKey extends SealedRow {
  credentialVersion: string;
}

/** @returns the number of keys under each sealing key */
export function countUnder(connection: Connection): Map<string, number> {
  const rows = connection
    .select({ id: gatewayKeys.sealingKeyId, total: count() })
    .from(gatewayKeys)
    .where(isNotNull(gatewayKeys.sealingKeyId))
    .groupBy(gatewayKeys.sealingKeyId)
    .all();
  return new Map(rows.map(({ id, total }) => [id ?? "", total]));
}

export const listUnder = (connection: Connection, { from, after = "", limit }: RewrapPart): SealedKey[] =>
  connection
    .select({
      id: gatewayKeys.userId,
      credentialVersion: gatewayKeys.credentialVersion,
      sealed: sql<string>`coalesce(${gatewayKeys.sealedCredential}, '')`,
    })
    .from(gatewayKeys)
    .where(and(eq(gatewayKeys.sealingKeyId, from), gt(gatewayKeys.userId, after)))
    .orderBy(asc(gatewayKeys.userId))
    .limit(limit)
    .all();

/** Replaces only the wrapping of a credential. */
export function resealKey(
  tx: Tx,
  { userId, ...wrapping }: { userId: string; sealedCredential: string; sealingKeyId: string },
): void {
  tx.update(gatewayKeys).set(wrapping).where(eq(gatewayKeys.userId, userId)).run();
}
