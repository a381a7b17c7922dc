// SQL for the facts about each provider: its discovery document, its last error and its last success.
import { eq } from "drizzle-orm";
import type { Connection, Tx } from "../../../platform/database/database.ts";
import { identityProviders } from "../tables.ts";

export type ProviderRow = typeof identityProviders.$inferSelect;

/** @returns undefined if nothing is known */
export const findProvider = (connection: Connection, issuer: string): ProviderRow | undefined =>
  connection.select().from(identityProviders).where(eq(identityProviders.issuer, issuer)).limit(1).get();

/** Creates or changes the row; omitted columns stay. */
export const saveProvider = (tx: Tx, issuer: string, changes: Partial<Omit<ProviderRow, "issuer">>): void =>
  void tx
    .insert(identityProviders)
    .values({ issuer, ...changes })
    .onConflictDoUpdate({ target: identityProviders.issuer, set: changes })
    .run();
