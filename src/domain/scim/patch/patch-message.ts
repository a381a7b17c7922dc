// The PATCH message: which operations there are, in which order. What a path means and what a value does is not known
// here; refusals say which operation they are about.
import { isJsonObject } from "../../../platform/text/json-object.ts";
import { ScimError, scimInvalid } from "../errors.ts";
import { fieldsOf, readObject, requireSchema } from "../messages/envelope.ts";
import { invalidValue } from "../schema/values.ts";
import { PATCH_OP } from "../wire.ts";

export const PATCH_OPERATIONS_MAX = 10_000;

const PATCH_OPS = ["add", "replace", "remove"] as const;

/** What happens to one target. */
export interface Change {
  readonly op: (typeof PATCH_OPS)[number];
  /** parsed JSON; undefined when none was sent, which only a removal may do */
  readonly value: unknown;
}

export interface Operation extends Change {
  /** undefined when the value names its targets */
  readonly path: string | undefined;
}

/**
 * Reads the message and carries out its operations in order.
 * @throws ScimError `invalidSyntax` for a malformed message, 413 for too many operations; and what `carryOut` throws, with the
 *   index of the operation, counted from 0
 * @source RFC 7644 section 3.5.2; SCIM-80, SCIM-82
 */
export function forEachOperation(body: unknown, carryOut: (operation: Operation) => void): void {
  const fields = fieldsOf(readObject(body, "the PATCH message"));
  requireSchema(fields.get("schemas"), PATCH_OP);
  const operations: unknown = fields.get("operations");
  if (!Array.isArray(operations) || operations.length === 0)
    throw scimInvalid("invalidSyntax", "Operations must be a list of one operation or more");
  if (operations.length > PATCH_OPERATIONS_MAX)
    throw new ScimError(
      413,
      undefined,
      `Operations can be ${PATCH_OPERATIONS_MAX} at most; send the rest apart`,
    );
  for (const [index, raw] of operations.entries()) {
    try {
      carryOut(readOperation(raw));
    } catch (error) {
      if (!(error instanceof ScimError)) throw error;
      throw new ScimError(error.status, error.scimType, `Operations[${index}]: ${error.message}`);
    }
  }
}

function readOperation(raw: unknown): Operation {
  if (!isJsonObject(raw)) throw scimInvalid("invalidSyntax", "must be an object with op, path and value");
  const fields = fieldsOf(raw);
  const sent = fields.get("op");
  const op = PATCH_OPS.find((known) => typeof sent === "string" && sent.toLowerCase() === known);
  if (!op) throw scimInvalid("invalidSyntax", `op must be ${PATCH_OPS.join(", ")}`);
  const value = fields.get("value");
  if (op !== "remove" && value === undefined)
    throw invalidValue(`value is missing; ${op} needs one, and null to unassign`);
  return { op, path: readPath(fields.get("path")), value };
}

function readPath(path: unknown): string | undefined {
  if (path === undefined || path === null || path === "") return undefined;
  if (typeof path !== "string") throw scimInvalid("invalidPath", "path must be text");
  return path;
}
