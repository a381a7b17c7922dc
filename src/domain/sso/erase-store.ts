// SQL that removes what an operator expects of one user at another provider.
import { eq } from "drizzle-orm";
import type { Tx } from "../../platform/database/database.ts";
import { changesOf } from "../../platform/database/drizzle.ts";
import { expectedIdentities } from "./tables.ts";

/** @returns how many were removed */
export const removeExpectations = (tx: Tx, userId: string): number =>
  changesOf(tx.delete(expectedIdentities).where(eq(expectedIdentities.userId, userId)).run());
