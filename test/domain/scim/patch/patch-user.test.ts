// PATCH of a user, by kind of target, then the rules for all of them. patch-examples.test.ts has the worked examples,
// test/properties long random sequences.
import { describe, expect, test } from "bun:test";
import type { ScimType } from "../../../../src/domain/scim/errors.ts";
import { FILTER_LENGTH_MAX } from "../../../../src/domain/scim/filter/model.ts";
import type { ScimObject, ScimProfile, ScimValue } from "../../../../src/domain/scim/model.ts";
import { PATCH_OPERATIONS_MAX } from "../../../../src/domain/scim/patch/operations.ts";
import { PATCH_COMPARISONS_MAX, patchUser } from "../../../../src/domain/scim/patch/patch-user.ts";
import { VALUES_MAX } from "../../../../src/domain/scim/schema/schema.ts";
import { SENT_PER_VALUE } from "../../../../src/domain/scim/schema/values.ts";
import { CORE_USER, ENTERPRISE_USER, PATCH_OP } from "../../../../src/domain/scim/wire.ts";
import { expectInvalid, refusalOf } from "../refusal.ts";

const ID = "0198c0de-7a11-7c3e-9d52-4f0f6f1f2a10";
const WORK = { value: "a@w.example", type: "work", primary: true };
const HOME = { value: "a@h.example", display: "At home", type: "home" };
const FAX = { value: "1", type: "fax" };
const OFFICE = { locality: "London", country: "UK", type: "work" };
const EXTENSION = { department: "R&D", manager: { value: "m1" } };
const USER: ScimObject = {
  externalId: "e1",
  userName: "ada@example.com",
  name: { familyName: "L", givenName: "Ada" },
  title: "Dr",
  active: true,
  emails: [WORK, HOME],
  phoneNumbers: [FAX],
  addresses: [OFFICE],
  [ENTERPRISE_USER]: EXTENSION,
};

const message = (operations: readonly object[]) => ({ schemas: [PATCH_OP], Operations: operations });

const patchedWith = (profile: ScimProfile, doc: ScimObject, ...operations: readonly object[]) =>
  patchUser(doc, message(operations), { id: ID, profile });

const patched = (...operations: readonly object[]) => patchedWith("standard", USER, ...operations);

/** The content of a row: the attributes that change; undefined means unassigned. */
type Difference = Readonly<Record<string, unknown>>;
type Row = readonly [op: string, path: string | undefined, value: unknown, difference: Difference];

const operationOf = ([op, path, value]: readonly [
  op: string,
  path: unknown,
  value: unknown,
  ...unknown[],
]) => ({
  op,
  ...(path !== undefined && { path }),
  ...(value !== undefined && { value }),
});

function expectDifference(doc: ScimObject, after: ScimObject, difference: Difference): void {
  const expected = { ...doc, ...difference };
  expect(after).toEqual(JSON.parse(JSON.stringify(expected)));
}

const NEW = { value: "n@x.example", type: "other" };

