// Behavior that SCIM services often get wrong, one group per mistake. All requests use HTTP, as those of an identity provider
// do.
import { describe, expect, test } from "bun:test";
import type { User } from "../../../src/domain/identity/service.ts";
import { CORE_GROUP, CORE_USER, ENTERPRISE_USER, PATCH_OP } from "../../../src/domain/scim/wire.ts";
import {
  createScimServer,
  expectRefusal,
  patchOf,
  type ScimResult,
  type ScimServer,
} from "../../support/scim-server.ts";
import { createTestServer, SCIM_TOKEN } from "../../support/server.ts";
import { shared } from "../../support/shared.ts";

const sharedScim = shared(createScimServer, ({ server }) => server);

const patch = (scim: ScimServer, path: string, ...operations: object[]): Promise<ScimResult> =>
  scim.ask("PATCH", path, { body: patchOf(...operations) });

const accountOf = ({ server: { domain, world } }: ScimServer, id: string): User =>
  domain.identity.users.show(world.organizationId, id);

/** @returns a group of Ada and Ben */
async function engineering(scim: ScimServer) {
  const [ada, ben] = [await scim.user("ada@example.com"), await scim.user("ben@example.com")];
  return { ada, ben, group: await scim.group("Engineering", ada, ben) };
}

const found = async (scim: ScimServer, path: string, filter: string): Promise<string[]> => {
  const { body } = await scim.ask("GET", `${path}?filter=${encodeURIComponent(filter)}&attributes=id`);
  return body.Resources.map(({ id }: { id: string }) => id);
};

describe("a removal of members with a list of values", () => {
  test("removes only those members", async () => {
    const scim = await sharedScim();
    const { ada, ben, group } = await engineering(scim);
    const operation = { op: "Remove", path: "members", value: [{ $ref: null, value: ada }] };
    expect((await patch(scim, `/Groups/${group}`, operation)).status).toBe(204);
    expect(await scim.membersOf(group)).toEqual([ben]);
  });

  test("removes all members without a list", async () => {
    const scim = await sharedScim();
    const { group } = await engineering(scim);
    expect((await patch(scim, `/Groups/${group}`, { op: "remove", path: "members" })).status).toBe(204);
    expect(await scim.membersOf(group)).toEqual([]);
  });
});

describe("a wrong operation on a group", () => {
  test("is refused if its name is unknown, and changes no member", async () => {
    const scim = await sharedScim();
    const { ada, ben, group } = await engineering(scim);
    const response = await patch(scim, `/Groups/${group}`, { op: "drop", path: "members", value: [] });
    expect(expectRefusal(response)).toBe("400 invalidSyntax");
    expect(await scim.membersOf(group)).toEqual([ada, ben]);
  });

  test("is refused if it is a removal without a path, and adds no member", async () => {
    const scim = await sharedScim();
    const { ada, ben, group } = await engineering(scim);
    const cyd = await scim.user("cyd@example.com");
    const response = await patch(scim, `/Groups/${group}`, {
      op: "remove",
      value: { members: [{ value: cyd }] },
    });
    expect(expectRefusal(response)).toBe("400 noTarget");
    expect(await scim.membersOf(group)).toEqual([ada, ben]);
  });
});

describe("a deactivation as text", () => {
  test.each([
    [{ op: "Replace", path: "active", value: "False" }],
    [{ op: "replace", value: { active: "False" } }],
    [{ op: "Add", value: { Active: "false" } }],
  ])("%j deactivates the user", async (operation) => {
    const scim = await sharedScim();
    const id = await scim.user("ada@example.com");
    const { status, body } = await patch(scim, `/Users/${id}`, operation);
    expect([status, body.active, accountOf(scim, id).status]).toEqual([200, false, "suspended"]);
  });

  test("refuses a deactivation text that is not a boolean", async () => {
    const scim = await sharedScim();
    const id = await scim.user("ada@example.com");
    const response = await patch(scim, `/Users/${id}`, { op: "replace", value: { active: "nope" } });
    expect(expectRefusal(response)).toBe("400 invalidValue");
  });
});

