// Bodies of POST and PUT as providers send them in practice: the result of each spelling, type and empty value, and what is
// refused. Limits are tested at, below and above.
import { describe, expect, test } from "bun:test";
import {
  checkUser,
  readGroup as groupIn,
  readUser,
} from "../../../../src/domain/scim/messages/read-resource.ts";
import type { ScimObject } from "../../../../src/domain/scim/model.ts";
import { REQUEST_MEMBERS_MAX } from "../../../../src/domain/scim/patch/member-ids.ts";
import {
  ADDRESS_LENGTH_MAX,
  CERTIFICATE_LENGTH_MAX,
  CERTIFICATES_MAX,
  LOCALE_LENGTH_MAX,
  TEXT_LENGTH_MAX,
  URL_LENGTH_MAX,
  VALUES_MAX,
} from "../../../../src/domain/scim/schema/schema.ts";
import { PROBLEMS_REPORTED_MAX, SENT_PER_VALUE } from "../../../../src/domain/scim/schema/values.ts";
import { CORE_GROUP, CORE_USER, ENTERPRISE_USER } from "../../../../src/domain/scim/wire.ts";
import { runSynchronously } from "../../../../src/platform/steps.ts";
import { expectInvalid, refusalOf } from "../refusal.ts";

const ADA = { userName: "ada@example.com" };

const readGroup = (body: unknown) => runSynchronously(groupIn(body));

/** The attributes that are read in addition to the user name. */
function readBeside(body: object): ScimObject {
  const { userName: _, active: __, ...others } = readUser({ ...ADA, ...body }).doc;
  return others;
}

/** A body as JSON.parse returns it, with `__proto__` as an own member. */
const parsed = (json: string): object => JSON.parse(json);

