// Rendered users and groups, and the messages that contain them.
import { describe, expect, test } from "bun:test";
import {
  etagOf,
  listResponse,
  locationOf,
  scimErrorBody,
} from "../../../../src/domain/scim/messages/messages.ts";
import { groupFrame, type UserRelations, userJson } from "../../../../src/domain/scim/messages/render.ts";
import { readView } from "../../../../src/domain/scim/messages/view.ts";
import type {
  GroupRow,
  Named,
  ScimObject,
  UserRow,
  ViewParameters,
} from "../../../../src/domain/scim/model.ts";
import { CORE_GROUP, CORE_USER, ENTERPRISE_USER } from "../../../../src/domain/scim/wire.ts";

const BASE = "https://control.example.org";
const GRACE = {
  id: "0198c0e0-0000-7000-8000-000000000001",
  display: 'Grace "Amazing" Hopper',
} satisfies Named;
const ALAN: Named = { id: "0198c0e0-0000-7000-8000-000000000002", display: "Alan Turing" };
const TEAM = {
  value: "0198c0df-0000-7000-8000-000000000002",
  $ref: `${BASE}/scim/v2/Groups/0198c0df-0000-7000-8000-000000000002`,
  display: "Engineering",
  type: "direct",
};
const TEAMS: readonly Named[] = [{ id: TEAM.value, display: TEAM.display }];

type Computed = Partial<UserRelations>;

const times = {
  version: 7,
  createdAtMs: Date.UTC(2026, 0, 15, 9, 30),
  updatedAtMs: Date.UTC(2026, 1, 1, 10),
};
const userRow = (doc: ScimObject): UserRow => ({ sequence: 1, id: "u1", ...times, doc: JSON.stringify(doc) });
const groupRow = (more: Partial<GroupRow> = {}): GroupRow => ({
  id: "g1",
  externalId: "8f2c",
  displayName: "Engineering",
  memberCount: 2,
  ...times,
  ...more,
});

const emails = [{ value: "ada@example.com", type: "work", primary: true }];
const meta = {
  resourceType: "User",
  created: "2026-01-15T09:30:00.000Z",
  lastModified: "2026-02-01T10:00:00.000Z",
  version: 'W/"7"',
  location: `${BASE}/scim/v2/Users/u1`,
};

const textOf = (
  doc: ScimObject,
  { parameters = {}, computed }: { parameters?: ViewParameters; computed?: Computed } = {},
) => {
  const related = { groups: [], manager: undefined, ...computed };
  return userJson(userRow(doc), related, { view: readView("User", parameters), baseUrl: BASE });
};
const shown = (...given: Parameters<typeof textOf>): ScimObject => JSON.parse(textOf(...given));

describe("a user", () => {
  test("is complete, with computed attributes in a fixed order", () => {
    const text = textOf(
      {
        externalId: "x1",
        userName: "ada",
        active: true,
        emails,
        [ENTERPRISE_USER]: { department: "R&D", manager: { value: GRACE.id } },
      },
      { computed: { groups: TEAMS, manager: GRACE } },
    );
    expect(text).toBe(
      JSON.stringify({
        schemas: [CORE_USER, ENTERPRISE_USER],
        id: "u1",
        externalId: "x1",
        userName: "ada",
        active: true,
        emails,
        groups: [TEAM],
        [ENTERPRISE_USER]: {
          department: "R&D",
          manager: { value: GRACE.id, $ref: `${BASE}/scim/v2/Users/${GRACE.id}`, displayName: GRACE.display },
        },
        meta,
      }),
    );
  });

  test("renders a user without extension with only the core schema and an empty list of groups", () => {
    expect(shown({ userName: "ada", active: true, emails })).toEqual({
      schemas: [CORE_USER],
      id: "u1",
      userName: "ada",
      active: true,
      emails,
      groups: [],
      meta,
    });
  });

  test("has an e-mail derived from the user name if none is stored", () => {
    const text = textOf({ userName: "ada@example.com", active: true, roles: [{ value: "r" }] });
    expect(JSON.parse(text).emails).toEqual(emails);
    expect(Object.keys(JSON.parse(text))).toEqual([
      "schemas",
      "id",
      "userName",
      "active",
      "emails",
      "roles",
      "groups",
      "meta",
    ]);
  });

  test("has a stored e-mail as it was sent and no derived one", () => {
    expect(shown({ userName: "ada@example.com", emails: [{ value: "A@B.example" }] }).emails).toEqual([
      { value: "A@B.example" },
    ]);
  });

  test("is not corrupted by text that resembles its structure", () => {
    const hostile = `,"emails":[{"value":"x"}],"${ENTERPRISE_USER}":{"manager":{"value":"m"}`;
    const got = shown({ userName: "ada@example.com", displayName: hostile });
    expect(got).toMatchObject({ schemas: [CORE_USER], displayName: hostile, emails });
  });

  test("omits groups that were not computed", () => {
    expect(shown({ userName: "ada", emails }, { computed: { groups: undefined } })).not.toHaveProperty(
      "groups",
    );
  });
});

