// Which e-mails a user has in responses, and which of them is the address of the account (SCIM-13).
import { describe, expect, test } from "bun:test";
import type { ScimObject } from "../../../../src/domain/scim/model.ts";
import { accountAddress, shownDoc, shownEmails } from "../../../../src/domain/scim/users/user-columns.ts";
import { expectInvalid } from "../refusal.ts";

const ADA: ScimObject = { userName: "Ada@Example.com", active: true };
const withEmails = (...emails: ScimObject[]): ScimObject => ({ ...ADA, emails });
const HOME = { value: "home@x.example", type: "home" };
const WORK = { value: "work@x.example", type: "WORK" };
const PRIMARY = { value: "primary@x.example", type: "other", primary: true };

describe("SCIM-13 the e-mails of a user", () => {
  test("shows the stored e-mails", () => {
    const doc = withEmails(HOME);
    expect(shownEmails(doc)).toEqual([HOME]);
    expect(shownDoc(doc)).toBe(doc);
  });

  test("derives the e-mails from the user name if none is stored, in the usual place of the document", () => {
    const shown = [{ value: "Ada@Example.com", type: "work", primary: true }];
    expect(shownEmails(ADA)).toEqual(shown);
    const doc = shownDoc({ ...ADA, phoneNumbers: [{ value: "1" }] });
    expect(Object.keys(doc)).toEqual(["userName", "active", "emails", "phoneNumbers"]);
    expect(doc.emails).toEqual(shown);
  });
});

describe("SCIM-13 the account's address", () => {
  test.each<[string, ScimObject, string]>([
    ["the primary e-mail", withEmails(HOME, WORK, PRIMARY), "primary@x.example"],
    ["the one for work, where none is primary", withEmails(HOME, WORK), "work@x.example"],
    ["the first, where none is for work", withEmails(HOME, { value: "b@x.example" }), "home@x.example"],
    ["the user name, where there are none", ADA, "ada@example.com"],
    ["the next, if one is not an address", withEmails({ ...PRIMARY, value: "none" }, WORK), "work@x.example"],
    ["the user name, where no e-mail is an address", withEmails({ value: "none" }), "ada@example.com"],
    ["folded", withEmails({ value: " JÖRG@X.Example" }), "jörg@x.example"],
  ])("is %s", (_, doc, address) => {
    expect(accountAddress(doc)).toBe(address);
  });

  test("is required", () => {
    expectInvalid(() => accountAddress({ userName: "ada" }), "invalidValue", "emails");
  });
});