describe("a user", () => {
  test("is read in the order of the schema table for any order of input", () => {
    const { doc } = readUser({
      [ENTERPRISE_USER]: { manager: { value: "m1" }, employeeNumber: "7" },
      emails: [{ primary: true, type: "work", value: "ada@example.com" }],
      name: { givenName: "Ada", formatted: "Ada L" },
      ...ADA,
      externalId: "e1",
    });
    expect(JSON.stringify(doc)).toBe(
      JSON.stringify({
        externalId: "e1",
        userName: "ada@example.com",
        name: { formatted: "Ada L", givenName: "Ada" },
        active: true,
        emails: [{ value: "ada@example.com", type: "work", primary: true }],
        [ENTERPRISE_USER]: { employeeNumber: "7", manager: { value: "m1" } },
      }),
    );
  });

  test.each([[{}], [{ active: null }], [{ active: "" }], [{ active: [] }]])(
    "leaves active undefined for %j",
    (body) => {
      const { doc, active } = readUser({ ...ADA, ...body });
      expect([doc.active, active]).toEqual([true, undefined]);
    },
  );

  test("keeps active as false", () => {
    const { doc, active } = readUser({ ...ADA, active: "FALSE" });
    expect([doc.active, active]).toEqual([false, false]);
  });

  test("loses white space only around its user name", () => {
    expect(readUser({ userName: " ada@example.com\t", title: " Dr " }).doc).toMatchObject({
      ...ADA,
      title: " Dr ",
    });
  });

  test.each([
    ["names in any letter case", { TITLE: "Dr", NAME: { GIVENNAME: "Ada" } }],
    ["names with the URN of the core schema", { [`${CORE_USER}:title`]: "Dr", "Name.givenName": "Ada" }],
  ])("may have %s", (_, body) => {
    expect(readBeside(body)).toEqual({ name: { givenName: "Ada" }, title: "Dr" });
  });

  test.each([
    ["an object under its URN", { [ENTERPRISE_USER.toUpperCase()]: { Department: "R&D" } }],
    ["a URN-prefixed name", { [`${ENTERPRISE_USER}:department`]: "R&D" }],
    ["a bare name", { department: "R&D" }],
  ])("may have extension attributes as %s, with no schema listed", (_, body) => {
    expect(readBeside(body)).toEqual({ [ENTERPRISE_USER]: { department: "R&D" } });
  });

  test.each([
    ["the id", "m1"],
    ["an object", { value: "m1", displayName: "Grace" }],
    ["a list of one", [{ $ref: "https://host/scim/v2/Users/m2", value: "m1" }]],
    ["a reference alone", { $ref: "https://host/scim/v2/Users/m1/", value: "" }],
  ])("may reference its manager by %s", (_, manager) => {
    expect(readBeside({ manager })).toEqual({ [ENTERPRISE_USER]: { manager: { value: "m1" } } });
  });

  test.each([
    ["null", { title: null, name: null, emails: null, [ENTERPRISE_USER]: null }],
    ["an empty list", { title: [], name: [], roles: [], [ENTERPRISE_USER]: [] }],
    ["empty text", { title: "", name: "", emails: "", [ENTERPRISE_USER]: "" }],
    ["a complex value without content", { name: { givenName: "" }, [ENTERPRISE_USER]: { manager: {} } }],
    ["values without value", { emails: [{ type: "work", primary: true }, null, ""], photos: {} }],
    ["an address with only a type", { addresses: [{ type: "work", locality: null }] }],
  ])("SCIM-40 has no attribute for %s", (_, body) => {
    expect(readBeside(body)).toEqual({});
  });

  test.each([
    ["text from a number", { title: 7 }, { title: "7" }],
    ["text from a boolean", { title: false }, { title: "false" }],
    ["a single value from a list of one", { title: ["Dr"] }, { title: "Dr" }],
    ["many values from one object", { ims: { value: "x" } }, { ims: [{ value: "x" }] }],
    ["many values from one text", { roles: "dev" }, { roles: [{ value: "dev" }] }],
    ["many values from texts", { roles: ["a", "b"] }, { roles: [{ value: "a" }, { value: "b" }] }],
    [
      "a boolean from text within a value",
      { roles: [{ value: "a", primary: "True" }] },
      { roles: [{ value: "a", primary: true }] },
    ],
  ])("SCIM-42 may have %s", (_, body, beside: object) => {
    expect(readBeside(body)).toEqual(beside as ScimObject);
  });

  test.each([
    ["title", { title: { value: "Dr" } }],
    ["title", { title: ["a", "b"] }],
    ["active", { active: 1 }],
    ["active", { active: "yes" }],
    ["name", { name: "Ada Lovelace" }],
    ["name.givenName", { name: { givenName: {} } }],
    ["addresses[0]", { addresses: ["Main Street"] }],
    ["emails[1].value", { emails: [{ value: "a@b.example" }, { value: {} }] }],
    [`${ENTERPRISE_USER}:manager.value`, { [ENTERPRISE_USER]: { manager: { value: {} } } }],
    [ENTERPRISE_USER, { [ENTERPRISE_USER]: "x" }],
    ["nickName", { nickName: "half a pair: \ud800" }],
  ])("is refused for a wrong %s", (name, body) => {
    expectInvalid(() => readUser({ ...ADA, ...body }), "invalidValue", name);
  });

  test("is refused with all its problems", () => {
    const body = { ...ADA, title: {}, name: { givenName: {}, familyName: {} }, emails: [{ value: {} }] };
    const told = ["title", "name.givenName", "name.familyName", "emails[0].value"];
    expectInvalid(() => readUser(body), "invalidValue", ...told);
    expectInvalid(() => readUser({ title: "Dr" }), "invalidValue", "userName", "emails");
  });

  test.each([PROBLEMS_REPORTED_MAX - 1, PROBLEMS_REPORTED_MAX, PROBLEMS_REPORTED_MAX + 1])(
    "limits the number of problems reported for %i wrong values",
    (count) => {
      const emails = Array.from({ length: count }, () => ({ value: {} }));
      const problems = refusalOf(() => readUser({ ...ADA, emails })).message.split("; ");
      expect(problems).toHaveLength(Math.min(count, PROBLEMS_REPORTED_MAX));
    },
  );

  test("SCIM-41 may contain computed and unknown attributes, which are ignored", () => {
    const { doc } = readUser(
      parsed(`{ "id": "x", "meta": { "version": "1" }, "groups": [{ "value": "g" }], "password": { "x": 1 },
        "constructor": 1, "prototype": {}, "__proto__": { "title": "Dr" }, "toString": "x", "urn:x:y:User": { "a": 1 },
        "emails.constructor": 1, "userName": "ada@example.com",
        "name": { "__proto__": { "givenName": "no" }, "constructor": "no", "familyName": "L" } }`),
    );
    expect(doc).toEqual({ ...ADA, name: { familyName: "L" }, active: true });
    expect(Object.getPrototypeOf(doc)).toBe(Object.prototype);
    expect(Object.hasOwn(Object.prototype, "title")).toBe(false);
  });

  test("may have one primary value in a list", () => {
    const [one, two] = [
      { value: "1@x.example", primary: true },
      { value: "2@x.example", primary: true },
    ];
    expect(readBeside({ emails: [one, { ...two, primary: false }] }).emails).toHaveLength(2);
    expectInvalid(() => readUser({ ...ADA, emails: [one, two] }), "invalidValue", "emails");
  });

  test.each([
    { ...ADA, userName: "  " },
    { emails: [{ value: "ada@example.com" }] },
    { ...ADA, userName: null },
  ])("needs a user name: %j", (body) => {
    expectInvalid(() => readUser(body), "invalidValue", "userName");
  });

  test("needs an address in its emails or as its user name", () => {
    expectInvalid(() => readUser({ userName: "ada" }), "invalidValue", "emails");
    expectInvalid(() => readUser({ userName: "ada", emails: ["nowhere"] }), "invalidValue", "emails");
    expect(readUser({ userName: "ada", emails: ["ada@example.com"] }).doc.userName).toBe("ada");
    expectInvalid(() => checkUser({ active: true }), "invalidValue", "userName", "emails");
  });

  test.each([
    ["userName", { userName: "ada\u0007@example.com" }],
    ["emails[0].value", { ...ADA, emails: ["ada\u0085@example.com"] }],
  ])("SCIM-31 is refused for a control character in %s", (name, body) => {
    expectInvalid(() => readUser(body), "invalidValue", name, "control character");
    expect(readBeside({ title: "a\u0007b" })).toEqual({ title: "a\u0007b" });
  });
});