describe.each<[string, readonly Row[]]>([
  [
    "no path",
    [
      ["add", undefined, { title: "Prof", emails: NEW }, { title: "Prof", emails: [WORK, HOME, NEW] }],
      ["add", undefined, { title: null, name: {}, emails: [] }, {}],
      ["replace", undefined, { title: "Prof", emails: [NEW] }, { title: "Prof", emails: [NEW] }],
      ["replace", undefined, { name: { givenName: "X" } }, { name: { familyName: "L", givenName: "X" } }],
      ["replace", undefined, { title: null, emails: [] }, { title: undefined, emails: undefined }],
      ["replace", undefined, {}, {}],
      ["replace", undefined, [{ title: "Prof" }], { title: "Prof" }],
    ],
  ],
  [
    "a single simple attribute",
    [
      ["add", "title", "Prof", { title: "Prof" }],
      ["add", "title", null, {}],
      ["replace", "TITLE", ["Prof"], { title: "Prof" }],
      ["replace", "title", null, { title: undefined }],
      ["remove", "title", undefined, { title: undefined }],
      ["remove", "nickName", undefined, {}],
      ["replace", `${CORE_USER}:title`, "Prof", { title: "Prof" }],
      ["replace", "department", "D", { [ENTERPRISE_USER]: { ...EXTENSION, department: "D" } }],
      ["remove", `${ENTERPRISE_USER}:department`, 1, { [ENTERPRISE_USER]: { manager: { value: "m1" } } }],
    ],
  ],
  [
    "a sub-attribute of a complex attribute",
    [
      ["add", "name.givenName", "X", { name: { familyName: "L", givenName: "X" } }],
      ["replace", "name.givenName", "", { name: { familyName: "L" } }],
      ["remove", "name.givenName", undefined, { name: { familyName: "L" } }],
      ["replace", "manager.value", "m2", { [ENTERPRISE_USER]: { ...EXTENSION, manager: { value: "m2" } } }],
      [
        "add",
        "manager.$ref",
        "https://host/scim/v2/Users/m2",
        { [ENTERPRISE_USER]: { ...EXTENSION, manager: { value: "m2" } } },
      ],
      ["remove", "manager.value", undefined, { [ENTERPRISE_USER]: { department: "R&D" } }],
    ],
  ],
  [
    "a single complex attribute",
    [
      ["add", "name", { givenName: "X", familyName: null }, { name: { familyName: "L", givenName: "X" } }],
      ["add", "name", null, {}],
      ["replace", "name", { givenName: "X", familyName: null }, { name: { givenName: "X" } }],
      ["replace", "name", {}, {}],
      ["replace", "name", null, { name: undefined }],
      ["remove", "name", { givenName: "Ada" }, { name: undefined }],
      ["remove", "manager", undefined, { [ENTERPRISE_USER]: { department: "R&D" } }],
    ],
  ],
  [
    "an extension",
    [
      ["add", ENTERPRISE_USER, { costCenter: "7" }, { [ENTERPRISE_USER]: { costCenter: "7", ...EXTENSION } }],
      ["add", ENTERPRISE_USER, null, {}],
      [
        "replace",
        ENTERPRISE_USER.toLowerCase(),
        { department: null, "manager.value": "m2", constructor: "x" },
        { [ENTERPRISE_USER]: { manager: { value: "m2" } } },
      ],
      ["replace", ENTERPRISE_USER, null, { [ENTERPRISE_USER]: undefined }],
      ["remove", ENTERPRISE_USER, undefined, { [ENTERPRISE_USER]: undefined }],
    ],
  ],
  [
    "a multi-valued attribute",
    [
      ["add", "emails", [NEW], { emails: [WORK, HOME, NEW] }],
      ["add", "emails", null, {}],
      ["replace", "emails", NEW, { emails: [NEW] }],
      ["replace", "emails", [], { emails: undefined }],
      ["replace", "emails", null, { emails: undefined }],
      ["remove", "emails", undefined, { emails: undefined }],
      ["remove", "emails", [{ value: "A@H.example" }], { emails: [WORK] }],
      ["remove", "emails", "a@h.example", { emails: [WORK] }],
      ["remove", "emails", [{ value: "a@h.example", type: "work" }], {}],
      ["remove", "emails", [], {}],
      ["remove", "emails", null, {}],
      ["remove", "addresses", [{ country: "uk" }], { addresses: undefined }],
      ["remove", "addresses", [{ country: "uk", locality: "Paris" }], {}],
    ],
  ],
  [
    "the values that match a filter",
    [
      ["add", 'emails[type eq "home"]', { display: "H" }, { emails: [WORK, { ...HOME, display: "H" }] }],
      ["add", 'emails[type eq "other"]', "n@x.example", { emails: [WORK, HOME, NEW] }],
      ["add", 'emails[type eq "other"]', { display: "x" }, {}],
      ["add", 'emails[type eq "other"]', null, {}],
      [
        "replace",
        'emails[type eq "HOME"]',
        { value: "n@x.example" },
        { emails: [WORK, { value: "n@x.example", type: "home" }] },
      ],
      ["replace", 'emails[not (type eq "work")]', NEW, { emails: [WORK, NEW] }],
      ["replace", 'emails[type eq "home"]', null, { emails: [WORK] }],
      ["remove", 'emails[type eq "home"]', undefined, { emails: [WORK] }],
      ["remove", "emails[value pr]", undefined, { emails: undefined }],
    ],
  ],
  [
    "a part of the values that match a filter",
    [
      ["add", 'emails[type eq "home"].display', "H", { emails: [WORK, { ...HOME, display: "H" }] }],
      ["add", 'emails[type eq "other"].display', "x", {}],
      ["add", 'emails[type eq "home"].value', null, {}],
      [
        "replace",
        'emails[type eq "home"].value',
        "n@x.example",
        { emails: [WORK, { ...HOME, value: "n@x.example" }] },
      ],
      ["replace", 'emails[type eq "home"].value', null, { emails: [WORK] }],
      [
        "remove",
        'emails[type eq "home"].type',
        undefined,
        { emails: [WORK, { value: "a@h.example", display: "At home" }] },
      ],
      ["remove", 'emails[type eq "home"].value', undefined, { emails: [WORK] }],
      ["remove", 'emails[type eq "fax"].value', undefined, {}],
      [
        "remove",
        'addresses[type eq "work"].country',
        undefined,
        { addresses: [{ locality: "London", type: "work" }] },
      ],
      ["add", 'roles[primary eq "True"].value', "dev", { roles: [{ value: "dev", primary: true }] }],
    ],
  ],
  [
    "a part of every value",
    [
      [
        "add",
        "emails.display",
        "X",
        {
          emails: [
            { ...WORK, display: "X" },
            { ...HOME, display: "X" },
          ],
        },
      ],
      [
        "replace",
        "emails.type",
        "x",
        {
          emails: [
            { ...WORK, type: "x" },
            { ...HOME, type: "x" },
          ],
        },
      ],
      ["replace", "ims.value", "X", { ims: [{ value: "X" }] }],
      ["add", "ims.value", "X", { ims: [{ value: "X" }] }],
      ["add", "ims.display", "X", {}],
      [
        "replace",
        "emails.type",
        null,
        {
          emails: [
            { value: "a@w.example", primary: true },
            { value: "a@h.example", display: "At home" },
          ],
        },
      ],
      ["remove", "emails.display", undefined, { emails: [WORK, { value: "a@h.example", type: "home" }] }],
      ["remove", "phoneNumbers.value", undefined, { phoneNumbers: undefined }],
      ["remove", "ims.value", undefined, {}],
    ],
  ],
])("%s", (_, rows) => {
  test.each(rows)("%s %j with %j leaves %j different", (...row) => {
    expectDifference(USER, patched(operationOf(row)), row[3]);
  });
});

