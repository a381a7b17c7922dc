// Names that identity providers send and read, exactly as RFC 7643 and RFC 7644 spell them.

export const SCIM_BASE_PATH = "/scim/v2";

export const CORE_USER = "urn:ietf:params:scim:schemas:core:2.0:User";
export const CORE_GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group";
export const ENTERPRISE_USER = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";

const message = <Name extends string>(name: Name) => `urn:ietf:params:scim:api:messages:2.0:${name}` as const;

export const LIST_RESPONSE = message("ListResponse");
export const SEARCH_REQUEST = message("SearchRequest");
export const PATCH_OP = message("PatchOp");
export const BULK_REQUEST = message("BulkRequest");
export const BULK_RESPONSE = message("BulkResponse");
export const SCIM_ERROR = message("Error");

export const RESOURCE_TYPES = ["User", "Group"] as const;
export type ResourceTypeName = (typeof RESOURCE_TYPES)[number];

/** Path below the base of all resources of a type. */
export const ENDPOINTS = { User: "/Users", Group: "/Groups" } as const;