describe.each([
  ["title", TEXT_LENGTH_MAX, (text: string) => ({ title: text })],
  ["userName", TEXT_LENGTH_MAX, (text: string) => ({ userName: text, emails: ["a@b.example"] })],
  ["externalId", TEXT_LENGTH_MAX, (text: string) => ({ externalId: text })],
  ["name.givenName", TEXT_LENGTH_MAX, (text: string) => ({ name: { givenName: text } })],
  ["ims[0].type", TEXT_LENGTH_MAX, (text: string) => ({ ims: [{ value: "x", type: text }] })],
  ["emails[0].value", ADDRESS_LENGTH_MAX, (text: string) => ({ emails: [text] })],
  ["locale", LOCALE_LENGTH_MAX, (text: string) => ({ locale: text })],
  ["profileUrl", URL_LENGTH_MAX, (text: string) => ({ profileUrl: text })],
  ["x509Certificates[0].value", CERTIFICATE_LENGTH_MAX, (text: string) => ({ x509Certificates: [text] })],
  [`${ENTERPRISE_USER}:department`, TEXT_LENGTH_MAX, (text: string) => ({ department: text })],
])("%s of a user", (name, lengthMax, bodyWith) => {
  const read = (length: number) => readUser({ ...ADA, ...bodyWith("x".repeat(length)) });

  test.each([lengthMax - 1, lengthMax])("can have %i characters", (length) => {
    expect(JSON.stringify(read(length).doc)).toContain(`"${"x".repeat(length)}"`);
  });

  test("is refused with one more character", () => {
    expectInvalid(() => read(lengthMax + 1), "invalidValue", name, String(lengthMax));
  });
});

describe.each([
  ["emails", VALUES_MAX],
  ["addresses", VALUES_MAX],
  ["x509Certificates", CERTIFICATES_MAX],
])("%s of a user", (name, valuesMax) => {
  const read = (count: number) =>
    readBeside({
      [name]: Array.from({ length: count }, (_, at) => ({ value: `v${at}`, locality: `l${at}` })),
    });

  test.each([valuesMax - 1, valuesMax])("can have %i values", (count) => {
    expect(read(count)[name]).toHaveLength(count);
  });

  test("is refused with one more value", () => {
    expectInvalid(() => read(valuesMax + 1), "invalidValue", name, String(valuesMax));
  });

  test("reads a list with many empty elements, and refuses a longer one unread", () => {
    const listOf = (length: number) => ({ [name]: Array.from({ length }, () => ({})) });
    expect(readBeside(listOf(SENT_PER_VALUE * valuesMax))[name]).toBeUndefined();
    const longer = listOf(SENT_PER_VALUE * valuesMax + 1);
    expectInvalid(() => readBeside(longer), "invalidValue", name, `at most ${valuesMax} values`);
  });
});

