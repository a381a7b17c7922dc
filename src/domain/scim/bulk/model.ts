// What a bulk request is made of, once it was read, and how large it may be. How it is read: request.ts.
import type { JsonObject } from "../../../platform/text/json-object.ts";
import type { ScimError } from "../errors.ts";
import type { ResourceTypeName } from "../wire.ts";

/** operations of one request */
export const BULK_OPERATIONS_MAX = 1_000;
/** bytes of one request; whoever reads the body counts them */
export const BULK_PAYLOAD_BYTES_MAX = 1_048_576;

/** GET has no place in a bulk request, but asking for it spoils only its own operation. */
export const BULK_METHODS = ["POST", "PUT", "PATCH", "DELETE", "GET"] as const;
export type BulkMethod = (typeof BULK_METHODS)[number];

/** What a path below the base names. */
export interface BulkTarget {
  type: ResourceTypeName;
  /** may be a reference; empty for all resources of the type */
  id: string;
}

export interface BulkOperation {
  method: BulkMethod;
  bulkId: string | undefined;
  /** undefined when the path names nothing that a bulk request may change; then there is a refusal */
  target: BulkTarget | undefined;
  /** goes as If-Match */
  version: string | undefined;
  data: JsonObject | undefined;
  /** why it must fail whatever there is */
  refusal: ScimError | undefined;
}

export interface BulkRequest {
  operations: readonly BulkOperation[];
  /** failures after which no further operation is attempted; infinite when all are to be tried */
  failuresMax: number;
}
