// SQL of branding: one row for each organization that has any.
import { eq } from "drizzle-orm";
import type { Connection, Tx } from "../../platform/database.ts";
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
