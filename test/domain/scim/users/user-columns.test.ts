// Columns derived from a user's document for searching and naming.
import { expect, test } from "bun:test";
import { emailColumns, userColumns } from "../../../../src/domain/scim/users/user-columns.ts";
import { ENTERPRISE_USER } from "../../../../src/domain/scim/wire.ts";

const ADDRESS = "ada@example.com";
const columnsOf = (doc: object) => userColumns({ userName: "a", active: true, ...doc }, ADDRESS);
const labelOf = (doc: object) => columnsOf(doc).label;

test("a user is displayed to others by the provider's names, and without a name if only an address exists", () => {
  expect(columnsOf({ displayName: "Ada L." }).display).toBe("Ada L.");
  expect(columnsOf({ name: { givenName: "Ada", familyName: "Lovelace" } }).display).toBe("Ada Lovelace");
  expect(columnsOf({ name: { middleName: "King" } }).display).toBeNull();
});

test("SCIM-20 a user's name is displayName, else formatted, else the two names, else the address", () => {
  const name = { formatted: "Countess Lovelace", givenName: "Ada", familyName: "Lovelace" };
  expect(labelOf({ displayName: "Ada L.", name })).toBe("Ada L.");
  expect(labelOf({ name })).toBe("Countess Lovelace");
  expect(labelOf({ name: { givenName: "Ada", familyName: "Lovelace" } })).toBe("Ada Lovelace");
  expect(labelOf({ name: { familyName: "Lovelace", middleName: "King" } })).toBe("Lovelace");
  expect(labelOf({ name: { middleName: "King" } })).toBe(ADDRESS);
  expect(labelOf({})).toBe(ADDRESS);
});

test("SCIM-29 keys are case-folded, absent attributes have none, and the document is stored as it was sent", () => {
  const doc = {
    externalId: "Ab",
    userName: "ＡDA",
    name: { familyName: "STRASSE", givenName: "Édith" },
    displayName: "Ada",
    active: false,
  };
  expect(userColumns(doc, ADDRESS)).toMatchObject({
    externalId: "Ab",
    userName: "ＡDA",
    userNameKey: "ada",
    displayNameKey: "ada",
    familyNameKey: "strasse",
    givenNameKey: "édith",
    active: false,
    doc: JSON.stringify(doc),
  });
  expect(userColumns({ userName: "x", active: true }, ADDRESS)).toMatchObject({
    externalId: null,
    displayNameKey: null,
    familyNameKey: null,
    givenNameKey: null,
    active: true,
  });
});

test("a document is stored only if its extension is its last member, as responses require", () => {
  const extension = { [ENTERPRISE_USER]: { department: "R&D" } };
  expect(() => userColumns({ userName: "a", ...extension }, ADDRESS)).not.toThrow();
  expect(() => userColumns({ ...extension, userName: "a" }, ADDRESS)).toThrow(
    "the extension is the last member",
  );
});

test("the searched document is case-folded only where case is insignificant", () => {
  const { docKey } = userColumns(
    {
      externalId: "Ab",
      userName: "ADA",
      name: { formatted: "Ada L" },
      profileUrl: "https://X.example/A",
      active: true,
      emails: [{ value: "A@X.example", type: "Work", primary: true }],
      x509Certificates: [{ value: "TUlJ", display: "Cert" }],
      [ENTERPRISE_USER]: { department: "R&D", manager: { value: "Id-1", $ref: "../Users/Id-1" } },
    },
    ADDRESS,
  );
  expect(JSON.parse(docKey)).toEqual({
    externalId: "Ab",
    userName: "ada",
    name: { formatted: "ada l" },
    profileUrl: "https://X.example/A",
    active: true,
    emails: [{ value: "a@x.example", type: "work", primary: true }],
    x509Certificates: [{ value: "TUlJ", display: "cert" }],
    [ENTERPRISE_USER]: { department: "r&d", manager: { value: "Id-1", $ref: "../Users/Id-1" } },
  });
});

test("e-mails are looked up as they are returned, with the derived one if none is stored", () => {
  expect(emailColumns({ userName: "ADA@x.example" })).toEqual([
    { valueKey: "ada@x.example", typeKey: "work", isPrimary: true },
  ]);
  expect(JSON.parse(userColumns({ userName: "ADA@x.example" }, ADDRESS).docKey).emails).toEqual([
    { value: "ada@x.example", type: "work", primary: true },
  ]);
  const emails = [{ value: "B@x.example" }, { value: "a@x.example", type: "HOME", primary: false }];
  expect(emailColumns({ userName: "a", emails })).toEqual([
    { valueKey: "b@x.example", typeKey: null, isPrimary: false },
    { valueKey: "a@x.example", typeKey: "home", isPrimary: false },
  ]);
});
