// What a bulk request takes from its caller's budget (scim.md SCIM-8).

import { BULK_OPERATIONS_MAX } from "../../domain/scim/bulk/model.ts";
import { fieldsOf } from "../../domain/scim/messages/envelope.ts";
import { isJsonObject } from "../../platform/text/json-object.ts";

/** @returns operations beyond the first, which the request itself paid for; none of a request too large to be carried out */
export function bulkCost(body: unknown): number {
  const operations = isJsonObject(body) ? fieldsOf(body).get("operations") : undefined;
  const count = Array.isArray(operations) ? operations.length : 0;
  return count > BULK_OPERATIONS_MAX ? 0 : Math.max(0, count - 1);
}
