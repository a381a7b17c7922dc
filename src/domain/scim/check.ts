// What holds for a whole resource, however it came to be: lengths, what is required, an address. That a list has one
// primary value at most is seen to where lists are changed; uniqueness is not known here.
import { elementsOf, partsOf } from "./document.ts";
import { ADDRESS_NEEDED, findAddress } from "./emails.ts";
import type { ScimObject, ScimValue } from "./model.ts";
import { type Attribute, COMMON_ATTRIBUTES, ENTERPRISE_SCHEMA, GROUP_SCHEMA, USER_SCHEMA } from "./schema.ts";
import { invalidValue, isUniqueName, PROBLEMS_TOLD_MAX } from "./values.ts";

/** A value in its place: `name` as refusals call it. */
interface Placed {
  readonly attribute: Attribute;
  readonly name: string;
  readonly value: ScimValue | undefined;
}

const placedIn =
  (object: ScimObject, prefix = "") =>
  (attribute: Attribute): Placed => ({
    attribute,
    name: `${prefix}${attribute.name}`,
    value: object[attribute.name],
  });

/**
 * Checks a user's document as a whole.
 * @throws ScimError `invalidValue` with everything that is wrong
 * @source scim.md SCIM-13, SCIM-31
 */
export function checkUser(doc: ScimObject): void {
  const extension = partsOf(doc[ENTERPRISE_SCHEMA.id]);
  const places = [
    ...[...COMMON_ATTRIBUTES, ...USER_SCHEMA.attributes].map(placedIn(doc)),
    ...ENTERPRISE_SCHEMA.attributes.map(placedIn(extension, `${ENTERPRISE_SCHEMA.id}:`)),
  ];
  const problems = places.flatMap(problemsOf);
  if (findAddress(doc) === undefined) problems.push(ADDRESS_NEEDED);
  refuse([...missing(doc, "userName"), ...problems]);
}

/**
 * Checks what a group has beside its members.
 * @throws ScimError `invalidValue` with everything that is wrong
 * @source scim.md section 2.2, SCIM-31
 */
export const checkGroup = (group: ScimObject): void =>
  refuse([...missing(group, "displayName"), ...groupProblems(group)]);

/** The same for the part of it that a PATCH sets. */
export const checkGroupPart = (part: ScimObject): void => refuse(groupProblems(part));

const groupProblems = (part: ScimObject): string[] =>
  [...COMMON_ATTRIBUTES, ...GROUP_SCHEMA.attributes].map(placedIn(part)).flatMap(problemsOf);

const missing = (object: ScimObject, name: string): string[] =>
  object[name] === undefined ? [`${name} is missing or blank; give one`] : [];

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw invalidValue(problems.slice(0, PROBLEMS_TOLD_MAX).join("; "));
}

function problemsOf({ attribute, name, value }: Placed): string[] {
  if (typeof value === "string") return textProblems(value, attribute, name);
  const parts = (object: ScimObject, prefix: string) =>
    (attribute.subAttributes ?? []).map(placedIn(object, prefix)).flatMap(problemsOf);
  if (!attribute.multiValued) return parts(partsOf(value), `${name}.`);
  return elementsOf(value).flatMap((element, at) => parts(element, `${name}[${at}].`));
}

const EMAIL = USER_SCHEMA.attributes
  .find(({ name }) => name === "emails")
  ?.subAttributes?.find(({ name }) => name === "value");
const CONTROL_CHARACTER = /\p{Cc}/u;

function textProblems(text: string, attribute: Attribute, name: string): string[] {
  const { lengthMax } = attribute;
  const problems: string[] = [];
  if (lengthMax !== undefined && text.length > lengthMax)
    problems.push(`${name} has ${text.length} characters; ${lengthMax} are allowed`);
  if ((isUniqueName(attribute) || attribute === EMAIL) && CONTROL_CHARACTER.test(text))
    problems.push(`${name} has a control character; send it without`);
  return problems;
}
