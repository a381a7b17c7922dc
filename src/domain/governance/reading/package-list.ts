// Filters and pages of a list of packages. A policy has at most 5,000, so that a page is cut from all of them.
import type { Problem } from "../../../platform/errors.ts";
import { HARNESS_KEYS } from "../../harnesses/harnesses.ts";
import {
  offsetOf,
  type Page,
  type PageQuery,
  readPageQuery,
  readWord,
  refuseProblems,
} from "../../shared/page.ts";
import { PACKAGE_KINDS, type PackageView } from "./package-views.ts";

export const AUDIENCE_SCOPES = ["organization", "users"] as const;
export const PACKAGE_ORIGINS = ["catalog", "own"] as const;
export const PACKAGE_SORTS = ["id", "-id"] as const;

/** The request of a caller, before any check. */
export interface PackageQuery extends PageQuery {
  kind?: string | undefined;
  harness?: string | undefined;
  audience?: string | undefined;
  origin?: string | undefined;
  /** `true` or `false`: whether the catalog offers another version */
  update?: string | undefined;
  sort?: string | undefined;
}

/** @returns all packages that match, in the wanted order @throws DomainError `package.invalid_query` */
export function matchingPackages(views: readonly PackageView[], query: PackageQuery): PackageView[] {
  return checked(views, query).matching;
}

/** @returns one page of the packages that match @throws DomainError `package.invalid_query` */
export function pageOfPackages(views: readonly PackageView[], query: PackageQuery): Page<PackageView> {
  const { matching, request } = checked(views, query);
  const { page, perPage } = request;
  const offset = offsetOf(request);
  return { items: matching.slice(offset, offset + perPage), page, perPage, total: matching.length };
}

function checked(views: readonly PackageView[], query: PackageQuery) {
  const problems: Problem[] = [];
  const request = readPageQuery(query, problems);
  const word = <Word extends string>(
    name: "kind" | "harness" | "audience" | "origin",
    words: readonly Word[],
  ) => readWord(query[name], { name, words, problems });
  const kind = word("kind", PACKAGE_KINDS);
  const harness = word("harness", HARNESS_KEYS);
  const audience = word("audience", AUDIENCE_SCOPES);
  const origin = word("origin", PACKAGE_ORIGINS);
  const update = readWord(query.update, { name: "update", words: ["true", "false"], problems });
  const sort = readWord(query.sort, { name: "sort", words: PACKAGE_SORTS, problems });
  refuseProblems("package.invalid_query", problems);
  const text = request.q?.toLowerCase();
  const matching = views.filter(
    (view) =>
      (text === undefined || isNamed(view, text)) &&
      (kind === undefined || view.kinds.includes(kind)) &&
      (harness === undefined || view.harnesses.includes(harness)) &&
      (audience === undefined || view.audience.scope === audience) &&
      (origin === undefined || view.isFromCatalog === (origin === "catalog")) &&
      (update === undefined || (view.update !== undefined) === (update === "true")),
  );
  const direction = sort === "-id" ? -1 : 1;
  return { matching: matching.sort((one, other) => (one.id < other.id ? -direction : direction)), request };
}

const isNamed = ({ id, name = "" }: PackageView, text: string): boolean =>
  id.includes(text) || name.toLowerCase().includes(text);
