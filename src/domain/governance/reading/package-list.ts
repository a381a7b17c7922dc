// Filters and pages of a policy's packages. A policy has at most 5,000, so pages are cut from the full list.
import type { Problem } from "../../../platform/errors.ts";
import { type Page, readWord, refuseProblems } from "../../shared/page.ts";
import { type ContentQuery, pageOf, readContentFilter } from "./package-filter.ts";
import type { PackageView } from "./package-views.ts";

const AUDIENCE_SCOPES = ["organization", "users"] as const;
const PACKAGE_ORIGINS = ["catalog", "own"] as const;
const PACKAGE_SORTS = ["id", "-id"] as const;

/** The unchecked request. */
export interface PackageQuery extends ContentQuery {
  audience?: string | undefined;
  origin?: string | undefined;
  /** `true` or `false`: whether the catalog has another version */
  update?: string | undefined;
  sort?: string | undefined;
}

/** @returns all matching packages, in the requested order @throws DomainError `package.invalid_query` */
export const matchingPackages = (views: readonly PackageView[], query: PackageQuery): PackageView[] =>
  checked(views, query).matching;

/** @returns one page of the matching packages @throws DomainError `package.invalid_query` */
export function pageOfPackages(views: readonly PackageView[], query: PackageQuery): Page<PackageView> {
  const { matching, request } = checked(views, query);
  return pageOf(matching, request);
}

function checked(views: readonly PackageView[], query: PackageQuery) {
  const problems: Problem[] = [];
  const { request, isWanted } = readContentFilter(query, problems);
  const audience = readWord(query.audience, { name: "audience", words: AUDIENCE_SCOPES, problems });
  const origin = readWord(query.origin, { name: "origin", words: PACKAGE_ORIGINS, problems });
  const update = readWord(query.update, { name: "update", words: ["true", "false"], problems });
  const sort = readWord(query.sort, { name: "sort", words: PACKAGE_SORTS, problems });
  refuseProblems("package.invalid_query", problems);
  const matching = views.filter(
    (view) =>
      isWanted(view) &&
      (audience === undefined || view.audience.scope === audience) &&
      (origin === undefined || view.isFromCatalog === (origin === "catalog")) &&
      (update === undefined || (view.update !== undefined) === (update === "true")),
  );
  const direction = sort === "-id" ? -1 : 1;
  return { matching: matching.sort((one, other) => (one.id < other.id ? -direction : direction)), request };
}
