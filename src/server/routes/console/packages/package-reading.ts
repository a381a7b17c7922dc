// Reads the packages of the policy for their pages: with the draft of the reader, the versions of the catalog, and what
// workstations report.
import type { Domain } from "../../../../domain/domain.ts";
import {
  type CatalogView,
  catalogViews,
  matchingOffers,
  matchingPackages,
  type PackageView,
  packageViews,
  pageOfOffers,
  pageOfPackages,
} from "../../../../domain/governance/service.ts";
import type { Page } from "../../../../domain/shared/page.ts";
import { runInTurns } from "../../../../platform/steps.ts";
import { type Found, found, listValues, placeIn } from "../../../console/list/list.ts";
import type { PackageRow } from "../../../console/packages/package-list.tsx";
import type { Reader } from "../../../console/reader.ts";

/** @returns the packages of the catalog, with their versions in the policy and in the draft of the reader */
export async function offersFor({ governance, catalog }: Domain, { actor, organizationId }: Reader) {
  const entries = await runInTurns(catalog.summaries(organizationId));
  const policy = governance.revisions.current(organizationId)?.document;
  const draft = governance.drafts.versionOf(actor) > 0 ? governance.drafts.own(actor)?.document : undefined;
  return catalogViews(entries, { policy, draft });
}

const offerQueryOf = (reader: Reader) => {
  const { q, kind, harness, offer, archive, sort, ...values } = listValues(reader);
  return { q, kind, harness, offer, archive, sort, ...placeIn(values) };
};

/** @returns the page of the catalog for the reader's address */
export async function readCatalog(domain: Domain, reader: Reader): Promise<Found<Page<CatalogView>>> {
  const views = await offersFor(domain, reader);
  return await found(() => pageOfOffers(views, offerQueryOf(reader)));
}

/** @returns all entries of the catalog for the reader's address @throws DomainError for invalid filters */
export async function readWholeCatalog(domain: Domain, reader: Reader): Promise<CatalogView[]> {
  const { page: _page, perPage: _rows, ...query } = offerQueryOf(reader);
  return matchingOffers(await offersFor(domain, reader), query);
}

/** @returns the packages of the current policy, with the changes in the reader's draft; none before the first revision */
async function viewsFor(
  { governance, catalog }: Domain,
  { actor, organizationId }: Reader,
): Promise<PackageView[]> {
  const current = governance.revisions.current(organizationId);
  if (!current) return [];
  const draft = governance.drafts.versionOf(actor) > 0 ? governance.drafts.own(actor) : undefined;
  return await runInTurns(packageViews(current, { draft, offered: catalog.versions(organizationId) }));
}

const queryOf = (reader: Reader) => {
  const { q, kind, harness, audience, origin, update, sort, ...values } = listValues(reader);
  return { q, kind, harness, audience, origin, update, sort, ...placeIn(values) };
};

/** @returns the page for the reader's address */
export async function readPackages(domain: Domain, reader: Reader): Promise<Found<Page<PackageRow>>> {
  const views = await viewsFor(domain, reader);
  const { rows, problems } = await found(() => pageOfPackages(views, queryOf(reader)));
  if (!rows) return { problems };
  return { rows: { ...rows, items: await withCounts(domain, reader, rows.items) } };
}

/** @returns all packages for the reader's address @throws DomainError for invalid filters */
export const readAllPackages = async (domain: Domain, reader: Reader): Promise<PackageRow[]> => {
  const { page: _page, perPage: _rows, ...query } = queryOf(reader);
  return await withCounts(domain, reader, matchingPackages(await viewsFor(domain, reader), query));
};

async function withCounts(
  { clients, governance, sourceWatch }: Domain,
  { organizationId }: Reader,
  views: readonly PackageView[],
): Promise<PackageRow[]> {
  const current = governance.revisions.current(organizationId);
  if (!current || views.length === 0) return [];
  const counts = await runInTurns(clients.packageReports.counts(current));
  const behind = new Map(
    sourceWatch.behind(organizationId).map(({ packageId, latestCommit }) => [packageId, latestCommit]),
  );
  return views.map((view) => ({
    ...view,
    counts: counts.get(view.id),
    newerCommit: behind.get(view.id),
  }));
}