test.each([[{}], [{ active: null }]])(
  "a PUT with %j for active leaves a suspended user suspended",
  async (active) => {
    const scim = await sharedScim();
    const id = await scim.user("ada@example.com", { active: false });
    const body = { schemas: [CORE_USER], userName: "ada@example.com", title: "Engineer", ...active };
    const response = await scim.ask("PUT", `/Users/${id}`, { body });
    expect([response.status, response.body.active, response.body.title]).toEqual([200, false, "Engineer"]);
    expect(accountOf(scim, id).status).toBe("suspended");
  },
);

test("a user deleted through SCIM is provisioned again under the same id, any number of times", async () => {
  const scim = await sharedScim();
  const first = await scim.user("ada@example.com");
  for (let round = 0; round < 3; round += 1) {
    expect((await scim.ask("DELETE", `/Users/${first}`)).status).toBe(204);
    expect(await found(scim, "/Users", 'userName eq "ada@example.com"')).toEqual([]);
    expect(await scim.user("ada@example.com")).toBe(first);
  }
  expect(accountOf(scim, first).status).toBe("active");
});

test("an address change ends the sessions and tokens of the old address", async () => {
  const scim = await sharedScim();
  const id = await scim.user("ada@example.com");
  const { accessToken, cookie } = await scim.server.signInAgain(accountOf(scim, id));
  const open = async () => [
    (await scim.server.request("GET", "/auth/me", { token: accessToken })).status,
    (await scim.server.request("GET", "/auth/me", { cookie })).status,
  ];
  await patch(scim, `/Users/${id}`, { op: "replace", path: "displayName", value: "Ada" });
  expect(await open()).toEqual([200, 200]);
  const change = { op: "replace", path: "emails", value: [{ value: "lovelace@example.com", primary: true }] };
  expect((await patch(scim, `/Users/${id}`, change)).status).toBe(200);
  expect(await open()).toEqual([401, 401]);
  expect(accountOf(scim, id).email).toBe("lovelace@example.com");
});

describe("a change of a user", () => {
  test("keeps the parts of a name that a value without a path omits", async () => {
    const scim = await sharedScim();
    const name = { givenName: "Ada", familyName: "Lovelace" };
    const id = await scim.user("ada@example.com", { name });
    const { body } = await patch(scim, `/Users/${id}`, {
      op: "replace",
      value: { name: { givenName: "Augusta" } },
    });
    expect(body.name).toEqual({ ...name, givenName: "Augusta" });
  });

  test("keeps all e-mails with their types, displayName and all other attributes of the schema", async () => {
    const scim = await sharedScim();
    const sent = {
      displayName: "Ada L.",
      title: "Countess",
      emails: [
        { value: "Ada@Example.com", type: "work", primary: true },
        { value: "ada@home.example", type: "home" },
      ],
      phoneNumbers: [{ value: "+44 20", type: "work" }],
      roles: [{ value: "admin" }],
      [ENTERPRISE_USER]: { department: "Engines", manager: { value: "nobody-yet" } },
    };
    const id = await scim.user("ada", sent);
    expect((await scim.ask("GET", `/Users/${id}`)).body).toMatchObject(sent);
  });

  test("sets a displayName by its path", async () => {
    const scim = await sharedScim();
    const id = await scim.user("ada@example.com");
    const { body } = await patch(scim, `/Users/${id}`, { op: "replace", path: "displayName", value: "Ada" });
    expect(body.displayName).toBe("Ada");
  });
});

describe("names with dots and URNs", () => {
  test("reads names with dots and URNs in a value without a path as paths", async () => {
    const scim = await sharedScim();
    const id = await scim.user("ada@example.com", { name: { familyName: "Lovelace" } });
    const value = { displayName: "A", "name.givenName": "Ada", [`${ENTERPRISE_USER}:department`]: "Engines" };
    const { body } = await patch(scim, `/Users/${id}`, { op: "replace", value });
    expect([body.displayName, body.name]).toEqual(["A", { familyName: "Lovelace", givenName: "Ada" }]);
    expect(body[ENTERPRISE_USER]).toEqual({ department: "Engines" });
    expect(body.schemas).toEqual([CORE_USER, ENTERPRISE_USER]);
  });

  test("reads URNs as paths of the enterprise extension", async () => {
    const scim = await sharedScim();
    const id = await scim.user("ada@example.com");
    const path = `${ENTERPRISE_USER}:employeeNumber`;
    const { status, body } = await patch(scim, `/Users/${id}`, { op: "add", path, value: 701984 });
    expect([status, body[ENTERPRISE_USER]]).toEqual([200, { employeeNumber: "701984" }]);
  });
});

