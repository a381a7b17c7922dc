// Converts providers' values into values of a document: accepts only the lenient types of SCIM-40 and SCIM-42, within the limits of
// the schema table. read-resource.ts checks whole resources.

import { LRUCache } from "lru-cache";
import { isJsonObject } from "../../../platform/json/json-object.ts";
import type { Steps } from "../../../platform/steps.ts";
import { ScimError, scimInvalid } from "../errors.ts";
import type { ScimObject } from "../model.ts";
import { subAttributeOf } from "./attribute-path.ts";
import { type Attribute, USER_SCHEMA } from "./schema.ts";

/** Maximum number of cached folded texts. One filter compares the same values repeatedly, and NFKC is expensive. */
const KEPT_MAX = 1_024;
const ASCII = /^\p{ASCII}*$/u;

const kept = new LRUCache<string, string>({ max: KEPT_MAX });

/**
 * Case-insensitive comparison of text (SCIM-29): the same folding for stored keys and for filter literals.
 * @returns the text in compatibility form (NFKC) and lower case, independent of the machine's locale
 */
export function foldCase(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const known = kept.get(text);
  if (known !== undefined) return known;
  const folded = text.normalize("NFKC").toLowerCase();
  kept.set(text, folded);
  return folded;
}

/** Maximum number of problems in one detail; more would not help. */
export const PROBLEMS_REPORTED_MAX = 10;

/** The attribute of a value, and its name in errors. */
export interface Wanted {
  readonly attribute: Attribute;
  /** such as `emails[1].value` */
  readonly name: string;
}

/** @returns the error for a value that is invalid by itself */
export const invalidValue = (detail: string): ScimError => scimInvalid("invalidValue", detail);

/** @returns the error for the removal of a required attribute (SCIM-78) */
export const requiredAttribute = (name: string): ScimError =>
  scimInvalid("mutability", `${name} is required: replace it instead of removing it`);

/**
 * Reads all values, so that a caller learns of all problems and not only of the first.
 * @throws ScimError of the first one's type, with the details of all
 */
export function readAll<T, R>(items: Iterable<T>, read: (item: T) => R): R[] {
  const results: R[] = [];
  const refusals = new Refusals();
  for (const item of items) {
    try {
      results.push(read(item));
    } catch (error) {
      refusals.add(error);
      if (refusals.areEnough) break;
    }
  }
  refusals.throwIfAny();
  return results;
}

/** Number of values in one step, which takes about 1 ms. */
const READ_AT_ONCE = 4_000;

/** The same for a very large number of values, and for values that take steps themselves. */
export function* readAllInSteps<T>(
  items: Iterable<T>,
  read: (item: T) => Steps<void> | undefined,
): Steps<void> {
  const refusals = new Refusals();
  let count = 0;
  for (const item of items) {
    if (count > 0 && count % READ_AT_ONCE === 0) yield;
    count += 1;
    try {
      const steps = read(item);
      if (steps) yield* steps;
    } catch (error) {
      refusals.add(error);
      if (refusals.areEnough) break;
    }
  }
  refusals.throwIfAny();
}

/** The problems of one request, up to PROBLEMS_REPORTED_MAX. */
export class Refusals {
  readonly #all: ScimError[] = [];

  /** @throws the error unless it is a ScimError */
  add(error: unknown): void {
    if (!(error instanceof ScimError)) throw error;
    this.#all.push(error);
  }

  get areEnough(): boolean {
    return this.#all.length === PROBLEMS_REPORTED_MAX;
  }

