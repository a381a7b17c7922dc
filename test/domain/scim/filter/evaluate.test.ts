// Evaluation of filters in memory, and the values that a filter fixes. test/properties/scim-filter.test.ts compares it with SQL.
import { describe, expect, test } from "bun:test";
import { matches, matchesElement } from "../../../../src/domain/scim/filter/evaluate.ts";
import { equalities, membersNamed } from "../../../../src/domain/scim/filter/named-values.ts";
import { parseFilter, parseTarget } from "../../../../src/domain/scim/filter/parse.ts";
import type { ScimObject } from "../../../../src/domain/scim/model.ts";
import { ENTERPRISE_USER, type ResourceTypeName } from "../../../../src/domain/scim/wire.ts";

const ADA: ScimObject = {
  id: "a1",
  userName: "Ada@Example.com",
  externalId: "Ext1",
  name: { givenName: "Ada", familyName: "Straße" },
  displayName: "ada 😀",
  profileUrl: "https://X.example/ada",
  active: false,
  emails: [
    { value: "ada@example.com", type: "work", primary: true },
    { value: "ada@home.example", type: "home" },
  ],
  addresses: [{ locality: "London" }],
  [ENTERPRISE_USER]: { department: "R&D", manager: { value: "b2" } },
  meta: { resourceType: "User", created: "2026-01-01T00:00:00.000Z" },
};
const ENGINEERS: ScimObject = {
  displayName: "Engineers",
  members: [{ value: "a1", type: "User" }],
  meta: { resourceType: "Group" },
};

describe("SCIM-53 to SCIM-58 true of Ada is", () => {
  test.each([
    'userName eq "ADA@example.COM"',
    'externalId eq "Ext1"',
    'name.familyName eq "STRAßE"',
    'name.familyName sw "str"',
    'userName ew ".COM"',
    'userName co "@"',
    'title ne "x"',
    "not (title pr)",
    "title eq null",
    'not (title co "x")',
    "active pr",
    "active eq false",
    "active ne true",
    'active eq "False"',
    "name pr",
    "addresses pr",
    "roles eq null",
    'emails[type eq "work" and value co "example.com"]',
    'emails.type eq "home" and emails.value eq "ada@example.com"',
    'emails[type eq "HOME"].value eq "ADA@home.example"',
    'emails.value ne "ada@example.com"',
    "emails[primary ne true]",
    "emails[primary eq null]",
    'emails.type ne "work"',
    'department eq "r&d"',
    'manager eq "b2"',
    'manager[value eq "b2"]',
    'meta.created eq "2026-01-01T01:00:00+01:00"',
    'meta.created ge "2026-01-01T00:00:00Z"',
    'meta.created lt "2026-01-01T00:00:00.001Z"',
    'displayName gt "ada \uffff"',
    'displayName le "ADA 😀"',
    'userName ge "ada" and userName lt "adb"',
    'meta.resourceType eq "User"',
    'id eq "a1" and manager eq "b2"',
  ])("%s", (filter) => {
    expect(matches(parseFilter("User", filter), ADA)).toBe(true);
  });
});

describe("SCIM-53 to SCIM-58 filters that do not match Ada", () => {
  test.each([
    'externalId eq "ext1"',
    'profileUrl co "x.example"',
    'title eq ""',
    'title gt "a"',
    'title lt "z"',
    'title co ""',
    "active eq true",
    'emails[type eq "work" and value eq "ada@home.example"]',
    'emails[type eq "work"].value eq "ada@home.example"',
    'emails[type eq "other"]',
    'roles ne "x"',
    'phoneNumbers.type ne "work"',
    "roles[not (value pr)]",
    'name[givenName eq "Bob"]',
    'manager eq "B2"',
    'meta.resourceType eq "user"',
  ])("%s", (filter) => {
    expect(matches(parseFilter("User", filter), ADA)).toBe(false);
  });
});

test("groups are filtered by their members", () => {
  const isTrue = (filter: string) => matches(parseFilter("Group", filter), ENGINEERS);
  expect(isTrue('members eq "a1"')).toBe(true);
  expect(isTrue('members[type eq "user" and value eq "a1"]')).toBe(true);
  expect(isTrue('members.value eq "A1"')).toBe(false);
});

describe("a filter in brackets", () => {
  const elementsOf = (path: string, type: ResourceTypeName = "User") => {
    const { elements } = parseTarget(type, path);
    if (!elements) throw new Error("no brackets");
    return elements;
  };

  test("tests each element separately", () => {
    const elements = elementsOf('emails[type eq "WORK" and not (primary eq true)]');
    expect(matchesElement(elements, { value: "x", type: "work" })).toBe(true);
    expect(matchesElement(elements, { value: "x", type: "work", primary: true })).toBe(false);
    expect(matchesElement(elements, { value: "x" })).toBe(false);
  });

  test.each([
    ['emails[type eq "Work" and primary eq "true"]', { type: "Work", primary: true }],
    ['emails[(type eq "Work")]', { type: "Work" }],
    ['emails[type eq "Work" and (type eq "WORK" and value eq "A")]', { type: "WORK", value: "A" }],
    ['emails[type eq "work" and type eq "home"]', undefined],
    ['emails[type eq "work" or type eq "home"]', undefined],
    ['emails[not (type eq "work")]', undefined],
    ['emails[type ne "work"]', undefined],
    ['emails[type sw "work"]', undefined],
    ["emails[type pr]", undefined],
  ])("yields the parts that a new value needs: %s", (path, expected) => {
    const named = equalities(elementsOf(path));
    expect(named && Object.fromEntries([...named].map(([{ name }, value]) => [name, value]))).toEqual(
      expected,
    );
  });

  test.each([
    ['members[value eq "a"]', ["a"]],
    ['members[value eq "A" or (value eq "b" or value eq "c")]', ["A", "b", "c"]],
    ['members[type eq "User"]', undefined],
    ['members[value eq "a" and value eq "a"]', undefined],
    ['members[value eq "a" or type eq "User"]', undefined],
    ['members[value ne "a"]', undefined],
    ["members[value pr]", undefined],
  ])("yields the ids of its members: %s", (path, expected) => {
    expect(membersNamed(elementsOf(path, "Group"))).toEqual(expected);
  });
});
