// Lists and searches: pages, orders, totals, both types at once, and what is refused. test/properties/scim-filter.test.ts proves
// that filters find the right resources.

import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { organizations } from "../../../../src/domain/identity/tables.ts";
import { ScimError } from "../../../../src/domain/scim/errors.ts";
import { WHOLE_GROUP_MEMBERS_MAX } from "../../../../src/domain/scim/groups/group-views.ts";
import type { ListParameters, ScimCaller, ScimObject } from "../../../../src/domain/scim/model.ts";
import { SCANS_WAITING_MAX, SLICE_ROWS } from "../../../../src/domain/scim/search/scans.ts";
import { PAGE_DEFAULT, type SearchScope } from "../../../../src/domain/scim/search/search-request.ts";
import { ENTERPRISE_USER } from "../../../../src/domain/scim/wire.ts";
import { createSearchWorld, type ListResponse, listText, type SearchWorld } from "./search-world.ts";

const numbered = (count: number, name = "user") =>
  Array.from({ length: count }, (_, at) => ({ userName: `${name}${at}`, active: true, title: `t${at % 7}` }));

const namesOf = ({ Resources }: ListResponse): unknown[] =>
  Resources.map(({ userName, displayName }) => userName ?? displayName);

/** @returns status, keyword and text of the refusal */
async function refused(world: SearchWorld, scope: SearchScope, parameters: ListParameters): Promise<string> {
  try {
    await world.list(scope, parameters);
  } catch (error) {
    if (error instanceof ScimError) return `${error.status} ${error.scimType}: ${error.message}`;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("a page", () => {
  test("SCIM-62 has a hundred resources in order of creation by default", async () => {
    await using world = await createSearchWorld();
    const people = numbered(PAGE_DEFAULT + 5).reverse();
    await world.addUsers(...people);
    const response = await world.list("User");
    expect(namesOf(response)).toEqual(people.slice(0, PAGE_DEFAULT).map(({ userName }) => userName));
    expect(response).toMatchObject({
      schemas: ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
      totalResults: PAGE_DEFAULT + 5,
      startIndex: 1,
      itemsPerPage: PAGE_DEFAULT,
    });
  });

  test.each([
    ["from the start when it begins before it", { startIndex: -3, count: 2 }, 1, ["user0", "user1"]],
    ["numbers as text", { startIndex: "2", count: "1" }, 2, ["user1"]],
    ["no resources for a count of 0", { count: 0 }, 1, []],
    ["no resources for a negative count", { count: -1 }, 1, []],
    ["the last resources", { startIndex: 4, count: 5 }, 4, ["user3", "user4"]],
    ["no resources past the end", { startIndex: 6, count: 5 }, 6, []],
    ["no resources far past the end", { startIndex: "999999999999999", count: 5 }, 999_999_999_999_999, []],
    [
      "no resources for a start beyond all numbers",
      { startIndex: "9".repeat(400), count: 5 },
      Number.MAX_SAFE_INTEGER,
      [],
    ],
    [
      "all when as many as there are numbers are wanted",
      { count: "9".repeat(20) },
      1,
      ["user0", "user1", "user2", "user3", "user4"],
    ],
    ["no resources for a very low count", { startIndex: -1e300, count: "-9223372036854775808" }, 1, []],
  ])("SCIM-63 returns %s", async (_what, parameters, startIndex, names) => {
    await using world = await createSearchWorld();
    await world.addUsers(...numbered(5));
    for (const filter of [undefined, 'userName sw "user"', 'userName co "user"']) {
      const response = await world.list("User", { ...parameters, filter });
      expect(namesOf(response)).toEqual(names);
      expect(response).toMatchObject({ totalResults: 5, startIndex, itemsPerPage: names.length });
    }
  });

  test("SCIM-64 has at most the configured number of resources", async () => {
    await using world = await createSearchWorld({ pageMax: 4 });
    await world.addUsers(...numbered(6));
    for (const [count, shown] of [
      [3, 3],
      [4, 4],
      [5, 4],
    ] as const)
      expect((await world.list("User", { count })).itemsPerPage).toBe(shown);
  });

  test.each([undefined, 'userName sw "user"', 'userName co "user"'])(
    "continues the previous one in any order under the filter %j",
    async (filter) => {
      await using world = await createSearchWorld();
      await world.addUsers(...numbered(23));
      const orders = [{}, { sortBy: "userName" }, { sortBy: "title" }, { sortBy: "meta.lastModified" }];
      for (const order of orders.flatMap((each) => [each, { ...each, sortOrder: "descending" }])) {
        const whole = namesOf(await world.list("User", { ...order, filter }));
        const pages: unknown[] = [];
        for (let startIndex = 1; startIndex <= 23; startIndex += 4)
          pages.push(...namesOf(await world.list("User", { ...order, filter, startIndex, count: 4 })));
        expect(pages).toEqual(whole);
      }
    },
  );

  test.each([
    [{ count: "ten" }, "count must be a whole number"],
    [{ count: 1.5 }, "count must be a whole number"],
    [{ count: "" }, "count must be a whole number"],
    [{ startIndex: "1e3" }, "startIndex must be a whole number"],
    [{ sortBy: "shoeSize" }, "sortBy must name an attribute"],
    [{ sortBy: "name" }, "sortBy must name an attribute"],
    [{ sortBy: "manager" }, "sortBy must name an attribute"],
    [{ sortBy: "addresses" }, "sortBy must name an attribute"],
    [{ sortBy: "password" }, "sortBy must name an attribute"],
    [{ sortBy: "members" }, "sortBy must name an attribute"],
    [{ sortOrder: "up" }, "sortOrder must be ascending or descending"],
    [{ attributes: ["id"], excludedAttributes: ["name"] }, "attributes and excludedAttributes"],
  ])("is refused for %j", async (parameters, problem) => {
    await using world = await createSearchWorld();
    const text = await refused(world, "User", parameters);
    expect(text).toStartWith("400 invalidValue: ");
    expect(text).toContain(problem);
  });

  test("is refused with all its problems", async () => {
    await using world = await createSearchWorld();
    const text = await refused(world, "User", { count: "x", startIndex: "y", sortBy: "z", sortOrder: "w" });
    expect(text.split("; ")).toHaveLength(4);
  });

  test("is refused for an empty filter instead of returning all resources", async () => {
    await using world = await createSearchWorld();
    expect(await refused(world, "User", { filter: "" })).toStartWith("400 invalidFilter: ");
  });
});

describe("SCIM-61 sorting", () => {
  test.each([
    ["userName", "ascending", ["Ada", "bob", "Cyd"]],
    ["USERNAME", "Descending", ["Cyd", "bob", "Ada"]],
    ["displayName", "ascending", ["Cyd", "bob", "Ada"]],
    ["displayName", "descending", ["Ada", "bob", "Cyd"]],
    ["title", "ascending", ["Cyd", "Ada", "bob"]],
    ["title", "descending", ["Ada", "bob", "Cyd"]],
    ["emails", undefined, ["Cyd", "bob", "Ada"]],
    ["emails.type", undefined, ["Cyd", "Ada", "bob"]],
    ["active", undefined, ["Ada", "Cyd", "bob"]],
    ["department", undefined, ["bob", "Cyd", "Ada"]],
    ["groups.display", undefined, ["bob", "Ada", "Cyd"]],
    ["meta.created", "descending", ["Cyd", "Ada", "bob"]],
  ])("sorts by %s, %s", async (sortBy, sortOrder, expected) => {
    await using world = await createSearchWorld();
    const enterprise = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
    const [ada, bob] = await world.addUsers(
      {
        userName: "Ada",
        active: false,
        emails: [
          { value: "a@x", type: "home" },
          { value: "z@x", type: "work", primary: true },
        ],
      },
      {
        userName: "bob",
        displayName: "y",
        active: true,
        [enterprise]: { department: "a" },
        emails: [{ value: "m@x" }],
      },
    );
    world.clock.advance(1_000);
    await world.addUsers({
      userName: "Cyd",
      displayName: "X",
      title: "T",
      active: false,
      [enterprise]: { department: "B" },
      emails: [{ value: "c@x", type: "home" }],
    });
    await world.addGroup("Zoo", [ada ?? "", bob ?? ""]);
    await world.addGroup("Ark", [bob ?? ""]);
    expect(namesOf(await world.list("User", { sortBy, sortOrder }))).toEqual(expected);
  });
});

describe("both types together", () => {
  const bothWorld = async (given = {}) => {
    const world = await createSearchWorld(given);
    await world.addGroup("Beta");
    const [first] = await world.addUsers(...numbered(3, "alpha"));
    await world.addGroup("Gamma", [first ?? ""], "ext");
    return world;
  };

  test("returns users first, and pages cross the boundary", async () => {
    await using world = await bothWorld();
    const whole = ["alpha0", "alpha1", "alpha2", "Beta", "Gamma"];
    for (const filter of [undefined, "id pr", 'meta.created gt "2020-01-01T00:00:00Z"']) {
      expect(namesOf(await world.list("all", { filter }))).toEqual(whole);
      for (let startIndex = 1; startIndex <= 6; startIndex += 1) {
        const response = await world.list("all", { filter, startIndex, count: 2 });
        expect(namesOf(response)).toEqual(whole.slice(startIndex - 1, startIndex + 1));
        expect(response.totalResults).toBe(5);
      }
    }
  });

  test("sorts both types together on request, with resources without the attribute last", async () => {
    await using world = await bothWorld();
    const ordered = async (sortBy: string, sortOrder?: string) =>
      namesOf(await world.list("all", { sortBy, sortOrder }));
    expect(await ordered("displayName")).toEqual(["Beta", "Gamma", "alpha0", "alpha1", "alpha2"]);
    expect(await ordered("userName", "descending")).toEqual(["Beta", "Gamma", "alpha2", "alpha1", "alpha0"]);
    expect(await ordered("externalId")).toEqual(["Gamma", "alpha0", "alpha1", "alpha2", "Beta"]);
    expect(await ordered("members")).toEqual(["Gamma", "alpha0", "alpha1", "alpha2", "Beta"]);
  });

  test.each([
    ['meta.resourceType eq "User"', ["alpha0", "alpha1", "alpha2"]],
    ['meta.resourceType eq "Group"', ["Beta", "Gamma"]],
    ['not (meta.resourceType eq "Group") and userName ne "alpha1"', ["alpha0", "alpha2"]],
    ['userName eq "ALPHA1" or displayName eq "beta"', ["alpha1", "Beta"]],
    ["members pr", ["Gamma"]],
    ['meta.resourceType eq "Device"', []],
  ])("selects resources by %s", async (filter, expected) => {
    await using world = await bothWorld();
    const response = await world.list("all", { filter });
    expect(namesOf(response)).toEqual(expected);
    expect(response.totalResults).toBe(expected.length);
  });

  test("include alternatives, one about the time of the last change: no index finds both", async () => {
    await using world = await createSearchWorld({ scanRowsMax: 1 });
    await world.addUsers(...numbered(2));
    const changed = 'meta.lastModified gt "1970-01-01T00:00:00Z"';
    expect(namesOf(await world.list("User", { filter: `${changed} or ${changed}` }))).toHaveLength(2);
    expect(await refused(world, "User", { filter: `${changed} or userName eq "user0"` })).toStartWith(
      "400 tooMany",
    );
  });

  test("cost only the resources scanned: a type that cannot match is skipped", async () => {
    await using world = await bothWorld({ scanRowsMax: 2 });
    expect(namesOf(await world.list("all", { filter: 'members.type co "us"' }))).toEqual(["Gamma"]);
    expect(await refused(world, "all", { filter: 'title co "t"' })).toStartWith("400 tooMany");
  });
});

describe("totalResults", () => {
  test("reflects additions, here and by another process", async () => {
    await using world = await createSearchWorld();
    const total = async () => (await world.list("User", { count: 0 })).totalResults;
    expect(await total()).toBe(0);
    await world.addUsers(...numbered(2));
    expect(await total()).toBe(2);
    using other = new Database(world.file);
    other.run("PRAGMA foreign_keys = ON");
    other.run("DELETE FROM scim_users WHERE user_name = 'user0'");
    await new Promise((resolve) => setImmediate(resolve));
    expect(await total()).toBe(1);
  });

  test("counts the matches of the filter on every page", async () => {
    await using world = await createSearchWorld();
    await world.addUsers(...numbered(30));
    for (const filter of ['userName sw "user1"', 'userName co "user1"'])
      for (const parameters of [
        {},
        { count: 3 },
        { count: 0 },
        { startIndex: 5, count: 2 },
        { startIndex: 50 },
      ])
        expect((await world.list("User", { ...parameters, filter })).totalResults).toBe(11);
  });
});

describe("the name of a manager", () => {
  const PATH = `${ENTERPRISE_USER}:manager.displayName`;
  const NAMED: readonly (readonly [string, ScimObject])[] = [
    ["Grace Hopper", { displayName: "Grace Hopper", name: { formatted: "x" } }],
    ["ADMIRAL", { name: { formatted: "ADMIRAL", givenName: "x" } }],
    ["Grace H", { name: { givenName: "Grace", familyName: "H" } }],
    ["Straße", { name: { givenName: "Straße" } }],
    ["Hopper", { name: { familyName: "Hopper" } }],
  ];
  const withManager = (userName: string, value: string): ScimObject => ({
    userName,
    active: true,
    [ENTERPRISE_USER]: { manager: { value } },
  });

  test("is found, sorted and returned as in the manager's own record", async () => {
    await using world = await createSearchWorld();
    const managers = await world.addUsers(
      ...NAMED.map(([, doc], at) => ({ userName: `m${at}`, active: true, ...doc })),
    );
    const [nameless = ""] = await world.addUsers({ userName: "nameless", active: true });
    const led = await world.addUsers(...managers.map((id, at) => withManager(`led${at}`, id)));
    const unnamed = await world.addUsers(withManager("a", nameless), withManager("b", "nobody"));
    for (const [at, [name]] of NAMED.entries()) {
      for (const filter of [`manager.displayName eq "${name}"`, `${PATH} eq "${name.toLowerCase()}"`])
        expect([filter, await world.found("User", filter)]).toEqual([filter, [led[at] ?? ""]]);
    }
    expect(await world.found("User", "manager.displayName pr")).toEqual(led);
    expect(await world.found("User", "manager.displayName eq null and manager pr")).toEqual(unnamed);
    const parameters = { filter: "manager pr", sortBy: "manager.displayName" };
    const order = namesOf(await world.list("User", parameters));
    expect(order).toEqual(["led1", "led2", "led0", "led4", "led3", "a", "b"]);
  });
});

/** @returns a caller of an organization without users */
async function addStranger({ caller, db, ids }: SearchWorld): Promise<ScimCaller> {
  const organizationId = ids.uuid();
  await db.write((tx) => {
    tx.insert(organizations).values({ id: organizationId, name: "Other", createdAtMs: 0 }).run();
  });
  return { ...caller, actor: { ...caller.actor, organizationId } };
}

describe("a look-up of one user", () => {
  test.each(["id", "userName", "externalId"])(
    "looks up one user by %s with the same result as other filters",
    async (name) => {
      await using world = await createSearchWorld();
      const [id = ""] = await world.addUsers({ userName: "Ada", active: true, externalId: "e1", title: "x" });
      await world.addUsers({ userName: "bob", active: true, externalId: "E1" });
      await world.addGroup('Engineers \u{1F600} "1"', [id]);
      await world.addGroup("Engineers \uFF5E", [id]);
      const filter = `${name} eq "${{ id, userName: "ADA", externalId: "e1" }[name]}"`;
      const variants: readonly ListParameters[] = [
        {},
        { count: 0 },
        { count: 1 },
        { startIndex: 2 },
        { sortBy: "title", sortOrder: "descending" },
        { attributes: ["groups.display", "title"] },
        { excludedAttributes: ["groups"] },
      ];
      for (const parameters of variants) {
        const response = await world.list("User", { ...parameters, filter });
        expect(response).toEqual(
          await world.list("User", { ...parameters, filter: `${filter} and active pr` }),
        );
        expect(response.totalResults).toBe(1);
      }
      const stranger = await addStranger(world);
      expect(JSON.parse(await listText(world.search.list(stranger, "User", { filter })))).toMatchObject({
        totalResults: 0,
        startIndex: 1,
        itemsPerPage: 0,
        Resources: [],
      });
    },
  );

  test("compares as the attribute does", async () => {
    await using world = await createSearchWorld();
    await world.addUsers({ userName: "Ada", active: true, externalId: "E1" });
    expect(await world.found("User", 'userName eq "aDa"')).toHaveLength(1);
    expect(await world.found("User", 'externalId eq "e1"')).toHaveLength(0);
    expect(await world.found("User", 'name.givenName eq "Ada"')).toHaveLength(0);
  });
});

describe("another organization", () => {
  test("has only its own resources", async () => {
    await using world = await createSearchWorld();
    const [id] = await world.addUsers({ userName: "ada", active: true, externalId: "e", displayName: "Ada" });
    const group = await world.addGroup("Engineers", [id ?? ""]);
    const stranger = await addStranger(world);
    const filters = [
      undefined,
      ...["id pr", `id eq "${id}"`, `id eq "${group}"`, 'userName eq "ada"', 'externalId eq "e"'],
      ...['displayName eq "Ada"', 'displayName sw "e"', 'emails.value eq "ada"', 'title ne "x"'],
      ...[`groups.value eq "${group}"`, 'groups.display eq "Engineers"', `members.value eq "${id}"`],
      ...[`userName eq "ada" or id eq "${group}"`, 'not (userName eq "x")'],
      ...['meta.lastModified ge "1970-01-01T00:00:00Z"', 'not (meta.lastModified lt "1970-01-01T00:00:00Z")'],
    ];
    for (const filter of filters) {
      const response: ListResponse = JSON.parse(
        await listText(world.search.list(stranger, "all", { filter })),
      );
      expect([filter, response.totalResults, response.Resources]).toEqual([filter, 0, []]);
    }
  });
});

describe("SCIM-129 e-mails in one lookup", () => {
  test.each([
    ['emails[value eq "a@x" and primary eq true]', ["primary"]],
    ['emails[value eq "a@x" and primary eq false]', ["other"]],
    ['emails[value eq "a@x" and primary ne true]', ["other", "unsaid"]],
    ['emails[value eq "a@x" and primary ne false]', ["primary", "unsaid"]],
    ['emails[value eq "a@x" and primary pr]', ["primary", "other"]],
    ['emails[value eq "a@x" and primary eq null]', ["unsaid"]],
    ['emails[value eq "a@x" and display eq "MINE"]', ["unsaid"]],
    ['emails[value eq "a@x" and type ne "work"]', ["primary", "unsaid"]],
  ])(
    "distinguish absent from false and check the parts that are not looked up: %s",
    async (filter, expected) => {
      await using world = await createSearchWorld();
      await world.addUsers(
        { userName: "primary", active: true, emails: [{ value: "A@x", primary: true }] },
        { userName: "other", active: true, emails: [{ value: "a@X", type: "work", primary: false }] },
        {
          userName: "unsaid",
          active: true,
          emails: [
            { value: "a@x", display: "Mine" },
            { value: "b@x", type: "work" },
          ],
        },
      );
      expect(namesOf(await world.list("User", { filter }))).toEqual(expected);
    },
  );
});

describe("SCIM-132 a search without an index", () => {
  test.each([
    [4, "200"],
    [3, "200"],
    [2, "400 tooMany: this search would read 3 resources, and at most 2 are allowed"],
  ])("scans no more resources than allowed: 3 with %j allowed", async (scanRowsMax, expected) => {
    await using world = await createSearchWorld({ scanRowsMax });
    await world.addUsers(...numbered(3));
    for (const parameters of [
      { filter: 'title co "t"' },
      { sortBy: "title" },
      { filter: 'not (title eq "x")' },
    ]) {
      const outcome = await world.list("User", parameters).then(
        ({ totalResults }) => `200 ${totalResults}`,
        (error: ScimError) => `${error.status} ${error.scimType}: ${error.message}`,
      );
      expect(outcome).toStartWith(expected);
    }
  });

  test.each([
    { filter: 'userName eq "user1"' },
    { filter: 'id eq "x" or userName eq "user1"' },
    { filter: 'title co "t" and emails[type eq "work"].value eq "user1"' },
    { filter: 'userName eq "user1"', sortBy: "title" },
    { filter: 'userName eq "user1" or members eq "x"', sortBy: "displayName" },
    { sortBy: "userName" },
    {},
  ])(
    "is limited, and one with an index is not: %j is answered for any number of resources",
    async (parameters) => {
      await using world = await createSearchWorld({ scanRowsMax: 1 });
      await world.addUsers(...numbered(3));
      const { totalResults } = await world.list(
        parameters.filter?.includes("members") ? "all" : "User",
        parameters,
      );
      expect(totalResults).toBe(parameters.filter ? 1 : 3);
    },
  );

  test("SCIM-125 reads one point in time and yields to other requests", async () => {
    await using world = await createSearchWorld();
    await world.addUsers(...numbered(2 * SLICE_ROWS + 10));
    const scan = world.list("User", { filter: 'userName co "user"', count: 1 });
    let turns = 0;
    const turn = () => {
      turns += 1;
      setImmediate(turn).unref();
    };
    turn();
    const added = await Promise.race([
      world.addUsers({ userName: "user, but late", active: true }).then(() => "added first"),
      scan.then(() => "scanned first"),
    ]);
    expect(added).toBe("added first");
    expect((await scan).totalResults).toBe(2 * SLICE_ROWS + 10);
    expect(turns).toBeGreaterThan(2);
    const { totalResults } = await world.list("User", { filter: 'userName co "user"', count: 0 });
    expect(totalResults).toBe(2 * SLICE_ROWS + 11);
  });

  test("waits for the previous one, and is refused when too many wait", async () => {
    await using world = await createSearchWorld();
    await world.addUsers(...numbered(2));
    const scan = () => world.list("User", { filter: 'title co "t"' });
    const running = Array.from({ length: 1 + SCANS_WAITING_MAX }, scan);
    const above = refused(world, "User", { filter: 'title co "t"' });
    expect(await above).toStartWith("503 undefined: too many searches");
    for (const response of await Promise.all(running)) expect(response.totalResults).toBe(2);
    expect((await scan()).totalResults).toBe(2);
  });
});

test("a list of groups with many members is streamed from one point in time", async () => {
  await using world = await createSearchWorld();
  const people = await world.addUsers(...numbered(WHOLE_GROUP_MEMBERS_MAX - 1));
  const small = await world.addGroup("Small", people.slice(0, 2));
  const large = await world.addGroup("Large", people);
  const listed = (parameters: ListParameters = {}) => world.search.list(world.caller, "Group", parameters);
  const membersOf = (ids: readonly string[]) => ids.toSorted().map((value) => ({ value }));

  const pieces = listed();
  expect(pieces).not.toBeString();
  const text = listText(pieces);
  await world.addGroup("Later", people.slice(0, 1));
  const { totalResults, Resources }: ListResponse = JSON.parse(await text);
  expect(Resources).toHaveLength(totalResults);
  expect(Resources.slice(0, 2)).toMatchObject([
    { id: small, members: membersOf(people.slice(0, 2)) },
    { id: large, members: membersOf(people) },
  ]);
  expect(listed({ excludedAttributes: ["members"] })).toBeString();
  expect(listed({ filter: `id eq "${small}"` })).toBeString();
});
