// Bodies of POST and PUT: parses a user's document, or the parts of a group. Unknown and computed attributes are ignored. users/
// and groups/ check whether names are free and members exist. `assign` changes one attribute by the rules of RFC 7644 section 3.5.2
// for PATCH; a POST or PUT replaces each of its members in an empty document.

import { isJsonObject, type JsonObject } from "../../../platform/json/json-object.ts";
import type { Steps } from "../../../platform/steps.ts";
import { SentMembers } from "../groups/member-intake.ts";
import type { ScimObject, ScimValue } from "../model.ts";
import { changedList, changedSelection } from "../patch/elements.ts";
import { readMemberIds } from "../patch/member-ids.ts";
import type { Change } from "../patch/operations.ts";
import { fieldsWithId, idInReference } from "../patch/user-references.ts";
import {
  type AttributePath,
  isSettable,
  pathText,
  type ResolvedPath,
  resolvePath,
  subAttributeOf,
} from "../schema/attribute-path.ts";
import { arrangedUser, elementsOf, partsOf, withMember } from "../schema/document.ts";
import type { Attribute, Schema } from "../schema/schema.ts";
import {
  invalidValue,
  isUnassigned,
  partsSent,
  readAll,
  readAllInSteps,
  readSimple,
  requiredAttribute,
  requireSingle,
  type Wanted,
} from "../schema/values.ts";
import { ADDRESS_NEEDED, findAddress } from "../users/user-columns.ts";
import { CORE_GROUP, CORE_USER, ENDPOINTS, RESOURCE_TYPES, type ResourceTypeName } from "../wire.ts";
import { fieldsOf, readObject, requireSchema } from "./messages.ts";

export interface SentUser {
  /** complete document; `active` is true if the body has none */
  readonly doc: ScimObject;
  /** undefined if the body has none; a create assumes true, a replacement keeps it (SCIM-92) */
  readonly active: boolean | undefined;
}

/**
 * Changes the target of a name in a body; unknown names and computed attributes are ignored (SCIM-41).
 * @throws ScimError `invalidValue`, `mutability`
 */
function assignNamed(doc: ScimObject, name: string, change: Change): ScimObject {
  const path = resolvePath("User", name);
  return path && isSettable(path) ? assign(doc, path, change) : doc;
}

/**
 * Changes the attribute that a path without brackets names.
 * @throws ScimError `invalidValue`, `mutability` if a required attribute would be removed
 */
export function assign(doc: ScimObject, path: ResolvedPath, change: Change): ScimObject {
  const { extension, attribute } = path;
  if (!attribute) return assignExtension(doc, path.extension, change);
  if (!extension) return withChanged(doc, path, change);
  return withMember(doc, extension.id, withChanged(partsOf(doc[extension.id]), path, change));
}

/** The members of the object are attributes of the extension; the others stay. */
function assignExtension(doc: ScimObject, { id }: Schema, { op, value }: Change): ScimObject {
  if (op === "remove") return withMember(doc, id, undefined);
  const sent = requireSingle(value, id);
  if (isUnassigned(sent)) return op === "add" ? doc : withMember(doc, id, undefined);
  if (!isJsonObject(sent)) throw invalidValue(`${id} must be an object with the attributes of the extension`);
  let changed = doc;
  readAll(Object.entries(sent), ([name, part]) => {
    changed = assignNamed(changed, `${id}:${name}`, { op, value: part });
  });
  return changed;
}

function withChanged(container: ScimObject, path: AttributePath, change: Change): ScimObject {
  const { attribute, sub } = path;
  const wanted = { attribute, name: pathText({ ...path, sub: undefined }) };
  const before = container[attribute.name];
  return withMember(
    container,
    attribute.name,
    sub ? changedPart(before, { ...wanted, sub }, change) : changedValue(before, wanted, change),
  );
}

function changedValue(before: ScimValue | undefined, wanted: Wanted, change: Change): ScimValue | undefined {
  const { attribute } = wanted;
  if (attribute.multiValued) return changedList(elementsOf(before), wanted, change);
  if (attribute.type === "complex") return changedParts(partsOf(before), wanted, change);
  return changedSimple(before, wanted, change);
}

function changedSimple(
  before: ScimValue | undefined,
  wanted: Wanted,
  { op, value }: Change,
): ScimValue | undefined {
  const after = op === "remove" ? undefined : readSimple(value, wanted);
  if (after === undefined && op === "add") return before;
  if (after === undefined && before !== undefined && wanted.attribute.required)
    throw requiredAttribute(wanted.name);
  return after;
}

/** Changes the given parts; the others stay (`name`, `manager`). */
function changedParts(before: ScimObject, wanted: Wanted, { op, value }: Change): ScimObject {
  if (op === "remove") return {};
  const sent = requireSingle(value, wanted.name);
  if (isUnassigned(sent)) return op === "add" ? before : {};
  let parts = before;
  readAll(fieldsWithId(partsSent(sent, wanted)), ([name, part]) => {
    const sub = subAttributeOf(wanted.attribute, name);
    if (sub?.mutability === "readWrite") parts = withPart(parts, { ...wanted, sub }, { op, value: part });
  });
  return parts;
}

interface WantedPart extends Wanted {
  readonly sub: Attribute;
}

function changedPart(before: ScimValue | undefined, wanted: WantedPart, change: Change): ScimValue {
  const { attribute, sub } = wanted;
  if (attribute.multiValued) {
    const everyValue = { isMatch: () => true, fixed: () => ({}), replaceCreates: true };
    return changedSelection(elementsOf(before), { ...wanted, ...everyValue }, change);
  }
  const value = sub.name === "$ref" ? subAttributeOf(attribute, "value") : undefined;
  if (!value) return withPart(partsOf(before), wanted, change);
  return withPart(
    partsOf(before),
    { ...wanted, sub: value },
    { ...change, value: idInReference(change.value) },
  );
}

const withPart = (parts: ScimObject, { name, sub }: WantedPart, change: Change): ScimObject =>
  withMember(
    parts,
    sub.name,
    changedSimple(parts[sub.name], { attribute: sub, name: `${name}.${sub.name}` }, change),
  );

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
 * Checks the required parts of a user's document from any source; parsing has checked each value.
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
 * @returns the number of unknown attribute names in it; for a PATCH, in values without a path
 */
export function countIgnored(type: ResourceTypeName, method: string, body: unknown): number {
  if (!isJsonObject(body)) return 0;
  if (method.toUpperCase() !== "PATCH") return unknownNames(type, body);
  return operationsIn(body).reduce((sum, operation) => {
    const value = operation.get("value");
    return sum + (!operation.get("path") && isJsonObject(value) ? unknownNames(type, value) : 0);
  }, 0);
}

/** @returns the same for all operations of a bulk request, one operation per step */
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
