// Filters for the package lists of the policy and the catalog.

import type { Problem } from "../../../platform/errors.ts";
import { PACKAGE_KINDS, type PackageContent } from "../../catalog/service.ts";
import { HARNESS_KEYS } from "../../harnesses/harnesses.ts";
import {
  offsetOf,
  type Page,
  type PageQuery,
  type PageRequest,
  readPageQuery,
  readWord,
} from "../../shared/page.ts";

/** The unchecked request. */
export interface ContentQuery extends PageQuery {
  kind?: string | undefined;
  harness?: string | undefined;
}

interface Listed extends PackageContent {
  id: string;
  name?: string | undefined;
}

/** @returns the requested page and a filter by name and content; valid only without problems */
export function readContentFilter(
  query: ContentQuery,
  problems: Problem[],
): { request: PageRequest; isWanted(listed: Listed): boolean } {
  const request = readPageQuery(query, problems);
  const kind = readWord(query.kind, { name: "kind", words: PACKAGE_KINDS, problems });
  const harness = readWord(query.harness, { name: "harness", words: HARNESS_KEYS, problems });
  const text = request.q?.toLowerCase();
  return {
    request,
    isWanted: ({ id, name = "", kinds, harnesses }) =>
      (text === undefined || id.includes(text) || name.toLowerCase().includes(text)) &&
      (kind === undefined || kinds.includes(kind)) &&
      (harness === undefined || harnesses.includes(harness)),
  };
}

/** @returns the page of an in-memory list */
export function pageOf<Row>(rows: readonly Row[], request: PageRequest): Page<Row> {
  const { page, perPage } = request;
  const offset = offsetOf(request);
  return { items: rows.slice(offset, offset + perPage), page, perPage, total: rows.length };
}
