// What the HTTP face needs of provisioning: the operations that routes call and nothing of how they work.
// The area itself is src/domain/scim.
import type { AskedList, AskedView, ScimCaller, ScimResources } from "../../domain/scim/model.ts";
import type { ResourceTypeName } from "../../domain/scim/wire.ts";

/** A caller, and the token it came with: what a budget belongs to. */
export type TokenHolder = ScimCaller & { tokenId: string };

/** A document that is the same until the configuration changes. */
export interface DiscoveryAnswer {
  json: string;
  /** strong, quotes included */
  etag: string;
  location: string;
}

export interface ScimService {
  users: ScimResources;
  groups: ScimResources;
  search: {
    /** @returns a ListResponse as JSON text @throws ScimError 400 */
    list(caller: ScimCaller, scope: ResourceTypeName | "all", asked: AskedList): string;
  };
  bulk: {
    /** @param body parsed JSON @returns a BulkResponse as JSON text @throws ScimError 400, 413 */
    run(caller: ScimCaller, body: unknown): Promise<string>;
  };
  tokens: {
    /** @param presented undefined where the request has no token @throws ScimError 401, the same for every reason */
    authenticate(presented: string | undefined): TokenHolder;
  };
  discovery: {
    /** @param path below the base, such as `/Schemas` @throws ScimError 400, 403 for a filter, 404 */
    answer(path: string, asked: AskedView & { filter?: string | undefined }): DiscoveryAnswer;
  };
  settings: {
    requestsPerSecond: number;
    requestsBurst: number;
  };
}