describe.each<[ScimType, readonly (readonly [op: string, path: unknown, value?: unknown])[]]>([
  [
    "noTarget",
    [
      ["remove", "", { title: "Dr" }],
      ["replace", 'emails[type eq "other"]', NEW],
      ["replace", 'emails[type eq "other"]', null],
      ["add", 'emails[type eq "other" or type eq "x"].value', "n@x.example"],
      ["add", 'emails[type ne "work" and type ne "home"]', NEW],
      ["add", 'ims[type co "x"]', "n"],
    ],
  ],
  [
    "mutability",
    [
      ["replace", "userName", ""],
      ["remove", "active"],
      ["replace", "active", null],
      ["replace", undefined, { userName: null }],
      ["replace", undefined, { ID: "z" }],
      ["replace", "meta.version", "1"],
      ["add", "groups", [{ value: "g" }]],
      ["remove", 'groups[value eq "g"]'],
      ["replace", "manager.displayName", "Grace"],
      ["remove", "schemas"],
    ],
  ],
  [
    "invalidPath",
    [
      ["replace", "nope", 1],
      ["remove", "__proto__"],
      ["replace", "__proto__.title", "x"],
      ["add", "constructor.prototype.title", "x"],
      ["add", 'emails[constructor eq "x"].value', "x"],
      ["add", "emails.constructor", "x"],
      ["replace", "members", []],
      ["replace", "emails[type eq 'work'].value", "x"],
      ["replace", 'name[givenName eq "Ada"]', "x"],
      ["replace", 7, "x"],
    ],
  ],
  [
    "invalidValue",
    [
      ["add", "title"],
      ["replace", "emails"],
      ["replace", undefined, "title"],
      ["replace", undefined, null],
      ["replace", "title", {}],
      ["replace", "active", "maybe"],
      ["replace", "name", "Ada"],
      ["add", ENTERPRISE_USER, "x"],
      ["replace", 'emails[type eq "home"]', [NEW, NEW]],
      ["remove", "emails", [{ display: "At home" }]],
      ["remove", "emails", [{ type: "home" }]],
      ["replace", "emails.primary", true],
      ["add", "emails[value pr].primary", "true"],
      ["add", "emails[value pr]", { primary: true }],
      [
        "add",
        "ims",
        [
          { value: "1", primary: true },
          { value: "1", primary: true },
        ],
      ],
      ["replace", "title", "x".repeat(256)],
    ],
  ],
])("SCIM-77 refused as %s", (scimType, rows) => {
  test.each(rows.map((row) => [operationOf([row[0], row[1], row[2]])]))("%j", (operation) => {
    expectInvalid(
      () => patched({ op: "add", path: "title", value: "x" }, operation),
      scimType,
      "Operations[1]",
    );
  });
});

