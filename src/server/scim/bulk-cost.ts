// The rate-limit cost of a bulk request.

import { BULK_OPERATIONS_MAX } from "../../domain/scim/bulk/model.ts";
import { fieldsOf } from "../../domain/scim/messages/messages.ts";
import { isJsonObject } from "../../platform/json/json-object.ts";

/**
 * @returns the number of operations beyond the first, which the request itself pays for; 0 for a bulk request over the limit
 */
export function bulkCost(body: unknown): number {
  const operations = isJsonObject(body) ? fieldsOf(body).get("operations") : undefined;
  const count = Array.isArray(operations) ? operations.length : 0;
  return count > BULK_OPERATIONS_MAX ? 0 : Math.max(0, count - 1);
}
