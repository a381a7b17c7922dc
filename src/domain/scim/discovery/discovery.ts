// Answers the discovery paths: lists and single documents, projected to the requested attributes. discovery-documents.ts has
// the content; the HTTP interface handles conditional requests and methods.

import { ScimError } from "../errors.ts";
import { listResponse } from "../messages/messages.ts";
import { type RequestedNames, readRequestedNames } from "../messages/view.ts";
import type { ViewParameters } from "../model.ts";
import { SCIM_BASE_PATH } from "../wire.ts";
import {
  DISCOVERY_PATHS,
  type DiscoveryDocument,
  type DiscoverySettings,
  type JsonObject,
  type JsonValue,
  schemaDocuments,
  serviceDocument,
  strongTag,
  typeDocuments,
} from "./discovery-documents.ts";

interface DiscoveryParameters extends ViewParameters {
  /** unparsed; any filter is refused here */
  filter?: string | undefined;
}

export interface DiscoveryResponse {
  /** JSON text */
  json: string;
  /** strong, including quotes */
  etag: string;
  /** absolute URL */
  location: string;
}

export interface Discovery {
  /**
   * @param path below the base without a trailing slash, such as `/Schemas` or `/ResourceTypes/User`
   * @throws ScimError 403 for a filter, 404 for an unknown path, 400 invalidValue for the attributes
   * @source RFC 7644 section 4, SCIM-112 to SCIM-116
   */
  answer(path: string, parameters: DiscoveryParameters): DiscoveryResponse;
}

/** @returns discovery of one configuration; the documents are created on first use */
export function createDiscovery(settings: DiscoverySettings): Discovery {
  let catalog: Catalog | undefined;
  return {
    answer(path, parameters) {
      const baseUrl = settings.baseUrl();
      if (catalog?.baseUrl !== baseUrl) catalog = { baseUrl, found: documentsByPath(settings) };
      const found = catalog.found.get(keyOf(path));
      if (parameters.filter !== undefined)
        throw new ScimError(403, undefined, "filter is not allowed here; leave it out to get the whole list");
      if (!found) throw new ScimError(404, undefined, "no such schema, resource type or path");
      const json = textOf(found, readRequestedNames(parameters));
      const etag = "etag" in found ? found.etag : strongTag(json);
      return { json, etag, location: `${baseUrl}${SCIM_BASE_PATH}${path}` };
    },
  };
}

/** One document, or all documents of one kind. */
type Found = DiscoveryDocument | readonly DiscoveryDocument[];
interface Catalog {
  baseUrl: string;
  found: ReadonlyMap<string, Found>;
}

/** The URN of a schema is found in any letter case (SCIM-39); other paths are exact. */
const keyOf = (path: string): string =>
  path.startsWith(`${DISCOVERY_PATHS.schemas}/`)
    ? DISCOVERY_PATHS.schemas + path.slice(DISCOVERY_PATHS.schemas.length).toLowerCase()
    : path;

function documentsByPath(settings: DiscoverySettings): ReadonlyMap<string, Found> {
  const baseUrl = settings.baseUrl();
  const types = typeDocuments(baseUrl);
  const schemas = schemaDocuments(baseUrl);
  return new Map<string, Found>([
    [DISCOVERY_PATHS.types, types],
    [DISCOVERY_PATHS.schemas, schemas],
    ...[serviceDocument(settings), ...types, ...schemas].map((one): [string, Found] => [
      keyOf(one.path),
      one,
    ]),
  ]);
}

function textOf(found: Found, names: RequestedNames): string {
  if ("body" in found) return JSON.stringify(cut(found.body, names));
  const resources = found.map(({ body }) => JSON.stringify(cut(body, names)));
  return listResponse({ totalResults: resources.length, startIndex: 1, resources });
}

const ALWAYS_SHOWN = ["schemas", "id"];
const lower = (name: string): string => name.toLowerCase();

/** No attribute table describes these documents, so names are matched literally, in any letter case, separated by dots. */
function cut(body: JsonObject, { attributes, excludedAttributes }: RequestedNames): JsonValue | undefined {
  if (attributes) return only(body, new Set([...ALWAYS_SHOWN, ...attributes.map(lower)]), "");
  const names = excludedAttributes?.map(lower).filter((name) => !ALWAYS_SHOWN.includes(name));
  return names ? without(body, new Set(names), "") : body;
}

function only(value: JsonValue, names: ReadonlySet<string>, prefix: string): JsonValue | undefined {
  if (typeof value !== "object") return undefined;
  if (isList(value)) {
    const kept = value.flatMap((element) => only(element, names, prefix) ?? []);
    return kept.length > 0 ? kept : undefined;
  }
  const kept = Object.entries(value).flatMap(([name, part]): [string, JsonValue][] => {
    const path = prefix + lower(name);
    const shown = names.has(path) ? part : only(part, names, `${path}.`);
    return shown === undefined ? [] : [[name, shown]];
  });
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

function without(value: JsonValue, names: ReadonlySet<string>, prefix: string): JsonValue {
  if (typeof value !== "object") return value;
  if (isList(value)) return value.map((element) => without(element, names, prefix));
  const kept = Object.entries(value).filter(([name]) => !names.has(prefix + lower(name)));
  return Object.fromEntries(
    kept.map(([name, part]) => [name, without(part, names, `${prefix}${lower(name)}.`)]),
  );
}

// Array.isArray alone does not narrow read-only lists.
const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);
