// PATCH of a group, reduced to the attributes that are set and the users that are added and removed. Tests with stored groups
// execute it; patch-examples.test.ts has the worked examples.
import { describe, expect, test } from "bun:test";
import type { ScimType } from "../../../../src/domain/scim/errors.ts";
import { REQUEST_MEMBERS_MAX } from "../../../../src/domain/scim/patch/member-ids.ts";
import { PATCH_OPERATIONS_MAX } from "../../../../src/domain/scim/patch/operations.ts";
import { type GroupPatch, readGroupPatch } from "../../../../src/domain/scim/patch/patch-group.ts";
import { TEXT_LENGTH_MAX } from "../../../../src/domain/scim/schema/schema.ts";
import { CORE_GROUP, ENTERPRISE_USER } from "../../../../src/domain/scim/wire.ts";
import { runSynchronously } from "../../../../src/platform/steps.ts";
import { expectInvalid, refusalOf } from "../refusal.ts";

const ID = "0198c0df-7a11-7c3e-9d52-4f0f6f1f2a10";

const patched = (...Operations: readonly object[]): GroupPatch =>
  runSynchronously(readGroupPatch({ Operations }, { id: ID, profile: "standard" }));

const membersAfter = (...operations: readonly object[]) => patched(...operations).members;

const UNCHANGED = { base: "kept", add: [], remove: [] } as const;
const add = (value: unknown) => ({ op: "add", path: "members", value });
const remove = (value?: unknown) => ({
  op: "remove",
  path: "members",
  ...(value !== undefined && { value }),
});
const replace = (value: unknown) => ({ op: "replace", path: "members", value });
const at = (path: string, op = "remove", value?: unknown) => ({
  op,
  path,
  ...(value !== undefined && { value }),
});

describe("SCIM-79 members", () => {
  test.each<[string, object[], Partial<GroupPatch["members"]>]>([
    [
      "are added from texts, objects and references",
      [add(["u1", { value: "u2" }, { $ref: "x/u3" }])],
      { add: ["u1", "u2", "u3"] },
    ],
    [
      "are added one by one",
      [add("u1"), add({ value: "u2", type: "user", display: "Ada" })],
      { add: ["u1", "u2"] },
    ],
    ["are not added by an empty list", [add([]), add(null), add("")], {}],
    ["are removed by value", [remove([{ value: "u1" }, "u2"]), remove("u3")], { remove: ["u1", "u2", "u3"] }],
    ["are removed by filter", [at('MEMBERS[VALUE EQ "u1"]')], { remove: ["u1"] }],
    [
      "are removed by a filter of several",
      [at('members[value eq "u1" or value eq "u2"]')],
      { remove: ["u1", "u2"] },
    ],
    [
      "are removed under the URN of the schema",
      [at(`${CORE_GROUP}:members[value eq "u1"]`)],
      { remove: ["u1"] },
    ],
    [
      "are added by the filter that names one",
      [at('members[value eq "u1"]', "add", { value: "u1" })],
      { add: ["u1"] },
    ],
    [
      "are added by a filter and a value without an id",
      [at('members[value eq "u1"]', "add", { display: "A" })],
      { add: ["u1"] },
    ],
    ["are not removed by an empty value", [remove([]), remove(null), remove("")], {}],
    ["are all removed without a value", [add("u1"), remove()], { base: "emptied" }],
    ["are all replaced", [add("u1"), remove("u2"), replace(["u3"])], { base: "emptied", add: ["u3"] }],
    ["are all replaced by null", [replace(null)], { base: "emptied" }],
    [
      "are added after others are removed",
      [remove(), add("u1"), remove("u2")],
      { base: "emptied", add: ["u1"] },
    ],
    ["stay when removed and added again", [remove("u1"), add("u1")], { add: ["u1"] }],
    [
      "are removed when added and removed again",
      [add(["u1", "u2"]), at('members[value eq "u1"]')],
      { add: ["u2"], remove: ["u1"] },
    ],
    [
      "are gone after a replacement and a removal",
      [replace(["u1", "u2"]), remove("u1")],
      { base: "emptied", add: ["u2"] },
    ],
    ["are added without a path", [{ op: "Add", value: { Members: [{ value: "u1" }] } }], { add: ["u1"] }],
    [
      "are replaced without a path",
      [{ op: "replace", value: { members: ["u1"] } }],
      { base: "emptied", add: ["u1"] },
    ],
    ["stay when a value without a path has no members", [{ op: "replace", value: { displayName: "G" } }], {}],
  ])("%s", (_, operations, members) => {
    expect(membersAfter(...operations)).toEqual({ ...UNCHANGED, ...members });
  });

  test.each<[ScimType, object]>([
    ["invalidPath", at('members[type eq "User"]')],
    ["invalidPath", at('members[value ne "u1"]')],
    ["invalidPath", at('members[value eq "u1" and type eq "User"]')],
    ["invalidPath", at("members[value pr]")],
    ["invalidPath", at('members[display eq "Ada"]')],
    ["invalidPath", at("members[constructor pr]")],
    ["invalidPath", at("__proto__", "add", ["u1"])],
    ["invalidPath", at("emails", "add", ["u1"])],
    ["invalidPath", at(`${ENTERPRISE_USER}:department`, "add", "x")],
    ["mutability", at('members[value eq "u1"]', "replace", { value: "u2" })],
    ["mutability", at('members[value eq "u1"]', "add", "u2")],
    ["mutability", at('members[value eq "u1" or value eq "u2"]', "add", { display: "x" })],
    ["mutability", at('members[value eq "u1"].value')],
    ["mutability", at('members[value eq "u1"].display', "replace", "x")],
    ["mutability", at("members.value")],
    ["mutability", at("members.display", "replace", "x")],
    ["mutability", { op: "add", value: { "members.value": "u1" } }],
    ["invalidValue", add([{ display: "Ada" }])],
    ["invalidValue", remove({})],
    ["invalidValue", remove([null])],
    ["invalidValue", remove([{ $ref: null }])],
    ["invalidValue", remove([" "])],
    ["invalidValue", remove(true)],
    ["invalidValue", at('members[value eq ""]')],
    ["invalidValue", replace([{ value: "u1" }, { id: "u2" }])],
    ["invalidValue", add([{ value: "g1", type: "group" }])],
    ["invalidValue", { op: "add", path: "members" }],
    ["invalidValue", { op: "replace", path: "members" }],
    ["noTarget", { op: "remove", value: { members: ["u1"] } }],
    ["invalidSyntax", { op: "clear", path: "members" }],
  ])("refuses to change the members: %s for %j", (scimType, operation) => {
    expectInvalid(() => patched(add("u1"), operation), scimType, "Operations[1]");
  });

  test("refuses members with every wrong entry", () => {
    const members = [{ value: "g1", type: "Group" }, "u1", {}];
    expectInvalid(() => patched(add(members)), "invalidValue", "members[0]", "nested", "members[2]");
  });

  const idsOf = (count: number) => Array.from({ length: count }, (_, index) => `u${index}`);

  test.each([REQUEST_MEMBERS_MAX - 1, REQUEST_MEMBERS_MAX])("may be %i in a request", (count) => {
    expect(membersAfter(add(idsOf(count - 2)), at('members[value eq "a" or value eq "b"]')).add).toHaveLength(
      count - 2,
    );
  });

  test("SCIM-80 cannot exceed the maximum by one", () => {
    const { status, scimType, message } = refusalOf(() => patched(add("a"), add(idsOf(REQUEST_MEMBERS_MAX))));
    expect([status, scimType]).toEqual([413, undefined]);
    expect(message).toContain(String(REQUEST_MEMBERS_MAX));
  });

  test.each([PATCH_OPERATIONS_MAX - 1, PATCH_OPERATIONS_MAX])(
    "may be added one by one in %i operations",
    (count) => {
      expect(membersAfter(...idsOf(count).map(add)).add).toHaveLength(count);
    },
  );

  test("SCIM-80 cannot be added with one more operation", () => {
    const { status } = refusalOf(() => patched(...idsOf(PATCH_OPERATIONS_MAX + 1).map(add)));
    expect(status).toBe(413);
  });
});

