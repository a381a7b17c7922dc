// Reads the list of the catalog: all entries, one, or only their versions.
import type { Db } from "../../platform/database/database.ts";
import { DomainError } from "../../platform/errors.ts";
import type { Steps } from "../../platform/steps.ts";
import { excerpt } from "../../platform/text/problem-list.ts";
import type { ManagedPackage } from "./model.ts";
import { contentOf, type PackageContent } from "./packages/package-content.ts";
import { packagesOf } from "./seed/changes.ts";
import type { PackageVersion } from "./seed/plan.ts";
import * as store from "./store.ts";

/** A catalog entry for lists. */
export interface CatalogSummary extends PackageContent, PackageVersion {
  name: string | undefined;
  sourceRef: string;
  /** whether its archive, or the archive of every platform, is stored here */
  isStored: boolean;
}

interface Known {
  organizationId: string;
  /** revision of the topic `catalog` */
  revision: number;
  summaries: readonly CatalogSummary[];
}

export function createReading({ db }: { db: Db }) {
  let known: Known | undefined;
  /** @returns the package; undefined for none */
  const find = (organizationId: string, id: string): ManagedPackage | undefined => {
    const row = store.findPackage(db.read, organizationId, id);
    return row && JSON.parse(row.entry);
  };
  return {
    /** Grows whenever this or another process may have changed the catalog. */
    revision: (): number => db.revision("catalog"),

    /** @returns the JSON array of every ManagedPackage in the order of the catalog, as bytes ready to send */
    *listing(organizationId: string): Steps<Uint8Array<ArrayBuffer>> {
      const rows = yield* packagesOf(db.read, organizationId);
      const text = `[${rows.map(({ entry }) => entry).join(",")}]`;
      yield;
      const bytes = Buffer.from(text);
      yield;
      return bytes;
    },

    /** @returns every package in the order of the catalog */
    list: (organizationId: string): ManagedPackage[] =>
      store.listPackages(db.read, organizationId).map(({ entry }) => JSON.parse(entry)),

    /** @returns every package in the order of the catalog, without long members; cached until the catalog changes */
    *summaries(organizationId: string): Steps<readonly CatalogSummary[]> {
      const revision = db.revision("catalog");
      if (known?.revision === revision && known.organizationId === organizationId) return known.summaries;
      const rows = yield* packagesOf(db.read, organizationId);
      const summaries: CatalogSummary[] = [];
      for (const { entry } of rows) {
        summaries.push(summaryOf(JSON.parse(entry)));
        yield;
      }
      known = { organizationId, revision, summaries };
      return summaries;
    },

    /** @returns version and digest of every package, by id; does not read whole entries */
    versions: (organizationId: string): ReadonlyMap<string, PackageVersion> =>
      new Map(store.listVersions(db.read, organizationId).map((version) => [version.id, version])),

    find,

    /** @returns packages whose id contains the text, by id */
    search: (organizationId: string, wanted: { text: string; limit: number }) =>
      store.packagesLike(db.read, organizationId, wanted),

    /** @throws DomainError `catalog.not_found` */
    get(organizationId: string, id: string): ManagedPackage {
      const managed = find(organizationId, id);
      if (!managed) throw notFound(id);
      return managed;
    },
  };
}

function summaryOf(managed: ManagedPackage): CatalogSummary {
  const { id, name, version, sha256, source_ref: sourceRef, platform_sources: platforms } = managed;
  const sources = platforms ? Object.values(platforms) : [managed];
  const isStored = sources.every(({ artifact_id: artifact }) => artifact !== undefined);
  return { id, name, version, sha256, sourceRef, isStored, ...contentOf(managed) };
}

/** @returns the catalog's version of a published package; undefined if it has the same archive and version */
export function updateOf(
  { id, version, sha256 }: PackageVersion,
  offered: ReadonlyMap<string, PackageVersion>,
): PackageVersion | undefined {
  const known = offered.get(id);
  return known && (known.version !== version || known.sha256 !== sha256.toLowerCase()) ? known : undefined;
}

export const notFound = (id: string) =>
  new DomainError("not_found", "catalog.not_found", `the catalog has no package ${excerpt(id)}`, {
    hint: "see `quartermaster catalog list`",
    missing: { kind: "package", name: id },
  });
