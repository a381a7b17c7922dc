// SQL of the catalog: its entries in their order, and the artifacts they name.
import { and, asc, count, eq, getTableColumns, gt, inArray, sql, sum } from "drizzle-orm";
import { type Connection, statement, type Tx } from "../../platform/database/database.ts";
import { insertAll, overwriteAll } from "../../platform/database/drizzle.ts";
import { likePattern } from "../shared/page.ts";
import { PACKAGES_MAX, PLATFORMS_MAX } from "./model.ts";
import { artifacts, catalogPackages } from "./tables.ts";

export type PackageRow = typeof catalogPackages.$inferSelect;
export type ArtifactRow = typeof artifacts.$inferSelect;

/** One artifact for the package, and one for each platform. */
const ARTIFACTS_PER_PACKAGE_MAX = 1 + PLATFORMS_MAX;

/** Artifacts per page; the caller continues after the last id. */
const ARTIFACT_PAGE_MAX = 500;

/** @returns every entry in the order of the catalog */
export const listPackages = (connection: Connection, organizationId: string): PackageRow[] =>
  connection
    .select()
    .from(catalogPackages)
    .where(eq(catalogPackages.organizationId, organizationId))
    .orderBy(asc(catalogPackages.position), asc(catalogPackages.id))
    .limit(PACKAGES_MAX)
    .all();

/** @returns the entries after an id, ordered by id */
export const listPackagesAfter = (
  connection: Connection,
  organizationId: string,
  { id, limit }: { id: string; limit: number },
): PackageRow[] =>
  connection
    .select()
    .from(catalogPackages)
    .where(and(eq(catalogPackages.organizationId, organizationId), gt(catalogPackages.id, id)))
    .orderBy(asc(catalogPackages.id))
    .limit(limit)
    .all();

/** @returns id, version and digest of every entry, by id */
export const listVersions = (
  connection: Connection,
  organizationId: string,
): Pick<PackageRow, "id" | "version" | "sha256">[] =>
  connection
    .select({ id: catalogPackages.id, version: catalogPackages.version, sha256: catalogPackages.sha256 })
    .from(catalogPackages)
    .where(eq(catalogPackages.organizationId, organizationId))
    .orderBy(asc(catalogPackages.id))
    .limit(PACKAGES_MAX)
    .all();

/** @returns packages whose id contains the text, by id */
export const packagesLike = (
  connection: Connection,
  organizationId: string,
  { text, limit }: { text: string; limit: number },
): Pick<PackageRow, "id" | "version">[] =>
  connection
    .select({ id: catalogPackages.id, version: catalogPackages.version })
    .from(catalogPackages)
    .where(
      and(
        eq(catalogPackages.organizationId, organizationId),
        sql`${catalogPackages.id} LIKE ${likePattern(text)} ESCAPE '\\'`,
      ),
    )
    .orderBy(asc(catalogPackages.id))
    .limit(limit)
    .all();

export const findPackage = (
  connection: Connection,
  organizationId: string,
  id: string,
): PackageRow | undefined =>
  connection
    .select()
    .from(catalogPackages)
    .where(and(eq(catalogPackages.organizationId, organizationId), eq(catalogPackages.id, id)))
    .limit(1)
    .get();

const { organizationId: _organization, id: _id, ...replaceable } = getTableColumns(catalogPackages);

const upsert = statement((connection) =>
  connection
    .insert(catalogPackages)
    .values(insertAll(catalogPackages))
    .onConflictDoUpdate({
      target: [catalogPackages.organizationId, catalogPackages.id],
      set: overwriteAll(replaceable),
    })
    .prepare(),
);

export function putPackage(tx: Tx, row: PackageRow): void {
  upsert(tx).run(row);
}

/** @returns the previous entry */
export const takePackage = (tx: Tx, organizationId: string, id: string): PackageRow | undefined =>
  tx
    .delete(catalogPackages)
    .where(and(eq(catalogPackages.organizationId, organizationId), eq(catalogPackages.id, id)))
    .returning()
    .get();

