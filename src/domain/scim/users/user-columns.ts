// Columns of a user's row for lookups, order and labels. They derive from the row's document; only the label may also need the
// address of the account. Also has the e-mail addresses of a user: the shown ones, and the one of the account (SCIM-13).
import { invariant, type Problem } from "../../../platform/errors.ts";
import { readEmail } from "../../identity/service.ts";
import type { ScimObject, ScimValue } from "../model.ts";
import { arrangedUser, elementsOf, isScimObject, partsOf } from "../schema/document.ts";
import { type Attribute, COMMON_ATTRIBUTES, ENTERPRISE_SCHEMA, USER_SCHEMA } from "../schema/schema.ts";
import { foldCase, invalidValue } from "../schema/values.ts";
import { ENTERPRISE_USER } from "../wire.ts";

/** The columns of a user; each `…Key` is folded text. */
export interface UserColumns {
  externalId: string | null;
  userName: string;
  userNameKey: string;
  displayNameKey: string | null;
  familyNameKey: string | null;
  givenNameKey: string | null;
  active: boolean;
  display: string | null;
  label: string;
  doc: string;
  docKey: string;
}

/** One e-mail as lookups compare it. */
export interface EmailColumns {
  valueKey: string;
  typeKey: string | null;
  isPrimary: boolean;
}

/** @returns the stored e-mails, or else one derived from the user name */
export function shownEmails({ emails, userName }: ScimObject): readonly ScimObject[] {
  const stored = elementsOf(emails);
  if (stored.length > 0 || userName === undefined) return stored;
  return [{ value: userName, type: "work", primary: true }];
}

/** @returns the document with the shown e-mails */
export const shownDoc = (doc: ScimObject): ScimObject =>
  elementsOf(doc.emails).length > 0 ? doc : arrangedUser({ ...doc, emails: shownEmails(doc) });

/**
 * Finds the account's address: the first valid address of the primary e-mail, one of type `work`, any other, and the user name.
 * @returns the folded address; undefined if none is valid
 */
export function findAddress({ emails, userName }: ScimObject): string | undefined {
  const stored = elementsOf(emails);
  const preferred = [
    ...stored.filter(({ primary }) => primary === true),
    ...stored.filter(({ type }) => typeof type === "string" && foldCase(type) === "work"),
    ...stored,
  ].map(({ value }) => value);
  for (const candidate of [...preferred, userName]) {
    const address = typeof candidate === "string" ? addressOf(candidate) : undefined;
    if (address !== undefined) return address;
  }
  return undefined;
}

function addressOf(text: string): string | undefined {
  const problems: Problem[] = [];
  const address = readEmail(text, problems);
  return problems.length === 0 ? address : undefined;
}

export const ADDRESS_NEEDED =
  "the account needs an email address such as name@example.com: send it in emails or as userName";

/**
 * @returns the folded address of the user's account
 * @throws ScimError `invalidValue`
 */
export function accountAddress(doc: ScimObject): string {
  const address = findAddress(doc);
  if (address === undefined) throw invalidValue(ADDRESS_NEEDED);
  return address;
}

/**
 * @param doc checked and in the order of `arrangedUser`, because responses take the extension from the end of the stored text
 * @param address of the account
 */
export function userColumns(doc: ScimObject, address: string): UserColumns {
  const isLast = !(ENTERPRISE_USER in doc) || Object.keys(doc).at(-1) === ENTERPRISE_USER;
  invariant(isLast, "the extension is the last member of a stored user");
  const { givenName, familyName } = partsOf(doc.name);
  const userName = textIn(doc.userName) ?? "";
  const display = displayOf(doc);
  return {
    externalId: textIn(doc.externalId) ?? null,
    userName,
    userNameKey: foldCase(userName),
    displayNameKey: keyOf(doc.displayName),
    familyNameKey: keyOf(familyName),
    givenNameKey: keyOf(givenName),
    active: doc.active === true,
    display,
    label: display ?? address,
    doc: JSON.stringify(doc),
    docKey: JSON.stringify(foldedParts(shownDoc(doc), USER_PARTS)),
  };
}

/** @returns the shown e-mails, stored or derived, in their order */
export const emailColumns = (doc: ScimObject): EmailColumns[] =>
  shownEmails(doc).map(({ value, type, primary }) => ({
    valueKey: keyOf(value) ?? "",
    typeKey: keyOf(type),
    isPrimary: primary === true,
  }));

/** @returns the name from the provider; never an address, which is not a name (SCIM-20) */
function displayOf({ displayName, name }: ScimObject): string | null {
  const { formatted, givenName, familyName } = partsOf(name);
  const joined = [textIn(givenName), textIn(familyName)].filter((part) => part !== undefined).join(" ");
  return textIn(displayName) ?? textIn(formatted) ?? (joined || null);
}

const textIn = (value: ScimValue | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;

const keyOf = (value: ScimValue | undefined): string | null =>
  typeof value === "string" ? foldCase(value) : null;

/** The possible members at one position of a document, by name. */
type Parts = ReadonlyMap<string, Pick<Attribute, "caseExact"> & { parts: Parts | undefined }>;

const partsByName = (attributes: readonly Attribute[]): Parts =>
  new Map(
    attributes.map(({ name, caseExact, subAttributes }) => [
      name,
      { caseExact, parts: subAttributes && partsByName(subAttributes) },
    ]),
  );

/** An extension is stored in a document like a complex attribute that is named by its URN. */
const USER_PARTS: Parts = new Map([
  ...partsByName([...COMMON_ATTRIBUTES, ...USER_SCHEMA.attributes]),
  [ENTERPRISE_SCHEMA.id, { caseExact: true, parts: partsByName(ENTERPRISE_SCHEMA.attributes) }],
]);

/** @returns the object with case-insensitive text folded */
function foldedParts(object: ScimObject, parts: Parts): ScimObject {
  const folded = Object.entries(object).map(([name, value]) => [name, foldedValue(value, parts.get(name))]);
  return Object.fromEntries(folded);
}

function foldedValue(value: ScimValue, place: ReturnType<Parts["get"]>): ScimValue {
  if (typeof value === "string") return place?.caseExact === false ? foldCase(value) : value;
  if (typeof value === "boolean" || !place?.parts) return value;
  const { parts } = place;
  if (isScimObject(value)) return foldedParts(value, parts);
  return value.map((element) => foldedValue(element, place));
}