  throwIfAny(): void {
    const [first] = this.#all;
    if (!first) return;
    throw new ScimError(first.status, first.scimType, this.#all.map(({ message }) => message).join("; "));
  }
}

/** @returns whether the JSON value means no value (SCIM-40) */
export const isUnassigned = (raw: unknown): boolean =>
  raw === undefined || raw === null || raw === "" || (Array.isArray(raw) && raw.length === 0);

/**
 * @returns the only value of a list of one; any other value unchanged
 * @throws ScimError `invalidValue`
 */
export function requireSingle(raw: unknown, name: string): unknown {
  if (!Array.isArray(raw) || raw.length === 0) return raw;
  if (raw.length > 1) throw invalidValue(`${name} is single-valued; send one value, not a list`);
  return raw[0];
}

/** @returns whether it is a user name or group name, which loses white space at both ends (SCIM-29) */
const isUniqueName = ({ uniqueness, caseExact }: Attribute): boolean => uniqueness === "server" && !caseExact;

const EMAIL = USER_SCHEMA.attributes
  .find(({ name }) => name === "emails")
  ?.subAttributes?.find(({ name }) => name === "value");
const CONTROL_CHARACTER = /\p{Cc}/u;

const isScalar = (raw: unknown): raw is string | number | boolean =>
  typeof raw === "string" || typeof raw === "number" || typeof raw === "boolean";

/**
 * @returns undefined for an unassigned one
 * @throws ScimError `invalidValue`
 */
export function readSimple(raw: unknown, { attribute, name }: Wanted): string | boolean | undefined {
  const value = requireSingle(raw, name);
  if (isUnassigned(value)) return undefined;
  return attribute.type === "boolean" ? readBoolean(value, name) : readText(value, { attribute, name });
}

function readBoolean(value: unknown, name: string): boolean {
  const text = String(isScalar(value) ? value : "").toLowerCase();
  if (text !== "true" && text !== "false") throw invalidValue(`${name} must be true or false`);
  return text === "true";
}

function readText(value: unknown, { attribute, name }: Wanted): string | undefined {
  if (!isScalar(value)) throw invalidValue(`${name} must be text`);
  const text = isUniqueName(attribute) ? String(value).trim() : String(value);
  const { lengthMax = Number.POSITIVE_INFINITY } = attribute;
  if (text.length > lengthMax)
    throw invalidValue(`${name} has ${text.length} characters; ${lengthMax} are allowed`);
  if (!text.isWellFormed()) throw invalidValue(`${name} has an unpaired surrogate; send valid Unicode`);
  if ((isUniqueName(attribute) || attribute === EMAIL) && CONTROL_CHARACTER.test(text))
    throw invalidValue(`${name} contains a control character; remove it`);
  return text || undefined;
}

/**
 * Reads the parts of one value of a multi-valued attribute; plain text is its `value`.
 * @returns the assigned parts, possibly none
 * @throws ScimError `invalidValue`
 */
export function readParts(raw: unknown, { attribute, name }: Wanted): ScimObject {
  const value = requireSingle(raw, name);
  if (isUnassigned(value)) return {};
  const parts = readAll(Object.entries(partsSent(value, { attribute, name })), ([key, part]) => {
    const sub = subAttributeOf(attribute, key);
    if (!sub || sub.mutability === "readOnly") return [];
    const read = readSimple(part, { attribute: sub, name: `${name}.${sub.name}` });
    return read === undefined ? [] : [[sub.name, read] as const];
  });
  return Object.fromEntries(parts.flat());
}

/**
 * @returns the unchanged members of a complex value; plain text becomes `value` if there is such a member
 * @throws ScimError `invalidValue`
 */
export function partsSent(value: unknown, { attribute, name }: Wanted): Readonly<Record<string, unknown>> {
  if (isJsonObject(value)) return value;
  if (isScalar(value) && subAttributeOf(attribute, "value")) return { value };
  throw invalidValue(`${name} must be an object of its sub-attributes`);
}

/**
 * Reads the list of a multi-valued attribute; one object or text is a list of one.
 * @returns the values that have content
 * @throws ScimError `invalidValue` for wrong types and for two primary ones
 */
export function readElements(raw: unknown, { attribute, name }: Wanted): readonly ScimObject[] {
  if (isUnassigned(raw)) return [];
  const elements = readAll(sentList(raw, { attribute, name }).entries(), ([at, element]) =>
    readParts(element, { attribute, name: `${name}[${at}]` }),
  ).filter((element) => hasContent(attribute, element));
  if (elements.filter(({ primary }) => primary === true).length > 1) throw multiplePrimaries(name);
  return elements;
}

/**
 * Maximum number of list elements per value that the attribute can have, because some elements are duplicates or empty. A longer
 * list is refused unread, because reading an element takes a few microseconds.
 */
export const SENT_PER_VALUE = 16;

/**
 * @returns the unread elements of a list; any other value is a list of one
 * @throws ScimError `invalidValue` for a list that is too long
 */
export function sentList(raw: unknown, wanted: Wanted): readonly unknown[] {
  if (!Array.isArray(raw)) return [raw];
  if (raw.length > SENT_PER_VALUE * valuesMaxOf(wanted.attribute)) throw tooManyValues(wanted);
  return raw;
}

export const valuesMaxOf = ({ valuesMax }: Attribute): number => valuesMax ?? Number.POSITIVE_INFINITY;

/** @returns the error for a list that is too long */
export const tooManyValues = ({ attribute, name }: Wanted): ScimError =>
  invalidValue(`${name} can have at most ${attribute.valuesMax} values`);

/** @returns the error for a list with two primary values (SCIM-74) */
export const multiplePrimaries = (name: string): ScimError =>
  invalidValue(`${name} can have only one primary value; set primary on the preferred one`);

/** @returns whether it is more than a label: it has a `value` or any part of a postal address (SCIM-40) */
export const hasContent = (attribute: Attribute, { type, primary, ...parts }: ScimObject): boolean =>
  subAttributeOf(attribute, "value") ? parts.value !== undefined : Object.keys(parts).length > 0;
