// SQL of packages that are being added.
import { and, eq, lt } from "drizzle-orm";
import type { Connection, Tx } from "../../../platform/database/database.ts";
import { changesOf } from "../../../platform/database/drizzle.ts";
import { packageAdditions } from "../tables.ts";
import type { Addition } from "./addition-model.ts";

export const findAddition = (connection: Connection, ownerId: string): Addition | undefined => {
  const isOwn = eq(packageAdditions.ownerId, ownerId);
  const row = connection.select().from(packageAdditions).where(isOwn).limit(1).get();
  if (!row) return undefined;
  const { content, ...rest } = row;
  return { ...JSON.parse(content), ...rest };
};

export function putAddition(tx: Tx, addition: Addition): void {
  const { ownerId, organizationId, version, savedAtMs, ...content } = addition;
  const changes = { content: JSON.stringify(content), version, savedAtMs };
  tx.insert(packageAdditions)
    .values({ ownerId, organizationId, ...changes })
    .onConflictDoUpdate({ target: packageAdditions.ownerId, set: changes })
    .run();
}

/** @param version default: any @returns whether there was one */
export const removeAddition = (tx: Tx, ownerId: string, version?: number): boolean => {
  const isVersion = version === undefined ? undefined : eq(packageAdditions.version, version);
  const removed = tx.delete(packageAdditions).where(and(eq(packageAdditions.ownerId, ownerId), isVersion));
  return changesOf(removed.run()) > 0;
};

/** @returns the owners of additions last saved before that time */
export const removeUntouchedAdditions = (tx: Tx, beforeMs: number): { ownerId: string }[] =>
  tx
    .delete(packageAdditions)
    .where(lt(packageAdditions.savedAtMs, beforeMs))
    .returning({ ownerId: packageAdditions.ownerId })
    .all();
