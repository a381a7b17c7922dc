// SQL of branding: one row for each organization that has any; and whether the database can be read at all.
import { eq, sql } from "drizzle-orm";
import type { Connection, Tx } from "../../platform/database/database.ts";
import type { Branding } from "./model.ts";
import { branding } from "./tables.ts";

export const findBranding = (connection: Connection, organizationId: string): Branding | undefined =>
  connection
    .select({ logoUrl: branding.logoUrl, faviconUrl: branding.faviconUrl })
    .from(branding)
    .where(eq(branding.organizationId, organizationId))
    .limit(1)
    .get();

export function putBranding(tx: Tx, organizationId: string, values: Branding): void {
  tx.insert(branding)
    .values({ organizationId, ...values })
    .onConflictDoUpdate({ target: branding.organizationId, set: values })
    .run();
}

/** @returns whether the file gave its first page */
export const canRead = (connection: Connection): boolean =>
  connection.all(sql`SELECT 1 FROM sqlite_schema LIMIT 1`).length > 0;