describe("SCIM-73 existing values", () => {
  test("gain missing parts and keep the others", () => {
    const emails = [
      { value: "A@H.EXAMPLE", type: "Home", display: "other" },
      { ...WORK, display: "At work" },
    ];
    const after = patched({ op: "add", path: "emails", value: emails });
    expectDifference(USER, after, { emails: [{ ...WORK, display: "At work" }, HOME] });
  });

  test("differ if the type differs, or the case of an exact value", () => {
    const again = { value: "a@h.example", type: "old" };
    expectDifference(USER, patched({ op: "add", path: "emails", value: again }), {
      emails: [WORK, HOME, again],
    });
    const certificates = [{ value: "QQ==" }, { value: "qq==" }, { value: "QQ==" }];
    const after = patched({ op: "add", path: "x509Certificates", value: certificates });
    expect(after.x509Certificates).toEqual([{ value: "QQ==" }, { value: "qq==" }]);
  });

  test("compares addresses by all parts except primary", () => {
    const same = { country: "uk", locality: "LONDON", type: "Work", primary: true };
    const other = { ...OFFICE, streetAddress: "1 Road" };
    const after = patched({ op: "add", path: "addresses", value: [same, other] });
    expectDifference(USER, after, {
      addresses: [
        { ...OFFICE, primary: true },
        { streetAddress: "1 Road", ...OFFICE },
      ],
    });
  });
});

describe("SCIM-74 the primary value", () => {
  const primariesAfter = (...operations: readonly object[]) =>
    (patched(...operations).emails as readonly ScimObject[]).map(({ primary }) => primary);

  test.each([
    ["added", { op: "add", path: "emails", value: { ...NEW, primary: true } }, [false, undefined, true]],
    ["added again", { op: "add", path: "emails", value: { ...HOME, primary: true } }, [false, true]],
    [
      "set where a filter matches",
      { op: "add", path: 'emails[type eq "home"].primary', value: "True" },
      [false, true],
    ],
    [
      "merged into a match",
      { op: "add", path: 'emails[type eq "home"]', value: { primary: true } },
      [false, true],
    ],
    [
      "in the replacement of a match",
      { op: "replace", path: 'emails[type eq "home"]', value: { ...HOME, primary: true } },
      [false, true],
    ],
    [
      "created from a filter",
      { op: "add", path: 'emails[primary eq true and type eq "other"].value', value: "n@x.example" },
      [false, undefined, true],
    ],
    ["set again", { op: "replace", path: 'emails[type eq "work"].primary', value: true }, [true, undefined]],
    [
      "of another that is changed",
      { op: "add", path: "emails[value pr].display", value: "x" },
      [true, undefined],
    ],
  ])("is the one %s", (_, operation, primaries) => {
    expect(primariesAfter(operation)).toEqual(primaries);
  });

  test("has no successor after its removal", () => {
    expect(primariesAfter({ op: "remove", path: "emails[primary eq true]" })).toEqual([undefined]);
  });

  test("stays primary after a replacement that omits the flag", () => {
    const operation = { op: "replace", path: "emails[primary eq true]", value: { value: "n@x.example" } };
    expect(patched(operation).emails).toEqual([{ value: "n@x.example", primary: true }, HOME]);
  });
});

