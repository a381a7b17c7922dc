// The parts of a parsed bulk request, and its limits. request.ts parses it.
import type { JsonObject } from "../../../platform/json/json-object.ts";
import type { ScimError } from "../errors.ts";
import type { ResourceTypeName } from "../wire.ts";

/** maximum number of operations in one request */
export const BULK_OPERATIONS_MAX = 1_000;
/** maximum bytes of one request; the reader of the body counts them */
export const BULK_PAYLOAD_BYTES_MAX = 1_048_576;

/** GET is not allowed in a bulk request, but it fails only its own operation. */
export const BULK_METHODS = ["POST", "PUT", "PATCH", "DELETE", "GET"] as const;
export type BulkMethod = (typeof BULK_METHODS)[number];

/** The target of a path below the base. */
export interface BulkTarget {
  type: ResourceTypeName;
  /** may be a reference; empty for all resources of the type */
  id: string;
}

export interface BulkOperation {
  method: BulkMethod;
  bulkId: string | undefined;
  /** undefined if a bulk request cannot change the target; then `refusal` is set */
  target: BulkTarget | undefined;
  /** used as If-Match */
  version: string | undefined;
  data: JsonObject | undefined;
  /** why it must fail in any state */
  refusal: ScimError | undefined;
}

export interface BulkRequest {
  operations: readonly BulkOperation[];
  /** number of failures after which no further operation is attempted; infinite to attempt all */
  failuresMax: number;
}
