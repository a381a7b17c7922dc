// SQL of the system area: branding (one row for each organization that set it), the last untrusted proxy (at most one row),
// and a check that the database can be read.
import { eq, sql } from "drizzle-orm";
import type { Connection, Tx } from "../../platform/database/database.ts";
import type { BrandingImage, ImageKind } from "./branding-image.ts";
import type { Branding } from "./model.ts";
import { branding, brandingIcons, brandingLogos, untrustedProxy } from "./tables.ts";

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

const IMAGES = { logo: brandingLogos, icon: brandingIcons } as const;

export function findImage(
  connection: Connection,
  { organizationId, kind }: { organizationId: string; kind: ImageKind },
): BrandingImage | undefined {
  const table = IMAGES[kind];
  const row = connection
    .select({ mediaType: table.mediaType, bytes: table.bytes })
    .from(table)
    .where(eq(table.organizationId, organizationId))
    .limit(1)
    .get();
  return row && { mediaType: row.mediaType, bytes: new Uint8Array(row.bytes) };
}

export function putImage(
  tx: Tx,
  { organizationId, kind }: { organizationId: string; kind: ImageKind },
  { mediaType, bytes }: BrandingImage,
): void {
  const table = IMAGES[kind];
  const values = { mediaType, bytes: Buffer.from(bytes) };
  tx.insert(table)
    .values({ organizationId, ...values })
    .onConflictDoUpdate({ target: table.organizationId, set: values })
    .run();
}

/** @returns whether the first page of the file could be read */
export const canRead = (connection: Connection): boolean =>
  connection.all(sql`SELECT 1 FROM sqlite_schema LIMIT 1`).length > 0;

const THE_ONE = 1;

export const findUntrustedProxy = (connection: Connection) =>
  connection.select().from(untrustedProxy).where(eq(untrustedProxy.id, THE_ONE)).limit(1).get();

export const removeUntrustedProxy = (tx: Tx): void => void tx.delete(untrustedProxy).run();

export function putUntrustedProxy(
  tx: Tx,
  seen: { peer: string | null; header: string; seenAtMs: number },
): void {
  tx.insert(untrustedProxy)
    .values({ id: THE_ONE, ...seen })
    .onConflictDoUpdate({ target: untrustedProxy.id, set: seen })
    .run();
}
