// Parses a bulk message. Structural errors refuse the whole request and are reported together. An error in the target of an
// operation fails only that operation.
import { isJsonObject } from "../../../platform/json/json-object.ts";
import { quoted } from "../../../platform/text/problem-list.ts";
import { ScimError, scimInvalid } from "../errors.ts";
import { fieldsOf, readObject, requireSchema } from "../messages/messages.ts";
import { BULK_REQUEST, ENDPOINTS, RESOURCE_TYPES } from "../wire.ts";
import {
  BULK_METHODS,
  BULK_OPERATIONS_MAX,
  type BulkMethod,
  type BulkOperation,
  type BulkRequest,
  type BulkTarget,
} from "./model.ts";

/** maximum number of reported problems of one request; the rest is counted */
const PROBLEMS_MAX = 10;

/**
 * @param body parsed JSON
 * @throws ScimError 400 `invalidSyntax` with all problems; 413 for too many operations
 * @source RFC 7644 section 3.7; SCIM-101, SCIM-102 and SCIM-105
 */
export function readBulk(body: unknown): BulkRequest {
  const fields = fieldsOf(readObject(body, "a bulk request"));
  requireSchema(fields.get("schemas"), BULK_REQUEST);
  const listed = fields.get("operations");
  if (!Array.isArray(listed) || listed.length === 0)
    throw scimInvalid("invalidSyntax", "Operations must list at least one operation");
  if (listed.length > BULK_OPERATIONS_MAX)
    throw new ScimError(
      413,
      undefined,
      `${listed.length} operations are too many; send at most ${BULK_OPERATIONS_MAX} in one request`,
    );
  const problems: string[] = [];
  const failuresMax = readFailuresMax(fields.get("failonerrors"), problems);
  const operations = listed.map((operation, at) => readOperation(operation, `Operations[${at}]`, problems));
  checkBulkIds(operations, problems);
  if (problems.length > 0) throw scimInvalid("invalidSyntax", textOf(problems));
  return { operations: operations.filter((operation) => operation !== undefined), failuresMax };
}

const textOf = (problems: readonly string[]): string => {
  const more = problems.length - PROBLEMS_MAX;
  return [...problems.slice(0, PROBLEMS_MAX), ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
};

function readFailuresMax(raw: unknown, problems: string[]): number {
  if (raw === undefined || raw === null) return Number.POSITIVE_INFINITY;
  if (typeof raw === "number" && Number.isInteger(raw) && raw >= 1) return raw;
  problems.push("failOnErrors must be a whole number of at least 1");
  return 1;
}

function readOperation(operation: unknown, at: string, problems: string[]): BulkOperation | undefined {
  if (!isJsonObject(operation)) {
    problems.push(`${at} must be an object`);
    return undefined;
  }
  const fields = fieldsOf(operation);
  const text = (name: string): string | undefined => {
    const value = fields.get(name.toLowerCase()) ?? undefined;
    if (value === undefined || typeof value === "string") return value;
    problems.push(`${at}.${name} must be text`);
    return undefined;
  };
  const found = problems.length;
  const method = readMethod(text("method"));
  const [path, bulkId, version] = [text("path"), text("bulkId"), text("version")];
  const data = fields.get("data") ?? undefined;
  if (!method) problems.push(`${at}.method must be POST, PUT, PATCH or DELETE`);
  if (!path)
    problems.push(`${at}.path must be /Users or /Groups, followed by the id of an existing resource`);
  if (method === "POST" && !bulkId) problems.push(`${at}.bulkId is required for POST`);
  if (data === undefined ? takesData(method) : !isJsonObject(data))
    problems.push(`${at}.data must be an object`);
  if (!method || problems.length > found) return undefined;
  const target = readTarget(path ?? "");
  return {
    method,
    bulkId,
    target,
    version,
    data: isJsonObject(data) ? data : undefined,
    refusal: refusalOf(method, target),
  };
}

const readMethod = (text: string | undefined): BulkMethod | undefined =>
  BULK_METHODS.find((method) => method === text?.toUpperCase());

const takesData = (method: BulkMethod | undefined): boolean =>
  method === "POST" || method === "PUT" || method === "PATCH";

/** One trailing slash is accepted, as everywhere below the base. */
function readTarget(path: string): BulkTarget | undefined {
  const [, endpoint, id = ""] = /^(\/[^/]+)(?:\/([^/]+))?\/?$/.exec(path) ?? [];
  const type = RESOURCE_TYPES.find((name) => ENDPOINTS[name] === endpoint);
  return type && { type, id };
}

function refusalOf(method: BulkMethod, target: BulkTarget | undefined): ScimError | undefined {
  if (method === "GET")
    return scimInvalid(
      "invalidSyntax",
      "GET is not allowed in a bulk request; send it as a separate request",
    );
  if (!target)
    return new ScimError(404, undefined, "the path of a bulk operation must begin with /Users or /Groups");
  if (method === "POST" && target.id !== "")
    return scimInvalid("invalidSyntax", "POST creates a resource: use /Users or /Groups without an id");
  if (method !== "POST" && target.id === "")
    return scimInvalid("invalidSyntax", `${method} changes one resource: add its id to the path`);
  return undefined;
}

function checkBulkIds(operations: readonly (BulkOperation | undefined)[], problems: string[]): void {
  const seen = new Set<string>();
  for (const operation of operations) {
    if (operation?.method !== "POST" || operation.bulkId === undefined) continue;
    const { bulkId } = operation;
    if (seen.has(bulkId))
      problems.push(`bulkId ${quoted(bulkId)} is used by two operations; it must be unique`);
    seen.add(bulkId);
  }
}
