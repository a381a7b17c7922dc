// The e-mail addresses of a user: the shown ones, and the one of the user's account (SCIM-13).
import type { Problem } from "../../../platform/errors.ts";
import { readEmail } from "../../identity/service.ts";
import type { ScimObject } from "../model.ts";
import { arrangedUser, elementsOf } from "../schema/document.ts";
import { foldCase } from "../schema/fold-case.ts";
import { invalidValue } from "../schema/values.ts";

/** @returns the stored ones; without any, one derived from the user name */
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

/** The message if there is no valid address. */
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
