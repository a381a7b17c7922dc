// SQL that removes the identities of one user at providers.
import { eq } from "drizzle-orm";
import type { Tx } from "../../platform/database/database.ts";
import { changesOf } from "../../platform/database/drizzle.ts";
import { expectedIdentities, userIdentities } from "./tables.ts";

/** @returns how many were removed */
export const removeIdentities = (tx: Tx, userId: string): number =>
  changesOf(tx.delete(userIdentities).where(eq(userIdentities.userId, userId)).run());

/** @returns how many were removed */
export const removeExpectations = (tx: Tx, userId: string): number =>
  changesOf(tx.delete(expectedIdentities).where(eq(expectedIdentities.userId, userId)).run());
