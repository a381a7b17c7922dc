// Filters and pages of catalog entries. The catalog has at most 5,000 entries, so pages are cut from the full list.
import type { Problem } from "../../../platform/errors.ts";
import { type Page, readWord, refuseProblems } from "../../shared/page.ts";
import { type CatalogView, OFFERS } from "./catalog-views.ts";
import { type ContentQuery, pageOf, readContentFilter } from "./package-filter.ts";

const ARCHIVE_PLACES = ["here", "elsewhere"] as const;
const CATALOG_SORTS = ["catalog", "id", "-id"] as const;

/** The unchecked request. */
export interface OfferQuery extends ContentQuery {
  offer?: string | undefined;
  /** location of the archive */
  archive?: string | undefined;
  sort?: string | undefined;
}

/** @returns all matching entries, in the requested order @throws DomainError `catalog.invalid_query` */
export const matchingOffers = (views: readonly CatalogView[], query: OfferQuery): CatalogView[] =>
  checked(views, query).matching;

/** @returns one page of the matching entries @throws DomainError `catalog.invalid_query` */
export function pageOfOffers(views: readonly CatalogView[], query: OfferQuery): Page<CatalogView> {
  const { matching, request } = checked(views, query);
  return pageOf(matching, request);
}

function checked(views: readonly CatalogView[], query: OfferQuery) {
  const problems: Problem[] = [];
  const { request, isWanted } = readContentFilter(query, problems);
  const offer = readWord(query.offer, { name: "offer", words: OFFERS, problems });
  const archive = readWord(query.archive, { name: "archive", words: ARCHIVE_PLACES, problems });
  const sort = readWord(query.sort, { name: "sort", words: CATALOG_SORTS, problems }) ?? "catalog";
  refuseProblems("catalog.invalid_query", problems);
  const matching = views.filter(
    (view) =>
      isWanted(view) &&
      (offer === undefined || view.offer === offer) &&
      (archive === undefined || view.isStored === (archive === "here")),
  );
  if (sort === "catalog") return { matching, request };
  const direction = sort === "-id" ? -1 : 1;
  return { matching: matching.sort((one, other) => (one.id < other.id ? -direction : direction)), request };
}