export function removePackages(tx: Tx, organizationId: string, ids: readonly string[]): void {
  tx.delete(catalogPackages)
    .where(and(eq(catalogPackages.organizationId, organizationId), inArray(catalogPackages.id, [...ids])))
    .run();
}

export function addArtifact(tx: Tx, row: Omit<ArtifactRow, "unnamedSinceMs">): void {
  tx.insert(artifacts).values(row).onConflictDoNothing().run();
}

const artifactOfDigest = statement((connection) =>
  connection
    .select()
    .from(artifacts)
    .where(
      and(
        eq(artifacts.organizationId, sql.placeholder("organizationId")),
        eq(artifacts.sha256, sql.placeholder("sha256")),
      ),
    )
    .limit(1)
    .prepare(),
);

export const findArtifactByDigest = (
  connection: Connection,
  organizationId: string,
  sha256: string,
): ArtifactRow | undefined => artifactOfDigest(connection).get({ organizationId, sha256 });

/** @param after last id of the previous page; empty for the first page */
export const listArtifacts = (connection: Connection, organizationId: string, after: string): ArtifactRow[] =>
  connection
    .select()
    .from(artifacts)
    .where(and(eq(artifacts.organizationId, organizationId), sql`${artifacts.id} > ${after}`))
    .orderBy(asc(artifacts.id))
    .limit(ARTIFACT_PAGE_MAX)
    .all();

export const findArtifact = (
  connection: Connection,
  organizationId: string,
  id: string,
): ArtifactRow | undefined =>
  connection
    .select()
    .from(artifacts)
    .where(and(eq(artifacts.organizationId, organizationId), eq(artifacts.id, id)))
    .limit(1)
    .get();

/** @param sinceMs null while something names the artifact */
export function noteUnnamed(tx: Tx, id: string, sinceMs: number | null): void {
  tx.update(artifacts).set({ unnamedSinceMs: sinceMs }).where(eq(artifacts.id, id)).run();
}

/** @returns false if there was none */
export const removeArtifact = (tx: Tx, organizationId: string, id: string): boolean =>
  tx
    .delete(artifacts)
    .where(and(eq(artifacts.organizationId, organizationId), eq(artifacts.id, id)))
    .returning({ id: artifacts.id })
    .all().length > 0;

/** @returns ids of the artifacts that entries of the catalog name, for all platforms */
export const artifactsOfCatalog = (connection: Connection, organizationId: string): string[] =>
  connection
    .selectDistinct({ id: sql<string>`artifact.value` })
    .from(sql`${catalogPackages}, json_tree(${catalogPackages.entry}) AS artifact`)
    .where(and(eq(catalogPackages.organizationId, organizationId), sql`artifact.key = 'artifact_id'`))
    .limit(PACKAGES_MAX * ARTIFACTS_PER_PACKAGE_MAX)
    .all()
    .map(({ id }) => id);

/** @returns the numbers of artifacts with and without references */
export function countArtifacts(connection: Connection, organizationId: string) {
  const counted = connection
    .select({ total: count(), unnamed: count(artifacts.unnamedSinceMs) })
    .from(artifacts)
    .where(eq(artifacts.organizationId, organizationId))
    .get();
  const { total = 0, unnamed = 0 } = counted ?? {};
  return { named: total - unnamed, unnamed };
}

export function sumArtifacts(
  connection: Connection,
  organizationId: string,
): { count: number; sizeBytes: number } {
  const totals = connection
    .select({ count: count(), sizeBytes: sum(artifacts.sizeBytes).mapWith(Number) })
    .from(artifacts)
    .where(eq(artifacts.organizationId, organizationId))
    .get();
  return { count: totals?.count ?? 0, sizeBytes: totals?.sizeBytes ?? 0 };
}
