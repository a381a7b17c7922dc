// One change to one attribute of a user's document, by the rules of RFC 7644 section 3.5.2 for each kind of target. Bodies of
// POST and PUT are processed the same way: each member replaces one of an empty document.
import { isJsonObject } from "../../../platform/json/json-object.ts";
import type { ScimObject, ScimValue } from "../model.ts";
import {
  type AttributePath,
  isSettable,
  pathText,
  type ResolvedPath,
  resolvePath,
  subAttributeOf,
} from "../schema/attribute-path.ts";
import { elementsOf, partsOf, withMember } from "../schema/document.ts";
import type { Attribute, Schema } from "../schema/schema.ts";
import {
  invalidValue,
  isUnassigned,
  partsSent,
  readAll,
  readSimple,
  requiredAttribute,
  requireSingle,
  type Wanted,
} from "../schema/values.ts";
import { changedList, changedSelection } from "./elements.ts";
import type { Change } from "./operations.ts";
import { fieldsWithId, idInReference } from "./user-references.ts";

/**
 * Changes the target of a name in a body; unknown names and computed attributes are ignored (SCIM-41).
 * @throws ScimError `invalidValue`, `mutability`
 */
export function assignNamed(doc: ScimObject, name: string, change: Change): ScimObject {
  const path = resolvePath("User", name);
  return path && isSettable(path) ? assign(doc, path, change) : doc;
}

/**
 * Changes the target of a path without brackets.
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
