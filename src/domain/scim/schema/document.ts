// Documents as values: reads them, changes one member, and sorts members in the order of the schema table. Names come from that
// table only, so indexing is safe here.
import type { ScimObject, ScimValue } from "../model.ts";
import { type Attribute, COMMON_ATTRIBUTES, ENTERPRISE_SCHEMA, USER_SCHEMA } from "./schema.ts";

type ScimList = readonly ScimValue[];

/** Array.isArray alone does not narrow read-only lists. */
export const isList = (value: ScimValue | undefined): value is ScimList => Array.isArray(value);

export const isScimObject = (value: ScimValue | undefined): value is ScimObject =>
  typeof value === "object" && !isList(value);

/** @returns the parts of a complex value; empty for any other value */
export const partsOf = (value: ScimValue | undefined): ScimObject => (isScimObject(value) ? value : {});

/** @returns the values of a multi-valued attribute; empty for any other value */
export const elementsOf = (value: ScimValue | undefined): readonly ScimObject[] =>
  isList(value) ? value.filter(isScimObject) : [];

const isEmpty = (value: ScimValue): boolean =>
  (isList(value) && value.length === 0) || (isScimObject(value) && Object.keys(value).length === 0);

/** @returns the object with that member, or without it if the value is absent or empty (SCIM-40) */
export function withMember(object: ScimObject, name: string, value: ScimValue | undefined): ScimObject {
  if (value !== undefined && !isEmpty(value)) return { ...object, [name]: value };
  const { [name]: _, ...others } = object;
  return others;
}

interface Place {
  readonly name: string;
  readonly subAttributes?: readonly Attribute[];
}

/** An extension is stored in a document like a complex attribute that is named by its URN. */
const USER_PLACES: readonly Place[] = [
  ...COMMON_ATTRIBUTES,
  ...USER_SCHEMA.attributes,
  { name: ENTERPRISE_SCHEMA.id, subAttributes: ENTERPRISE_SCHEMA.attributes },
];

/** @returns the user's document with every part of it in the order of the schema table */
export const arrangedUser = (doc: ScimObject): ScimObject => arranged(doc, USER_PLACES);

function arranged(object: ScimObject, places: readonly Place[]): ScimObject {
  const entries: [string, ScimValue][] = [];
  for (const { name, subAttributes } of places) {
    const value = object[name];
    if (value !== undefined)
      entries.push([name, subAttributes ? arrangedValue(value, subAttributes) : value]);
  }
  return Object.fromEntries(entries);
}

function arrangedValue(value: ScimValue, places: readonly Place[]): ScimValue {
  if (isList(value)) return value.map((element) => arrangedValue(element, places));
  return isScimObject(value) ? arranged(value, places) : value;
}
