// Which attributes a response contains (RFC 7644 section 3.9), by the requested names.
import { describe, expect, test } from "bun:test";
import { ScimError } from "../../../../src/domain/scim/errors.ts";
import { project, readView, VIEW_NAMES_MAX } from "../../../../src/domain/scim/messages/view.ts";
import type { ScimObject } from "../../../../src/domain/scim/model.ts";
import { CORE_USER, ENTERPRISE_USER } from "../../../../src/domain/scim/wire.ts";

const user: ScimObject = {
  id: "u1",
  userName: "ada",
  name: { givenName: "Ada", familyName: "Lovelace" },
  emails: [{ value: "ada@example.com", display: "Ada", type: "work" }, { value: "ada@home.example" }],
  groups: [],
  [ENTERPRISE_USER]: { department: "R&D", manager: { value: "u2" } },
  meta: { resourceType: "User", version: 'W/"1"' },
};

const shown = (parameters: Parameters<typeof readView>[1]): ScimObject =>
  project(user, readView("User", parameters).partsOf("User"));

function refusal(work: () => unknown): ScimError {
  try {
    work();
  } catch (error) {
    if (error instanceof ScimError) return error;
  }
  throw new Error("nothing was refused");
}

describe("a view without names", () => {
  test("includes every attribute returned by default", () => {
    expect(readView("User", {}).isDefault).toBe(true);
    expect(shown({})).toEqual(user);
  });

  test("treats one or two empty parameters as absent", () => {
    expect(readView("User", { attributes: [""], excludedAttributes: [" , "] }).isDefault).toBe(true);
  });
});

test("excludedAttributes copies only what it changes", () => {
  const all = readView("User", {}).partsOf("User");
  const some = readView("User", { excludedAttributes: ["name.givenName"] }).partsOf("User");
  const same = [...all.keys()].filter((name) => some.get(name) === all.get(name));
  expect(same).toEqual([...all.keys()].filter((name) => name !== "name"));
  expect([all.get("name")?.has("givenName"), some.get("name")?.has("givenName")]).toEqual([true, false]);
});

describe("SCIM-67 attributes", () => {
  test.each<[string, string[], ScimObject]>([
    [
      "include only themselves and the attributes that are always returned",
      ["userName"],
      { id: "u1", userName: "ada" },
    ],
    ["are found in any letter case", ["USERNAME"], { id: "u1", userName: "ada" }],
    ["are found by the URN of the core", [`${CORE_USER}:userName`], { id: "u1", userName: "ada" }],
    ["may be given as one text with commas", [" userName , id"], { id: "u1", userName: "ada" }],
    ["show one part of a complex value", ["name.givenName"], { id: "u1", name: { givenName: "Ada" } }],
    [
      "include all of an attribute that is named both whole and in part",
      ["name", "name.givenName"],
      { id: "u1", name: user.name ?? "" },
    ],
    [
      "include all of an attribute that is named both in part and whole",
      ["name.givenName", "name"],
      { id: "u1", name: user.name ?? "" },
    ],
    ["leave out elements without the part", ["emails.type"], { id: "u1", emails: [{ type: "work" }] }],
    ["show an empty list", ["groups.value"], { id: "u1", groups: [] }],
    [
      "show a whole extension",
      [ENTERPRISE_USER.toUpperCase()],
      { id: "u1", [ENTERPRISE_USER]: user[ENTERPRISE_USER] ?? "" },
    ],
    [
      "show one part of an extension",
      [`${ENTERPRISE_USER}:manager.value`],
      { id: "u1", [ENTERPRISE_USER]: { manager: { value: "u2" } } },
    ],
    [
      "find the extension by a bare name",
      ["department"],
      { id: "u1", [ENTERPRISE_USER]: { department: "R&D" } },
    ],
    ["ignore unknown names", ["nope", "__proto__", "constructor.prototype"], { id: "u1" }],
    ["never show a password", ["password"], { id: "u1" }],
    ["omit a complex value without the requested parts", ["name.middleName"], { id: "u1" }],
  ])("%s", (_, attributes, expected) => {
    expect(shown({ attributes })).toEqual(expected);
  });
});

