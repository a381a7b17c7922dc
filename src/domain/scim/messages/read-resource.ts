// Bodies of POST and PUT: parses a user's document, or the parts of a group. Unknown and computed attributes are ignored. users
// and groups check whether names are free and members exist.

import { isJsonObject, type JsonObject } from "../../../platform/json/json-object.ts";
import type { Steps } from "../../../platform/steps.ts";
import { SentMembers } from "../groups/member-intake.ts";
import type { ScimObject } from "../model.ts";
import { assignNamed } from "../patch/assign.ts";
import { readMemberIds } from "../patch/member-ids.ts";
import { resolvePath } from "../schema/attribute-path.ts";
import { arrangedUser } from "../schema/document.ts";
import { invalidValue, readAll, readAllInSteps, readSimple } from "../schema/values.ts";
import { ADDRESS_NEEDED, findAddress } from "../users/emails.ts";
import { CORE_GROUP, CORE_USER, ENDPOINTS, RESOURCE_TYPES, type ResourceTypeName } from "../wire.ts";
import { fieldsOf, readObject, requireSchema } from "./messages.ts";

export interface SentUser {
  /** complete; `active` is true in it if the body has none */
  readonly doc: ScimObject;
  /** undefined if the body has none: a create assumes true, a replacement keeps it (SCIM-92) */
  readonly active: boolean | undefined;
}

/**
 * @param body parsed JSON
 * @throws ScimError `invalidSyntax`, `invalidValue`
 * @source RFC 7643 sections 4.1 and 4.3; SCIM-31, SCIM-37 to SCIM-42
 */
export function readUser(body: unknown): SentUser {
  let sent: ScimObject = {};
  readAll(Object.entries(readResource(body, "User")), ([name, value]) => {
    sent = assignNamed(sent, name, { op: "replace", value });
  });
  const doc = arrangedUser({ active: true, ...sent });
  checkUser(doc);
  return { doc, active: typeof sent.active === "boolean" ? sent.active : undefined };
}

/**
 * Checks the required parts of a user's document, whatever produced it; each value was checked when it was parsed.
 * @throws ScimError `invalidValue`
 * @source RFC 7643 section 4.1; SCIM-13
 */
export function checkUser(doc: ScimObject): void {
  const problems = doc.userName === undefined ? ["userName is missing or blank"] : [];
  if (findAddress(doc) === undefined) problems.push(ADDRESS_NEEDED);
  if (problems.length > 0) throw invalidValue(problems.join("; "));
}

export interface SentGroup {
  readonly displayName: string;
  readonly externalId: string | undefined;
  /** ids, each once, or the users of a long list; undefined if the body has none */
  readonly members: readonly string[] | SentMembers | undefined;
}

/**
 * @param body parsed JSON
 * @throws ScimError `invalidSyntax`, `invalidValue`
 * @source RFC 7643 section 4.2; SCIM-27, SCIM-30, SCIM-31, SCIM-37 to SCIM-42
 */
export function* readGroup(body: unknown): Steps<SentGroup> {
  const texts = new Map<string, string>();
  let members: SentGroup["members"];
  yield* readAllInSteps(Object.entries(readResource(body, "Group")), function* ([name, value]): Steps<void> {
    const path = resolvePath("Group", name);
    if (path?.attribute === undefined || path.sub) return;
    const { attribute } = path;
    if (attribute.name === "members") members = yield* readMembers(value, attribute.name);
    if (attribute.type !== "string" || attribute.mutability !== "readWrite") return;
    const text = readSimple(value, { attribute, name: attribute.name });
    if (typeof text === "string") texts.set(attribute.name, text);
  });
  const displayName = texts.get("displayName");
  if (displayName === undefined) throw invalidValue("displayName is missing or blank");
  return { displayName, externalId: texts.get("externalId"), members };
}

function* readMembers(value: unknown, name: string): Steps<readonly string[] | SentMembers> {
  if (!(value instanceof SentMembers)) return yield* readMemberIds(value, name);
  value.requireIds();
  return value;
}

const CORE_URN = { User: CORE_USER, Group: CORE_GROUP } as const;

function readResource(body: unknown, type: ResourceTypeName): JsonObject {
  const object = readObject(body, `a ${type}`);
  requireSchema(fieldsOf(object).get("schemas"), CORE_URN[type]);
  return object;
}

/**
 * Unknown attributes are ignored and counted, so that an operator can see why a sent value is absent (SCIM-41). Known names that
 * cannot be set, such as `id`, are not counted.
 * @param method in any letter case
 * @param body parsed JSON, possibly of the wrong shape
 * @returns how many names of attributes in it are unknown: of a PATCH, in values without a path
 */
export function countIgnored(type: ResourceTypeName, method: string, body: unknown): number {
  if (!isJsonObject(body)) return 0;
  if (method.toUpperCase() !== "PATCH") return unknownNames(type, body);
  return operationsIn(body).reduce((sum, operation) => {
    const value = operation.get("value");
    return sum + (!operation.get("path") && isJsonObject(value) ? unknownNames(type, value) : 0);
  }, 0);
}

/** @returns the same for all operations of a bulk request, one in each step */
export function* countIgnoredInBulk(body: unknown): Steps<number> {
  let sum = 0;
  for (const operation of isJsonObject(body) ? operationsIn(body) : []) {
    const [path, method] = [String(operation.get("path")), String(operation.get("method"))];
    const type = RESOURCE_TYPES.find((name) => path.startsWith(ENDPOINTS[name]));
    if (type) sum += countIgnored(type, method, operation.get("data"));
    yield;
  }
  return sum;
}

function operationsIn(body: JsonObject): ReadonlyMap<string, unknown>[] {
  const list = fieldsOf(body).get("operations");
  return Array.isArray(list) ? list.filter(isJsonObject).map(fieldsOf) : [];
}

function unknownNames(type: ResourceTypeName, object: JsonObject, prefix = ""): number {
  return Object.entries(object).reduce((sum, [name, value]) => {
    const path = resolvePath(type, prefix + name.replace(/\[.*$/s, ""));
    if (!path) return sum + 1;
    const isExtension = path.attribute === undefined && isJsonObject(value);
    return isExtension ? sum + unknownNames(type, value, `${path.extension.id}:`) : sum;
  }, 0);
}
