// The discovery documents: the service document, resource types and schemas, generated from the attribute table. discovery.ts
// finds and projects them.
import { sha256Hex } from "../../../platform/ids.ts";
import { BULK_OPERATIONS_MAX, BULK_PAYLOAD_BYTES_MAX } from "../bulk/model.ts";
import type { ScimSettings } from "../model.ts";
import { type Attribute, RESOURCE_TYPE, type ResourceType, type Schema } from "../schema/schema.ts";
import { ENDPOINTS, SCIM_BASE_PATH } from "../wire.ts";

const schemaUrn = <Name extends string>(name: Name) =>
  `urn:ietf:params:scim:schemas:core:2.0:${name}` as const;

/** Paths below the base. */
export const DISCOVERY_PATHS = {
  service: "/ServiceProviderConfig",
  types: "/ResourceTypes",
  schemas: "/Schemas",
} as const;

export type JsonValue = string | number | boolean | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** A discovery document; it changes only with the build or the configuration. */
export interface DiscoveryDocument {
  /** below the base, such as `/ResourceTypes/User` */
  path: string;
  /** strong, including quotes; also `meta.version` */
  etag: string;
  body: JsonObject;
}

export type DiscoverySettings = Pick<ScimSettings, "baseUrl" | "pageMax">;

/** The entity tag covers the rest of the document. */
function documentAt(
  path: string,
  { baseUrl, type, body }: { baseUrl: string; type: string; body: JsonObject },
): DiscoveryDocument {
  const described = { schemas: [schemaUrn(type)], ...body };
  const location = `${baseUrl}${SCIM_BASE_PATH}${path}`;
  const etag = strongTag(JSON.stringify([location, described]));
  return { path, etag, body: { ...described, meta: { resourceType: type, location, version: etag } } };
}

/** @returns a strong entity tag of the text, including quotes */
export const strongTag = (text: string): string => `"${sha256Hex(text).slice(0, 32)}"`;

/**
 * @returns the supported parts of the protocol, all of which are tested
 * @source RFC 7643 section 5, SCIM-112
 */
export function serviceDocument(settings: DiscoverySettings): DiscoveryDocument {
  const baseUrl = settings.baseUrl();
  const body = {
    documentationUri: `${baseUrl}/openapi.json`,
    patch: { supported: true },
    bulk: { supported: true, maxOperations: BULK_OPERATIONS_MAX, maxPayloadSize: BULK_PAYLOAD_BYTES_MAX },
    filter: { supported: true, maxResults: settings.pageMax },
    changePassword: { supported: false },
    sort: { supported: true },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: "oauthbearertoken",
        name: "Bearer token",
        description:
          "A token made with `quartermaster scim tokens create`, sent as Authorization: Bearer <token>.",
        specUri: "https://www.rfc-editor.org/info/rfc6750",
        primary: true,
      },
    ],
  };
  return documentAt(DISCOVERY_PATHS.service, { baseUrl, type: "ServiceProviderConfig", body });
}

/** @returns the resource types @source RFC 7643 section 6, SCIM-113 */
export const typeDocuments = (baseUrl: string): readonly DiscoveryDocument[] =>
  Object.values(RESOURCE_TYPE).map((type) =>
    documentAt(`${DISCOVERY_PATHS.types}/${type.name}`, {
      baseUrl,
      type: "ResourceType",
      body: typeBody(type),
    }),
  );

const typeBody = ({ name, description, core, extensions }: ResourceType): JsonObject => ({
  id: name,
  name,
  description,
  endpoint: ENDPOINTS[name],
  schema: core.id,
  ...(extensions.length > 0 && {
    schemaExtensions: extensions.map(({ id }) => ({ schema: id, required: false })),
  }),
});

/** @returns the schemas, without the attributes that every resource has @source RFC 7643 section 7, SCIM-114 */
export const schemaDocuments = (baseUrl: string): readonly DiscoveryDocument[] =>
  Object.values(RESOURCE_TYPE)
    .flatMap(({ core, extensions }) => [core, ...extensions])
    .map((schema) =>
      documentAt(`${DISCOVERY_PATHS.schemas}/${schema.id}`, {
        baseUrl,
        type: "Schema",
        body: schemaBody(schema),
      }),
    );

const schemaBody = ({ id, name, description, attributes }: Schema): JsonObject => ({
  id,
  name,
  description,
  attributes: attributes.map(attributeBody),
});

/** The characteristics of RFC 7643; limits and filter support are ours. */
const attributeBody = (attribute: Attribute): JsonObject => ({
  name: attribute.name,
  type: attribute.type,
  multiValued: attribute.multiValued,
  description: attribute.description,
  required: attribute.required,
  ...(attribute.canonicalValues && { canonicalValues: attribute.canonicalValues }),
  caseExact: attribute.caseExact,
  mutability: attribute.mutability,
  returned: attribute.returned,
  uniqueness: attribute.uniqueness,
  ...(attribute.referenceTypes && { referenceTypes: attribute.referenceTypes }),
  ...(attribute.subAttributes && { subAttributes: attribute.subAttributes.map(attributeBody) }),
});