describe("SCIM-68 excludedAttributes", () => {
  test.each<[string, string[], string[]]>([
    ["take themselves away", ["emails", "META"], ["id", "userName", "name", "groups", ENTERPRISE_USER]],
    ["cannot remove attributes that are always returned", ["id", "schemas"], Object.keys(user)],
    [
      "remove a whole extension",
      [ENTERPRISE_USER],
      Object.keys(user).filter((name) => name !== ENTERPRISE_USER),
    ],
    [
      "remove an attribute without remaining parts",
      ["name.givenName", "name.familyName"],
      Object.keys(user).filter((name) => name !== "name"),
    ],
    ["ignore unknown names", ["nope", "password"], Object.keys(user)],
  ])("%s", (_, excludedAttributes, expected) => {
    expect(Object.keys(shown({ excludedAttributes }))).toEqual(expected);
  });

  test("SCIM-69 removes a part from each element", () => {
    expect(shown({ excludedAttributes: ["emails.display"] }).emails).toEqual([
      { value: "ada@example.com", type: "work" },
      { value: "ada@home.example" },
    ]);
  });
});

describe("SCIM-70 attributes that need not be read", () => {
  test.each<[string, Parameters<typeof readView>[1], boolean]>([
    ["groups", {}, true],
    ["groups", { attributes: ["userName"] }, false],
    ["groups", { attributes: ["groups.display"] }, true],
    ["groups", { excludedAttributes: ["groups"] }, false],
    ["manager", {}, true],
    ["manager", { excludedAttributes: [`${ENTERPRISE_USER}:manager`] }, false],
    ["manager", { attributes: ["manager.value"] }, true],
    ["manager", { attributes: ["department"] }, false],
  ])("%s with %j is included: %p", (name, parameters, expected) => {
    expect(readView("User", parameters).shows(name)).toBe(expected);
  });

  test("members are excluded when only a group's id is requested", () => {
    expect(readView("Group", { attributes: ["id"] }).shows("members")).toBe(false);
    expect(readView("Group", { excludedAttributes: ["members"] }).shows("members")).toBe(false);
    expect(readView("Group", {}).shows("members")).toBe(true);
  });

  test("members are excluded when all their parts are excluded", () => {
    const parts = ["value", "$ref", "type", "display"].map((name) => `members.${name}`);
    expect(readView("Group", { excludedAttributes: parts }).shows("members")).toBe(false);
    expect(readView("Group", { excludedAttributes: parts.slice(1) }).shows("members")).toBe(true);
  });

  test("SCIM-21, SCIM-68 a password is never included, even on request", () => {
    expect(readView("User", {}).shows("password")).toBe(false);
    expect(readView("User", { attributes: ["password"] }).shows("password")).toBe(false);
  });

  test("names of one type do not affect the other in a query of both", () => {
    const view = readView("all", { excludedAttributes: ["members"] });
    expect(view.shows("members")).toBe(false);
    expect(view.shows("groups")).toBe(true);
    const onlyUsers = readView("all", { attributes: [`${CORE_USER}:displayName`] });
    expect([...onlyUsers.partsOf("Group").keys()]).toEqual(["schemas", "id"]);
    expect(onlyUsers.partsOf("User").has("displayName")).toBe(true);
  });
});

describe("refusals", () => {
  test("SCIM-67 both lists together are refused", () => {
    const error = refusal(() => readView("User", { attributes: ["id"], excludedAttributes: ["meta"] }));
    expect([error.status, error.scimType]).toEqual([400, "invalidValue"]);
  });

  test.each([VIEW_NAMES_MAX - 1, VIEW_NAMES_MAX])("%d names are accepted", (count) => {
    const view = readView("User", { attributes: Array<string>(count).fill("userName") });
    expect(view.shows("userName")).toBe(true);
  });

  test("more names are refused with the limit", () => {
    const error = refusal(() => readView("User", { attributes: ["a,".repeat(VIEW_NAMES_MAX + 1)] }));
    expect(error.scimType).toBe("invalidValue");
    expect(error.message).toContain(String(VIEW_NAMES_MAX));
  });
});