test("parallel changes of one group lose no update", async () => {
  const scim = await sharedScim();
  const group = await scim.group("Engineering");
  const ids = await Promise.all(Array.from({ length: 20 }, (_, at) => scim.user(`user${at}@example.com`)));
  const add = (value: string) =>
    patch(scim, `/Groups/${group}`, { op: "add", path: "members", value: [{ value }] });
  const responses = await Promise.all(ids.map(add));
  expect(responses.map(({ status }) => status)).toEqual(ids.map(() => 204));
  expect(await scim.membersOf(group)).toEqual(ids.toSorted());
  const remove = (id: string) =>
    patch(scim, `/Groups/${group}`, { op: "remove", path: `members[value eq "${id}"]` });
  await Promise.all(ids.slice(1).map(remove));
  expect(await scim.membersOf(group)).toEqual(ids.slice(0, 1));
});

describe("filters", () => {
  test.each([
    ['id eq "{{ada}}"'],
    ['emails.value eq "ADA@home.example"'],
    ['active eq false and displayName eq "ada l."'],
    ['USERNAME Eq "Ada"'],
    ['emails[type eq "home"].value eq "ada@home.example" and active eq "False"'],
    [`${ENTERPRISE_USER}:department sw "eng"`],
    ['not (userName ne "ada") or externalId eq "nothing"'],
  ])("finds the user by filters such as %s", async (filter) => {
    const scim = await sharedScim();
    const ada = await scim.user("Ada", {
      displayName: "Ada L.",
      active: false,
      emails: [
        { value: "ada@example.com", type: "work", primary: true },
        { value: "ada@home.example", type: "home" },
      ],
      [ENTERPRISE_USER]: { department: "Engines" },
    });
    await scim.user("ben@example.com");
    expect(await found(scim, "/Users", filter.replace("{{ada}}", ada))).toEqual([ada]);
  });

  test("refuses a filter by an unknown attribute instead of answering with an empty list", async () => {
    const scim = await sharedScim();
    const response = await scim.ask("GET", `/Users?filter=${encodeURIComponent('nope eq "x"')}`);
    expect(expectRefusal(response)).toBe("400 invalidFilter");
    expect(response.body.detail).toContain("nope");
  });
});

describe("roles", () => {
  const mapped = { groupRoleMappings: { Engineering: "admin" } } as const;

  test("follow a changed mapping at the next start", async () => {
    const scim = await sharedScim();
    const { world } = scim.server;
    const { ada } = await engineering(scim);
    expect(accountOf(scim, ada).role).toBe("member");
    const restarted = await createTestServer({ world, scim: mapped });
    expect(await restarted.domain.scim.roles.applyMapping(world.system)).toBe(2);
    expect(accountOf(scim, ada).role).toBe("admin");
    expect(await restarted.domain.scim.roles.applyMapping(world.system)).toBe(0);
  });

  test("keeps roles after a change of an unmapped group, and logins continue", async () => {
    await using scim = await createScimServer({ scim: mapped });
    const { ada } = await engineering(scim);
    const other = await scim.group("Other");
    const { accessToken: token } = await scim.server.signInAgain(accountOf(scim, ada));
    const add = { op: "add", path: "members", value: [{ value: ada }] };
    await patch(scim, `/Groups/${other}`, add);
    await scim.ask("DELETE", `/Groups/${other}`);
    expect((await scim.server.request("GET", "/auth/me", { token })).status).toBe(200);
    expect(accountOf(scim, ada).role).toBe("admin");
  });
});