describe("names", () => {
  test.each<[object, Omit<GroupPatch, "members">]>([
    [at("displayName", "replace", " New "), { displayName: "New" }],
    [at("displayName", "add", ["New"]), { displayName: "New" }],
    [at("displayName", "add", null), {}],
    [at("externalId", "replace", " e "), { externalId: " e " }],
    [at("EXTERNALID", "replace", 7), { externalId: "7" }],
    [at("externalId", "replace", null), { externalId: null }],
    [at("externalId", "add", null), {}],
    [at("externalId"), { externalId: null }],
    [at(`${CORE_GROUP}:displayName`, "replace", "New"), { displayName: "New" }],
    [at("schemas", "replace", ["urn:x"]), {}],
  ])("sets names by %j", (operation, names) => {
    expect(patched(operation)).toEqual({ ...names, members: UNCHANGED });
  });

  test("keeps the names of the last operation", () => {
    const { displayName, externalId } = patched(
      at("displayName", "replace", "One"),
      at("externalId", "replace", "e1"),
      { op: "replace", value: { displayName: "Two", externalId: null } },
      at("externalId", "add", "e2"),
    );
    expect([displayName, externalId]).toEqual(["Two", "e2"]);
  });

  test("accepts names inside the whole group, as authentik and Okta send them", () => {
    const value: object = JSON.parse(`{ "id": "${ID}", "schemas": ["x"], "meta": {}, "displayName": "New",
      "externalId": "e1", "members.display": "x", "__proto__": { "members": [] }, "constructor": 1, "nope": [] }`);
    expect(patched({ op: "replace", value })).toEqual({
      displayName: "New",
      externalId: "e1",
      members: UNCHANGED,
    });
  });

  test.each<[ScimType, object]>([
    ["mutability", at("displayName")],
    ["mutability", at("displayName", "replace", " ")],
    ["mutability", { op: "replace", value: { displayName: null } }],
    ["mutability", at("id", "replace", ID)],
    ["mutability", at("meta.created", "replace", "x")],
    ["mutability", { op: "replace", value: { id: "z", displayName: "New" } }],
    ["mutability", at("schemas")],
    ["invalidValue", at("displayName", "replace", {})],
    ["invalidValue", at("displayName", "replace", "a\u0000b")],
    ["invalidValue", at("externalId", "replace", ["a", "b"])],
    ["invalidValue", { op: "replace", value: "New" }],
  ])("refuses names as %s for %j", (scimType, operation) => {
    expectInvalid(() => patched(operation), scimType, "Operations[0]");
  });

  test.each(["displayName", "externalId"])("may have %s up to its limit", (name) => {
    const set = (length: number) => patched(at(name, "replace", "x".repeat(length)));
    for (const length of [TEXT_LENGTH_MAX - 1, TEXT_LENGTH_MAX])
      expect(set(length)).toMatchObject({ [name]: "x".repeat(length) });
    expectInvalid(() => set(TEXT_LENGTH_MAX + 1), "invalidValue", name, String(TEXT_LENGTH_MAX));
  });
});
