// The operations of a PATCH message in order: the action and the target attributes, named by the path or by the members of the
// value. Refuses names that must not be changed, and skips ineffective ones (SCIM-41, SCIM-77). Errors name the operation.

import { isJsonObject } from "../../../platform/json/json-object.ts";
import type { Steps } from "../../../platform/steps.ts";
import { ScimError, scimInvalid } from "../errors.ts";
import type { PatchTarget } from "../filter/model.ts";
import { parseTarget } from "../filter/parse.ts";
import { fieldsOf, readObject, requireSchema } from "../messages/messages.ts";
import type { ScimProfile } from "../model.ts";
import { isSettable, pathText, type ResolvedPath, resolvePath } from "../schema/attribute-path.ts";
import { invalidValue, readAllInSteps, requireSingle } from "../schema/values.ts";
import { PATCH_OP, type ResourceTypeName } from "../wire.ts";

export const PATCH_OPERATIONS_MAX = 10_000;

const PATCH_OPS = ["add", "replace", "remove"] as const;

/** The action on one target. */
export interface Change {
  readonly op: (typeof PATCH_OPS)[number];
  /** parsed JSON; undefined only for a removal without a value */
  readonly value: unknown;
}

export interface Operation extends Change {
  /** undefined if the operation has no path; then the members of the value name the targets */
  readonly path: string | undefined;
}

/**
 * Parses the message and executes its operations in order.
 * @throws ScimError `invalidSyntax` for a malformed message, 413 for too many operations; errors of `carryOut`, with the index
 *   of the operation, counted from 0
 * @source RFC 7644 section 3.5.2; SCIM-80, SCIM-82
 */
export function* forEachOperation(
  body: unknown,
  carryOut: (operation: Operation) => Steps<void> | undefined,
): Steps<void> {
  const fields = fieldsOf(readObject(body, "the PATCH message"));
  requireSchema(fields.get("schemas"), PATCH_OP);
  const operations: unknown = fields.get("operations");
  if (!Array.isArray(operations) || operations.length === 0)
    throw scimInvalid("invalidSyntax", "Operations must be a list of at least one operation");
  if (operations.length > PATCH_OPERATIONS_MAX)
    throw new ScimError(
      413,
      undefined,
      `Operations can have at most ${PATCH_OPERATIONS_MAX} entries; send the rest in another request`,
    );
  for (const [index, raw] of operations.entries()) {
    try {
      const steps = carryOut(readOperation(raw));
      if (steps) yield* steps;
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
    throw invalidValue(`value is missing; ${op} requires one; null removes the attribute`);
  return { op, path: readPath(fields.get("path")), value };
}

function readPath(path: unknown): string | undefined {
  if (path === undefined || path === null || path === "") return undefined;
  if (typeof path !== "string") throw scimInvalid("invalidPath", "path must be text");
  return path;
}

/** The patched resource type, and the provider's dialect. */
export interface Patched {
  readonly id: string;
  readonly profile: ScimProfile;
}

export interface Step {
  readonly target: PatchTarget;
  readonly change: Change;
}

interface Receiver {
  readonly type: ResourceTypeName;
  readonly id: string;
  /** @returns the remaining steps of a change to many members */
  carryOut(step: Step): Steps<void> | undefined;
}

/**
 * Executes the operation, which may have no effect.
 * @throws ScimError `noTarget`, `invalidPath`, `invalidValue`, `mutability`; errors of `carryOut`, which for a value without a path
 * are all of its problems
 */
export const eachStep = ({ path, ...change }: Operation, receiver: Receiver): Steps<void> | undefined =>
  path === undefined ? eachMember(change, receiver) : atPath(targetOf(receiver.type, path), change, receiver);

const plainTarget = (path: ResolvedPath): PatchTarget => ({ path, elements: undefined, sub: path.sub });

/** Most paths are a plain attribute name. Only other paths are parsed. */
function targetOf(type: ResourceTypeName, text: string): PatchTarget {
  const path = resolvePath(type, text);
  return path ? plainTarget(path) : parseTarget(type, text);
}

function* eachMember({ op, value }: Change, receiver: Receiver): Steps<void> {
  if (op === "remove") throw scimInvalid("noTarget", "remove requires a path");
  const sent = requireSingle(value, "value");
  if (!isJsonObject(sent)) throw invalidValue("value must be an object of attributes if path is omitted");
  yield* readAllInSteps(Object.entries(sent), ([name, part]) =>
    atMember(name, { op, value: part }, receiver),
  );
}

function atPath(target: PatchTarget, change: Change, { carryOut }: Receiver): Steps<void> | undefined {
  const { attribute } = target.path;
  const isIgnored =
    attribute?.mutability === "writeOnly" || (attribute?.name === "schemas" && change.op !== "remove");
  if (isSettable(target.path)) return carryOut({ target, change });
  if (!isIgnored) throw notSettable(target.path);
  return undefined;
}

function atMember(name: string, change: Change, { type, id, carryOut }: Receiver): Steps<void> | undefined {
  const path = resolvePath(type, name.split("[", 1)[0] ?? name);
  if (!path) return undefined;
  const target = name.includes("[") ? parseTarget(type, name) : plainTarget(path);
  const { attribute, sub } = target.path;
  const isOtherId = attribute?.name === "id" && change.value !== id;
  if (isSettable(target.path)) return carryOut({ target, change });
  if (isOtherId || sub?.mutability === "immutable") throw notSettable(target.path);
  return undefined;
}

const notSettable = (path: ResolvedPath): ScimError =>
  scimInvalid("mutability", `${pathText(path)} cannot be changed; omit it`);