describe("the service", () => {
  test("has entity tags, sorting, projections, searches, bulk requests and single discovery documents", async () => {
    const scim = await sharedScim();
    const { ada, ben } = await engineering(scim);
    expect((await scim.ask("GET", `/Users/${ada}`)).headers.get("etag")).toBe('W/"2"');
    const sorted = await scim.ask("GET", "/Users?sortBy=userName&sortOrder=descending&attributes=userName");
    expect(sorted.body.Resources).toEqual([
      { schemas: [CORE_USER], id: ben, userName: "ben@example.com" },
      { schemas: [CORE_USER], id: ada, userName: "ada@example.com" },
    ]);
    expect((await scim.ask("POST", "/.search", { body: { count: 0 } })).body.totalResults).toBe(3);
    const Operations = [{ method: "DELETE", path: `/Users/${ben}` }];
    const bulk = await scim.ask("POST", "/Bulk", { body: { Operations } });
    expect(bulk.body.Operations).toMatchObject([{ method: "DELETE", status: "204" }]);
    const schema = await scim.ask("GET", `/Schemas/${CORE_GROUP}`);
    expect([schema.body.id, schema.body.attributes.length > 0]).toEqual([CORE_GROUP, true]);
    expect((await scim.ask("GET", "/ResourceTypes/Group")).body.schema).toBe(CORE_GROUP);
  });

  test("answers every refusal with a SCIM error", async () => {
    const scim = await sharedScim();
    const headers = { "content-type": "text/plain" };
    const refusals = [
      await scim.ask("GET", "/Users/not-an-id"),
      await scim.ask("POST", "/Users", { body: "{" }),
      await scim.ask("POST", "/Users", { body: "{}", headers }),
      await scim.ask("GET", "/Nothing"),
    ];
    expect(refusals.map(expectRefusal)).toEqual(["404", "400 invalidSyntax", "415", "404"]);
  });

  test("accepts a second token, so that one can be replaced without an interruption", async () => {
    const scim = await sharedScim();
    const { domain, world } = scim.server;
    const made = await domain.scim.tokens.create(world.system, { label: "new", profile: "standard" });
    for (const token of [SCIM_TOKEN, made.token.reveal()]) {
      expect((await scim.ask("GET", "/Users", { token })).status).toBe(200);
    }
  });

  test("names the conflicting attribute", async () => {
    const scim = await sharedScim();
    await scim.user("ada@example.com", { externalId: "one" });
    await scim.group("Engineering");
    const conflict = async (path: string, body: object, name: string) => {
      const response = await scim.ask("POST", path, { body });
      expect([name, expectRefusal(response)]).toEqual([name, "409 uniqueness"]);
      expect(response.body.detail).toContain(name);
    };
    await conflict("/Users", { userName: "ADA@example.com" }, "userName");
    await conflict("/Users", { userName: "ben@example.com", externalId: "one" }, "externalId");
    await conflict("/Users", { userName: "ben", emails: [{ value: "ada@EXAMPLE.com" }] }, "emails");
    await conflict("/Groups", { displayName: "ENGINEERING" }, "displayName");
  });
});

describe("PATCH of a group", () => {
  test.each([
    [{ op: "replace", path: "externalId", value: 7 }, "7"],
    [{ op: "replace", value: { externalId: "new" } }, "new"],
    [{ op: "add", value: { externalID: true } }, "true"],
    [{ op: "replace", path: "externalId", value: null }, undefined],
  ])("sets the externalId of a group after %j", async (operation, externalId) => {
    const scim = await sharedScim();
    const { body: made } = await scim.ask("POST", "/Groups", {
      body: { displayName: "G", externalId: "old" },
    });
    expect((await patch(scim, `/Groups/${made.id}`, operation)).status).toBe(204);
    expect((await scim.ask("GET", `/Groups/${made.id}`)).body.externalId).toBe(externalId);
  });

  test("refuses an externalId that is not text and clears nothing", async () => {
    const scim = await sharedScim();
    const { body: made } = await scim.ask("POST", "/Groups", {
      body: { displayName: "G", externalId: "old" },
    });
    const operation = { op: "replace", path: "externalId", value: { a: 1 } };
    expect(expectRefusal(await patch(scim, `/Groups/${made.id}`, operation))).toBe("400 invalidValue");
    expect((await scim.ask("GET", `/Groups/${made.id}`)).body.externalId).toBe("old");
  });

  test.each([
    [undefined, "204"],
    [[], "204"],
    [[PATCH_OP, "urn:other"], "204"],
    [["urn:other"], "400 invalidSyntax"],
  ])("answers a PATCH with the schemas %j: %s", async (schemas, outcome) => {
    const scim = await sharedScim();
    const id = await scim.group("Engineering");
    const Operations = [{ op: "replace", path: "displayName", value: "Research" }];
    const response = await scim.ask("PATCH", `/Groups/${id}`, { body: { schemas, Operations } });
    expect(response.status === 204 ? "204" : expectRefusal(response)).toBe(outcome);
  });
});