describe("the profile entra", () => {
  test.each([
    ['emails[type eq "other"].value', "n@x.example"],
    ['emails[type eq "other"]', NEW],
    ['emails[type eq "OTHER" and value eq "n@x.example"]', { type: "other" }],
  ])("SCIM-75 adds the missing value on a replace of %s", (path, value) => {
    const after = patchedWith("entra", USER, { op: "replace", path, value });
    expectDifference(USER, after, { emails: [WORK, HOME, NEW] });
  });

  test("SCIM-76 refuses to add a value for any other filter", () => {
    const operation = { op: "replace", path: 'emails[type co "other"].value', value: "n@x.example" };
    expectInvalid(() => patchedWith("entra", USER, operation), "noTarget");
  });

  test("ignores a removal of a missing value", () => {
    const operation = { op: "replace", path: 'emails[type eq "other"].value', value: null };
    expect(patchedWith("entra", USER, operation)).toEqual(USER);
  });
});

describe("the e-mail derived from the user name", () => {
  const { emails: _, ...BARE } = USER;
  const DERIVED = { value: "ada@example.com", type: "work", primary: true };
  const after = (...operations: readonly object[]) => patchedWith("standard", BARE, ...operations);

  test.each<[string, object, ScimValue | undefined]>([
    [
      "matches a filter and is stored",
      { op: "replace", path: 'emails[type eq "work"].value', value: "n@x.example" },
      [{ ...DERIVED, value: "n@x.example" }],
    ],
    [
      "is stored with one that a filter adds",
      { op: "add", path: 'emails[type eq "other"].value', value: "n@x.example" },
      [DERIVED, NEW],
    ],
    ["is not stored by an addition to the list", { op: "add", path: "emails", value: NEW }, [NEW]],
    [
      "is not stored by a removal from the list",
      { op: "remove", path: "emails", value: ["x@y.z"] },
      undefined,
    ],
    ["is not stored by a part of every value", { op: "add", path: "emails.display", value: "x" }, undefined],
    [
      "is not stored by a removal without a match",
      { op: "remove", path: 'emails[type eq "fax"]' },
      undefined,
    ],
    ["is not affected by a removal", { op: "remove", path: 'emails[type eq "work"]' }, undefined],
    ["is not stored without a part it lacks", { op: "remove", path: "emails[value pr].display" }, undefined],
  ])("%s", (_, operation, emails) => {
    expect(after(operation).emails).toEqual(emails);
  });

  test("matches the user name that an earlier operation set", () => {
    const rename = { op: "replace", path: "userName", value: "new@example.com" };
    const label = { op: "add", path: 'emails[value eq "new@example.com"].display', value: "x" };
    expect(after(rename, label).emails).toEqual([
      { value: "new@example.com", display: "x", type: "work", primary: true },
    ]);
  });
});

describe("SCIM-78 the last e-mail", () => {
  const NAMED: ScimObject = { ...USER, userName: "ada", emails: [WORK] };
  const remove = { op: "remove", path: 'emails[type eq "work"]' };

  test("can be removed while the user name is an address", () => {
    expect(patched({ op: "remove", path: "emails" }).emails).toBeUndefined();
  });

  test.each([
    remove,
    { op: "replace", path: "emails", value: [] },
    { op: "remove", path: "emails[value pr].value" },
  ])("may not be removed otherwise: %j", (operation) => {
    expectInvalid(() => patchedWith("standard", NAMED, operation), "mutability", "emails");
  });

  test("may be removed and added again in one request", () => {
    const after = patchedWith("standard", NAMED, remove, { op: "add", path: "emails", value: NEW });
    expect(after.emails).toEqual([NEW]);
  });

  test("may lack an address only if another one has it", () => {
    const spoil = { op: "replace", path: 'emails[type eq "work"].value', value: "nowhere" };
    expectInvalid(() => patchedWith("standard", NAMED, spoil), "invalidValue", "emails");
    expect(patched(spoil).emails).toEqual([{ ...WORK, value: "nowhere" }, HOME]);
  });
});