describe.each([
  ["user", CORE_USER, readUser, ADA],
  ["group", CORE_GROUP, readGroup, { displayName: "Engineering" }],
] as const)("SCIM-38 the schemas of a %s", (_, urn, read: (body: unknown) => unknown, body) => {
  test.each([[undefined], [null], [[]], [[urn]], [urn], [[urn.toUpperCase(), "urn:x:legacy", 7]]])(
    "may be %j",
    (schemas) => {
      expect(() => read({ ...body, schemas })).not.toThrow();
    },
  );

  test.each([[["urn:x:legacy"]], [{}], [7]])("cannot be %j", (schemas) => {
    expectInvalid(() => read({ ...body, schemas }), "invalidSyntax", urn);
  });

  test.each([[null], ["x"], [[]], [[body]]])("belong to an object, not to %j", (notAnObject) => {
    expectInvalid(() => read(notAnObject), "invalidSyntax", "object");
  });
});

describe("a group", () => {
  test("is read with members in every form, each once", () => {
    const members = [
      "u1",
      { value: "u2", display: "Ada" },
      { $ref: "https://host/scim/v2/Users/u3" },
      { $ref: "https://host/scim/v2/Users/ignored", VALUE: "u4", type: "User" },
      { value: ["u5"] },
      { value: 6 },
      "u1",
    ];
    expect(readGroup({ DisplayName: " Engineering ", externalId: " e ", members })).toEqual({
      displayName: "Engineering",
      externalId: " e ",
      members: ["u1", "u2", "u3", "u4", "u5", "6"],
    });
  });

  test("may have one member instead of a list", () => {
    expect(readGroup({ displayName: "G", members: { value: "u1" } }).members).toEqual(["u1"]);
  });

  test.each<[object, readonly string[] | undefined]>([
    [{}, undefined],
    [{ members: null }, []],
    [{ members: [] }, []],
    [{ members: "" }, []],
  ])("reads %j with the members %j", (body, members) => {
    expect(readGroup({ displayName: "G", ...body }).members).toEqual(members);
  });

  test("cannot contain groups", () => {
    const members = [{ value: "g1", type: "GROUP" }];
    expectInvalid(() => readGroup({ displayName: "G", members }), "invalidValue", "members[0]", "nested");
  });

  test("SCIM-80 members are at most as many as a PATCH may name", () => {
    const group = (count: number) => ({ displayName: "G", members: Array(count).fill("u1") });
    for (const count of [REQUEST_MEMBERS_MAX - 1, REQUEST_MEMBERS_MAX])
      expect(readGroup(group(count)).members).toEqual(["u1"]);
    expect(refusalOf(() => readGroup(group(REQUEST_MEMBERS_MAX + 1))).status).toBe(413);
  });

  test.each([[[{ display: "Ada" }]], [[null]], [[""]], [[" "]], [[true]], [{}], [[{ value: { id: "u1" } }]]])(
    "cannot have members %j",
    (members) => {
      expectInvalid(() => readGroup({ displayName: "G", members }), "invalidValue", "members[0]");
    },
  );

  test.each([[{}], [{ displayName: " " }], [{ displayName: null }]])("needs a name: %j", (body) => {
    expectInvalid(() => readGroup(body), "invalidValue", "displayName");
  });

  test("is refused for a control character in its name", () => {
    expectInvalid(() => readGroup({ displayName: "a\u0000b" }), "invalidValue", "control character");
  });

  test.each([TEXT_LENGTH_MAX - 1, TEXT_LENGTH_MAX])("can have a name of %i characters", (length) => {
    expect(readGroup({ displayName: "x".repeat(length) }).displayName).toHaveLength(length);
  });

  test.each(["displayName", "externalId"])("cannot have a longer %s", (name) => {
    const body = { displayName: "G", [name]: "x".repeat(TEXT_LENGTH_MAX + 1) };
    expectInvalid(() => readGroup(body), "invalidValue", name, String(TEXT_LENGTH_MAX));
  });

  test("may contain unknown attributes, which are ignored", () => {
    const body = parsed(
      '{ "displayName": "G", "__proto__": { "members": ["u1"] }, "constructor": {}, "id": "x", "roles": ["a"] }',
    );
    expect(readGroup(body)).toEqual({ displayName: "G", externalId: undefined, members: undefined });
  });
});
