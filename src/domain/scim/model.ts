// Types that the parts of the area share: resources as documents, callers, requests and responses. schema.ts has the table of
// attributes.
import type { Actor } from "../shared/actor.ts";
import type { ResourceTypeName } from "./wire.ts";

/** A value in a document: canonical names, only assigned values; never null, never an empty list or text. */
export type ScimValue = string | boolean | readonly ScimValue[] | ScimObject;
export interface ScimObject {
  readonly [name: string]: ScimValue;
}

/** `entra`: a replace whose value filter matches nothing acts like an add (SCIM-75). Nothing else differs. */
export const SCIM_PROFILES = ["standard", "entra"] as const;
export type ScimProfile = (typeof SCIM_PROFILES)[number];

/** The caller: one token of an identity provider. */
export interface ScimCaller {
  /** kind `scim`, label `scim:<token label>` */
  actor: Actor;
  profile: ScimProfile;
}

/** The requested attributes of a response; giving both is refused (RFC 7644 section 3.9). */
export interface ViewParameters {
  attributes?: readonly string[] | undefined;
  excludedAttributes?: readonly string[] | undefined;
}

/** An unparsed list request: texts from a query, JSON values from a search message. */
export interface ListParameters extends ViewParameters {
  filter?: string | undefined;
  sortBy?: string | undefined;
  sortOrder?: string | undefined;
  startIndex?: string | number | undefined;
  count?: string | number | undefined;
}

/** The other parts of a change request: the attributes to return, and the unparsed `If-Match`. */
export interface ChangeParameters extends ViewParameters {
  ifMatch?: string | undefined;
}

export interface ScimResponse {
  type: ResourceTypeName;
  id: string;
  /** revision; the entity tag is `W/"<version>"` */
  version: number;
  /** absolute URL */
  location: string;
  /** JSON text, in pieces if it is large; undefined if the caller has this version or patched a group */
  json: string | AsyncIterable<string> | undefined;
}

/** The operations on one type of resource, the same for users and groups. `body` is parsed JSON. */
export interface ScimResources {
  /** @throws ScimError 404 */
  get(
    caller: ScimCaller,
    id: string,
    parameters: ViewParameters & { ifNoneMatch?: string | undefined },
  ): ScimResponse;
  /** @throws ScimError 400, 409 */
  create(caller: ScimCaller, body: unknown, parameters: ViewParameters): Promise<ScimResponse>;
  /** @throws ScimError 400, 404, 409, 412 */
  replace(
    caller: ScimCaller,
    id: string,
    change: ChangeParameters & { body: unknown },
  ): Promise<ScimResponse>;
  /** @throws ScimError 400, 404, 409, 412, 413 */
  patch(caller: ScimCaller, id: string, change: ChangeParameters & { body: unknown }): Promise<ScimResponse>;
  /** @throws ScimError 404, 412 */
  remove(caller: ScimCaller, id: string, change: { ifMatch?: string | undefined }): Promise<void>;
}

export interface ScimSettings {
  /** origin under which providers reach us, without a trailing slash */
  baseUrl(): string;
  /** whether a create links the local account of the same address */
  linkExisting: "by_address" | "never";
  /** maximum number of resources on one page */
  pageMax: number;
  /** maximum number of rows that a filter without an index may read */
  scanRowsMax: number;
  /** request rate of one token: sustained per second, and burst */
  requestsPerSecond: number;
  requestsBurst: number;
  /** role by group display name, or by `externalId:<value>`; other groups give `member` */
  groupRoleMappings: Readonly<Record<string, "admin" | "member">>;
}

/** The parts of a provisioned user that rendering needs. */
export interface UserRow {
  /** identifies the user in other tables */
  sequence: number;
  id: string;
  version: number;
  createdAtMs: number;
  updatedAtMs: number;
  /** JSON text of the resource's own attributes, in the order in which they are shown */
  doc: string;
}

export interface GroupRow {
  id: string;
  externalId: string | null;
  displayName: string;
  memberCount: number;
  version: number;
  createdAtMs: number;
  updatedAtMs: number;
}

/** A resource to which another one refers, with its shown parts. */
export interface Named {
  id: string;
  /** null if it has no name to show */
  display: string | null;
}
