// Common parts of SCIM messages. Of requests: the object, its case-insensitive member names, and its schema. Of responses: the URL
// of a resource, its entity tag, a list and an error. These are texts, because a list joins resources that are already texts.

import { isJsonObject, type JsonObject } from "../../../platform/json/json-object.ts";
import { ScimError, type ScimType, scimInvalid } from "../errors.ts";
import { ENDPOINTS, LIST_RESPONSE, type ResourceTypeName, SCIM_BASE_PATH, SCIM_ERROR } from "../wire.ts";

/** @param baseUrl origin without trailing slash @returns the absolute URL: `meta.location`, `Location`, `$ref` */
export const locationOf = (type: ResourceTypeName, id: string, baseUrl: string): string =>
  `${baseUrl}${SCIM_BASE_PATH}${ENDPOINTS[type]}/${id}`;

/** @returns the weak entity tag of a revision: `meta.version` and `ETag` (SCIM-95) */
export const etagOf = (version: number): string => `W/"${version}"`;

// Conditional requests name versions. The comparison is weak, and some providers omit the quotes (SCIM-96, SCIM-97).

/** @param tags value of `If-Match` or `If-None-Match`: entity tags joined with commas, or `*` for any */
export const namesVersion = (tags: string, version: number): boolean =>
  tags.split(",").some((candidate) => {
    const tag = candidate.trim();
    return tag === "*" || tag.replace(/^W\//, "").replace(/^"(.*)"$/, "$1") === String(version);
  });

/**
 * Call it inside the transaction that changes the resource. A missing or blank header has no effect.
 * @throws ScimError 412
 */
export function requireVersion(ifMatch: string | undefined, version: number): void {
  if (ifMatch === undefined || ifMatch.trim() === "" || namesVersion(ifMatch, version)) return;
  throw new ScimError(
    412,
    undefined,
    "If-Match does not match the current version; read the resource again and retry",
  );
}

/** The content of a list response: one page of resources, each as JSON text. */
export interface ListParts {
  /** number of all matches, on every page */
  totalResults: number;
  /** 1-based, as applied */
  startIndex: number;
  resources: readonly string[];
}

/** `Resources` is present even if it is empty, because some providers fail without it. */
const listStart = ({ totalResults, startIndex, resources }: ListParts): string =>
  `{"schemas":["${LIST_RESPONSE}"],"totalResults":${totalResults},"startIndex":${startIndex},` +
  `"itemsPerPage":${resources.length},"Resources":[`;

/** @returns JSON text in pieces */
export const listPieces = (parts: ListParts): string[] => [
  listStart(parts),
  ...parts.resources.map((text, at) => (at === 0 ? text : `,${text}`)),
  "]}",
];

/** @returns JSON text in one piece */
export const listResponse = (parts: ListParts): string => `${listStart(parts)}${parts.resources.join()}]}`;

/** @returns JSON text; the status is a text there (RFC 7644 section 3.12) */
export const scimErrorBody = (status: number, scimType: ScimType | undefined, detail: string): string =>
  JSON.stringify({ schemas: [SCIM_ERROR], status: String(status), scimType, detail });

/**
 * @param what name of the message for the error
 * @throws ScimError `invalidSyntax` unless it is an object
 */
export function readObject(raw: unknown, what: string): JsonObject {
  if (!isJsonObject(raw)) throw scimInvalid("invalidSyntax", `${what} must be a JSON object`);
  return raw;
}

/** @returns the members by lower-case name (SCIM-39), in a new map */
export function fieldsOf(object: JsonObject): Map<string, unknown> {
  const fields = new Map<string, unknown>();
  for (const [name, value] of Object.entries(object)) fields.set(name.toLowerCase(), value);
  return fields;
}

/**
 * Checks the `schemas` of a message: an absent one is accepted, and URNs other than the expected one are ignored.
 * @param raw the value of `schemas`
 * @param urn of the message or resource; the comparison ignores case
 * @throws ScimError `invalidSyntax`
 * @source SCIM-38
 */
export function requireSchema(raw: unknown, urn: string): void {
  if (raw === undefined || raw === null || raw === "") return;
  const urns: readonly unknown[] = Array.isArray(raw) ? raw : [raw];
  const wanted = urn.toLowerCase();
  if (urns.length === 0 || urns.some((given) => typeof given === "string" && given.toLowerCase() === wanted))
    return;
  throw scimInvalid("invalidSyntax", `schemas must contain ${urn}, or be omitted`);
}
