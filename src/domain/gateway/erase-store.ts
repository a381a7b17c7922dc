// SQL that removes what one user could use the gateway with, and counts what still waits to be revoked there.
import { count, eq } from "drizzle-orm";
import type { Tx } from "../../platform/database/database.ts";
import { changesOf } from "../../platform/database/drizzle.ts";
import { gatewayRevocations, gatewaySessions } from "./tables.ts";

/** @returns how many */
export const removeSessions = (tx: Tx, userId: string): number =>
  changesOf(tx.delete(gatewaySessions).where(eq(gatewaySessions.userId, userId)).run());

/** @returns keys of a user that the gateway has not confirmed to be revoked */
export const countRevocations = (tx: Tx, userId: string): number =>
  tx.select({ total: count() }).from(gatewayRevocations).where(eq(gatewayRevocations.userId, userId)).get()
    ?.total ?? 0;