describe("a manager", () => {
  const withManager = (manager: ScimObject): ScimObject => ({
    userName: "ada",
    emails,
    [ENTERPRISE_USER]: { manager },
  });
  const managerOf = (manager: ScimObject, named: Named | undefined, parameters: ViewParameters = {}) =>
    shown(withManager(manager), { parameters, computed: named ? { manager: named } : {} })[ENTERPRISE_USER];
  const resolved = { value: GRACE.id, $ref: `${BASE}/scim/v2/Users/${GRACE.id}`, displayName: GRACE.display };

  test.each<[string, ViewParameters]>([
    ["everything shown", {}],
    ["something left out", { excludedAttributes: ["title"] }],
  ])(
    "renders a manager who is a user with a reference and name, for any sent reference (%s)",
    (_, parameters) => {
      expect(managerOf({ value: GRACE.id }, GRACE, parameters)).toEqual({ manager: resolved });
      expect(managerOf({ value: GRACE.id, $ref: '../Users/x\\"}' }, GRACE, parameters)).toEqual({
        manager: resolved,
      });
    },
  );

  test.each<[string, ViewParameters]>([
    ["everything shown", {}],
    ["something left out", { excludedAttributes: ["title"] }],
  ])("renders a manager without a name with only the reference (%s)", (_, parameters) => {
    const nameless = { ...GRACE, display: null };
    const { displayName: _name, ...unnamed } = resolved;
    expect(managerOf({ value: GRACE.id }, nameless, parameters)).toEqual({ manager: unnamed });
  });

  test.each<[string, ViewParameters]>([
    ["everything shown", {}],
    ["something left out", { excludedAttributes: ["title"] }],
  ])("keeps the value of a manager who is not a user and drops the reference (%s)", (_, parameters) => {
    expect(managerOf({ value: 'a "{b}" \\' }, undefined, parameters)).toEqual({
      manager: { value: 'a "{b}" \\' },
    });
    expect(managerOf({ value: "x", $ref: "../Users/x" }, undefined, parameters)).toEqual({
      manager: { value: "x" },
    });
  });

  test("omits a manager without a value, and an extension without other attributes", () => {
    const got = shown(withManager({ $ref: "../Users/x" }));
    expect(got).not.toHaveProperty([ENTERPRISE_USER]);
    expect(got.schemas).toEqual([CORE_USER]);
  });
});

describe("a partial user", () => {
  const doc: ScimObject = {
    userName: "ada@example.com",
    [ENTERPRISE_USER]: { department: "R&D", costCenter: "1" },
  };

  test("lists the extension schema only if some of its attributes are included", () => {
    expect(shown(doc, { parameters: { attributes: ["userName"] } })).toEqual({
      schemas: [CORE_USER],
      id: "u1",
      userName: "ada@example.com",
    });
    expect(shown(doc, { parameters: { attributes: ["department"] } })).toEqual({
      schemas: [CORE_USER, ENTERPRISE_USER],
      id: "u1",
      [ENTERPRISE_USER]: { department: "R&D" },
    });
  });

  test("has parts of computed attributes", () => {
    const parameters = { attributes: ["groups.display", "emails.value", "meta.version"] };
    expect(shown(doc, { parameters, computed: { groups: TEAMS } })).toEqual({
      schemas: [CORE_USER],
      id: "u1",
      emails: [{ value: "ada@example.com" }],
      groups: [{ display: "Engineering" }],
      meta: { version: 'W/"7"' },
    });
  });
});