describe("a value without a path", () => {
  test("may contain names with brackets", () => {
    const value = { 'emails[type eq "work"].value': "n@x.example", 'nothing[type eq "x"].value': "y" };
    const after = patched({ op: "replace", value });
    expectDifference(USER, after, { emails: [{ ...WORK, value: "n@x.example" }, HOME] });
  });

  test("may contain computed and unknown attributes, which are ignored", () => {
    const value: object =
      JSON.parse(`{ "id": "${ID}", "schemas": ["x"], "meta": { "version": "9" }, "groups": [],
      "groups.value": "x", "manager.displayName": "x", "password": "x", "nope": 1, "__proto__": { "title": "x" },
      "constructor.prototype": { "title": "x" }, "urn:x:y:User": { "title": "x" } }`);
    expect(patched({ op: "replace", value })).toEqual(USER);
    expect(patched({ op: "add", value })).toEqual(USER);
  });

  test("is refused with all its problems", () => {
    const value = { title: {}, "name.givenName": {}, id: "z" };
    expectInvalid(() => patched({ op: "replace", value }), "invalidValue", "title", "name.givenName", "id");
  });
});

describe("the resulting user", () => {
  test.each(["password", `${CORE_USER}:password`])("SCIM-21 is unchanged after %s was sent", (path) => {
    for (const op of ["add", "replace", "remove"]) expect(patched({ op, path, value: "x" })).toEqual(USER);
  });

  test("is unchanged after `schemas` was set", () => {
    expect(patched({ op: "replace", path: "schemas", value: ["urn:x"] })).toEqual(USER);
  });

  test("follows the order of the schema table for any order of operations", () => {
    const after = patchedWith(
      "standard",
      { userName: "ada@example.com", active: true },
      { op: "add", path: "manager", value: "m1" },
      { op: "add", path: "department", value: "D" },
      { op: "add", path: 'emails[type eq "work"].display', value: "x" },
      { op: "add", path: "name.givenName", value: "Ada" },
      { op: "add", path: "name.familyName", value: "L" },
      { op: "add", path: "externalId", value: "e" },
    );
    expect(JSON.stringify(after)).toBe(
      JSON.stringify({
        externalId: "e",
        userName: "ada@example.com",
        name: { familyName: "L", givenName: "Ada" },
        active: true,
        emails: [{ value: "ada@example.com", display: "x", type: "work", primary: true }],
        [ENTERPRISE_USER]: { department: "D", manager: { value: "m1" } },
      }),
    );
  });

  test("leaves the previous document unmodified", () => {
    const before = JSON.stringify(USER);
    patched({ op: "replace", path: "emails[value pr].display", value: "x" }, { op: "remove", path: "name" });
    expect(JSON.stringify(USER)).toBe(before);
  });

  test("reflects the operations in order", () => {
    const after = patched(
      { op: "remove", path: "emails" },
      { op: "add", path: "emails", value: NEW },
      { op: "replace", path: 'emails[type eq "other"].type', value: "work" },
    );
    expectDifference(USER, after, { emails: [{ ...NEW, type: "work" }] });
  });
});

describe.each([
  ["emails", (at: number) => ({ op: "add", path: "emails", value: `${at}@x.example` })],
  ["ims", (at: number) => ({ op: "add", path: `ims[type eq "${at}"].value`, value: "x" })],
])("%s added one by one", (name, operationAt) => {
  const { [name]: _, ...WITHOUT } = USER;
  const add = (count: number) =>
    patchedWith("standard", WITHOUT, ...Array.from({ length: count }, (_, at) => operationAt(at)));

  test.each([VALUES_MAX - 1, VALUES_MAX])("may be %i", (count) => {
    expect(add(count)[name]).toHaveLength(count);
  });

  test("cannot be one more", () => {
    expectInvalid(() => add(VALUES_MAX + 1), "invalidValue", name, `Operations[${VALUES_MAX}]`);
  });
});

