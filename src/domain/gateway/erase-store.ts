// SQL that removes a user's gateway sessions and counts the user's pending revocations.
import { count, eq } from "drizzle-orm";
import type { Tx } from "../../platform/database/database.ts";
import { changesOf } from "../../platform/database/drizzle.ts";
import { gatewayRevocations, gatewaySessions } from "./tables.ts";

export const removeSessions = (tx: Tx, userId: string): number =>
  changesOf(tx.delete(gatewaySessions).where(eq(gatewaySessions.userId, userId)).run());

/** @returns the number of the user's keys whose revocation the gateway has not confirmed */
export const countRevocations = (tx: Tx, userId: string): number =>
  tx.select({ total: count() }).from(gatewayRevocations).where(eq(gatewayRevocations.userId, userId)).get()
    ?.total ?? 0;