describe("a group", () => {
  const memberOf = ({ id, display }: Named): ScimObject => ({
    value: id,
    $ref: `${BASE}/scim/v2/Users/${id}`,
    type: "User",
    ...(display !== null && { display }),
  });
  const groupText = (row: GroupRow, parameters: ViewParameters, members: readonly Named[]): string => {
    const frame = groupFrame(row, { view: readView("Group", parameters), baseUrl: BASE });
    return frame.before + (frame.members?.(JSON.stringify(members.map(memberOf))) ?? "") + frame.after;
  };

  test("is complete around its members in a fixed order", () => {
    expect(groupText(groupRow(), {}, [GRACE])).toBe(
      JSON.stringify({
        schemas: [CORE_GROUP],
        id: "g1",
        externalId: "8f2c",
        displayName: "Engineering",
        members: [memberOf(GRACE)],
        meta: { ...meta, resourceType: "Group", location: `${BASE}/scim/v2/Groups/g1` },
      }),
    );
  });

  test("is not corrupted by text that resembles its members", () => {
    const displayName = 'A "members":[] \\"members\\":[]';
    const got = JSON.parse(groupText(groupRow({ displayName, externalId: '"members":[]' }), {}, [ALAN]));
    expect(got).toMatchObject({ displayName, externalId: '"members":[]', members: [{ value: ALAN.id }] });
  });

  test("renders a group without external id or members with an empty list of members", () => {
    const got = JSON.parse(groupText(groupRow({ externalId: null }), {}, []));
    expect(Object.keys(got)).toEqual(["schemas", "id", "displayName", "members", "meta"]);
    expect(got.members).toEqual([]);
  });

  test.each<[ViewParameters, string[]]>([
    [{ excludedAttributes: ["members"] }, ["schemas", "id", "externalId", "displayName", "meta"]],
    [{ excludedAttributes: ["members", "meta"] }, ["schemas", "id", "externalId", "displayName"]],
    [{ excludedAttributes: ["meta"] }, ["schemas", "id", "externalId", "displayName", "members"]],
    [{ attributes: ["id"] }, ["schemas", "id"]],
    [{ attributes: ["members"] }, ["schemas", "id", "members"]],
  ])("renders a group for the parameters %j with the attributes %j", (parameters, names) => {
    expect(Object.keys(JSON.parse(groupText(groupRow(), parameters, [GRACE])))).toEqual(names);
  });

  test("has parts of its members", () => {
    const got = JSON.parse(groupText(groupRow(), { attributes: ["members.value"] }, [GRACE, ALAN]));
    expect(got.members).toEqual([{ value: GRACE.id }, { value: ALAN.id }]);
  });
});

describe("messages", () => {
  test("a location is absolute, and an entity tag is weak", () => {
    expect(locationOf("Group", "g1", BASE)).toBe("https://control.example.org/scim/v2/Groups/g1");
    expect(etagOf(12)).toBe('W/"12"');
  });

  test("a list has the number of its resources and a resources array even when empty", () => {
    expect(listResponse({ totalResults: 9, startIndex: 3, resources: ['{"id":"a"}', '{"id":"b"}'] })).toBe(
      '{"schemas":["urn:ietf:params:scim:api:messages:2.0:ListResponse"],"totalResults":9,"startIndex":3,"itemsPerPage":2,"Resources":[{"id":"a"},{"id":"b"}]}',
    );
    expect(JSON.parse(listResponse({ totalResults: 0, startIndex: 1, resources: [] }))).toMatchObject({
      itemsPerPage: 0,
      Resources: [],
    });
  });

  test("an error has its status as text, and a type only if one applies", () => {
    expect(scimErrorBody(409, "uniqueness", 'userName "x" is taken')).toBe(
      '{"schemas":["urn:ietf:params:scim:api:messages:2.0:Error"],"status":"409","scimType":"uniqueness","detail":"userName \\"x\\" is taken"}',
    );
    expect(JSON.parse(scimErrorBody(404, undefined, "gone"))).not.toHaveProperty("scimType");
  });
});