test.each(["add", "replace", "remove"])(
  "SCIM-73 %s refuses a list far longer than an attribute unread",
  (op) => {
    const listOf = (length: number) => Array.from({ length }, () => ({ value: "new@x.example" }));
    const patch = (length: number) =>
      patchedWith("standard", USER, { op, path: "emails", value: listOf(length) });
    expectInvalid(() => patch(SENT_PER_VALUE * VALUES_MAX + 1), "invalidValue", "emails can have at most");
    if (op !== "replace") expect(() => patch(SENT_PER_VALUE * VALUES_MAX)).not.toThrow();
  },
);

describe("a message", () => {
  const patch = (body: unknown) => patchUser(USER, body, { id: ID, profile: "standard" });
  const Operations = [{ op: "replace", path: "title", value: "Prof" }];

  test.each([
    { Operations },
    { schemas: [], Operations },
    { SCHEMAS: [PATCH_OP.toUpperCase()], operations: [{ OP: "REPLACE", Path: "title", VALUE: "Prof" }] },
    { schemas: ["urn:x", PATCH_OP], Operations },
  ])("SCIM-39 is read in any letter case: %j", (body) => {
    expectDifference(USER, patch(body), { title: "Prof" });
  });

  test.each([
    [null],
    ["x"],
    [Operations],
    [{}],
    [{ Operations: [] }],
    [{ Operations: { op: "replace" } }],
    [{ Operations, schemas: [CORE_USER] }],
  ])("SCIM-82 is malformed: %j", (body) => {
    expectInvalid(() => patch(body), "invalidSyntax");
  });

  test.each([
    [null],
    ["x"],
    [{}],
    [{ op: "copy", path: "title" }],
    [{ op: 1 }],
    [{ op: "__proto__", path: "title", value: "x" }],
  ])("SCIM-82 is malformed because of its second operation: %j", (operation) => {
    expectInvalid(() => patch({ Operations: [...Operations, operation] }), "invalidSyntax", "Operations[1]");
  });

  const repeated = (count: number) => patch({ Operations: Array(count).fill(Operations[0]) });

  test.each([PATCH_OPERATIONS_MAX - 1, PATCH_OPERATIONS_MAX])("may have %i operations", (count) => {
    expect(repeated(count).title).toBe("Prof");
  });

  test("cannot have one more", () => {
    const { status, scimType, message } = refusalOf(() => repeated(PATCH_OPERATIONS_MAX + 1));
    expect([status, scimType]).toEqual([413, undefined]);
    expect(message).toContain(String(PATCH_OPERATIONS_MAX));
  });

  const pathOf = (length: number) =>
    `emails[value eq "${"x".repeat(length - 'emails[value eq ""]'.length)}"]`;

  test.each([FILTER_LENGTH_MAX - 1, FILTER_LENGTH_MAX])("may have a path of %i characters", (length) => {
    expect(patched({ op: "remove", path: pathOf(length) })).toEqual(USER);
  });

  test("cannot have a longer path", () => {
    expectInvalid(() => patched({ op: "remove", path: pathOf(FILTER_LENGTH_MAX + 1) }), "invalidPath");
  });

  describe("lists of 50 values in a message", () => {
    const roles = Array.from({ length: 50 }, (_, at) => ({ value: `r${at}` }));
    const title = { op: "replace", path: "title", value: "Prof" };
    const filtered = { op: "remove", path: `roles[${Array(4).fill('value eq "z"').join(" or ")}]` };
    const listed = { op: "remove", path: "roles", value: Array(4).fill("z") };
    const most = PATCH_COMPARISONS_MAX / (50 * 4);
    const sent = (operation: object, count: number) =>
      patchedWith("standard", { ...USER, roles }, title, ...Array(count).fill(operation));

    test.each([
      ["filters", filtered],
      ["values", listed],
    ])("may compare with %s up to the limit, but not beyond", (_what, operation) => {
      expect(sent(operation, most - 1)).toEqual({ ...USER, title: "Prof", roles });
      expect(sent(operation, most)).toEqual({ ...USER, title: "Prof", roles });
      const { status, scimType, message } = refusalOf(() => sent(operation, most + 1));
      expect([status, scimType]).toEqual([413, undefined]);
      expect(message).toStartWith(`Operations[${most + 1}]: `);
      expect(message).toContain(String(PATCH_COMPARISONS_MAX));
    });
  });
});
