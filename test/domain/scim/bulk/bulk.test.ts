// Bulk requests executed on real users and groups: references in any order, cycles, failures, and each result.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { countIgnoredInBulk } from "../../../../src/domain/scim/messages/read-resource.ts";
import type { ScimResources } from "../../../../src/domain/scim/model.ts";
import {
  BULK_REQUEST,
  BULK_RESPONSE,
  CORE_GROUP,
  CORE_USER,
  ENTERPRISE_USER,
  PATCH_OP,
  SCIM_ERROR,
} from "../../../../src/domain/scim/wire.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { auditedIn, createUsersWorld, refusalOf, resourceOf, type UsersWorld } from "../users/users-world.ts";

interface Outcome {
  method: string;
  bulkId?: string;
  location?: string;
  version?: string;
  status: string;
  response?: { schemas: string[]; status: string; scimType?: string; detail: string };
}

const userPost = (bulkId: string, data: object = {}) => ({
  method: "POST",
  path: "/Users",
  bulkId,
  data: { schemas: [CORE_USER], userName: `${bulkId}@example.com`, ...data },
});
const managedBy = (value: string) => ({ [ENTERPRISE_USER]: { manager: { value } } });
const groupPost = (bulkId: string, members: readonly string[]) => ({
  method: "POST",
  path: "/Groups",
  bulkId,
  data: { schemas: [CORE_GROUP], displayName: bulkId, members: members.map((value) => ({ value })) },
});
const patch = (path: string, ...operations: readonly object[]) => ({
  method: "PATCH",
  path,
  data: { schemas: [PATCH_OP], Operations: operations },
});

let world: UsersWorld;
beforeEach(async () => {
  world = await createUsersWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

async function bulk(operations: readonly object[], rest: object = {}): Promise<Outcome[]> {
  const body = { schemas: [BULK_REQUEST], Operations: operations, ...rest };
  const answer = JSON.parse(await world.domain.scim.bulk.run(world.caller, body));
  expect(Object.keys(answer)).toEqual(["schemas", "Operations"]);
  expect(answer.schemas).toEqual([BULK_RESPONSE]);
  return answer.Operations;
}

const statusesOf = (outcomes: readonly Outcome[]): string[] => outcomes.map(({ status }) => status);
const idOf = (outcome: Outcome | undefined): string => outcome?.location?.split("/").at(-1) ?? "";

const shown = (resources: ScimResources, outcome: Outcome | undefined) =>
  resourceOf(resources.get(world.caller, idOf(outcome), {}));

/** @returns ids of the members, in the order of the group */
function membersOf(outcome: Outcome | undefined): string[] {
  const { members } = shown(world.groups, outcome);
  return Array.isArray(members) ? members.map(({ value }) => value) : [];
}

function managerOf(outcome: Outcome | undefined): unknown {
  const extension = shown(world.users, outcome)[ENTERPRISE_USER];
  return typeof extension === "object" && extension && "manager" in extension ? extension.manager : undefined;
}

describe("a bulk request", () => {
  test("returns method, bulkId, location, version and status of each operation in request order", async () => {
    const { id } = await world.add({ userName: "old@example.com" });
    const gone = await world.add({ userName: "gone@example.com" });
    const outcomes = await bulk([
      userPost("ada"),
      { method: "put", path: `/Users/${id}`, data: { userName: "old@example.com", title: "New" } },
      { ...patch(`/Users/${id}`, { op: "add", path: "title", value: "Newer" }), bulkId: "mine" },
      { method: "DELETE", path: `/Users/${gone.id}` },
      groupPost("team", []),
    ]);
    const [ada, , , , team] = outcomes;
    const location = (path: string) => expect.stringMatching(new RegExp(`^https?://.*/scim/v2${path}$`));
    expect(outcomes).toEqual([
      {
        location: location("/Users/[0-9a-f-]{36}"),
        method: "POST",
        bulkId: "ada",
        version: 'W/"1"',
        status: "201",
      },
      { location: location(`/Users/${id}`), method: "PUT", version: 'W/"2"', status: "200" },
      {
        location: location(`/Users/${id}`),
        method: "PATCH",
        bulkId: "mine",
        version: 'W/"3"',
        status: "200",
      },
      { location: location(`/Users/${gone.id}`), method: "DELETE", status: "204" },
      {
        location: location("/Groups/[0-9a-f-]{36}"),
        method: "POST",
        bulkId: "team",
        version: 'W/"1"',
        status: "201",
      },
    ]);
    expect(shown(world.users, ada)).toMatchObject({ userName: "ada@example.com" });
    expect(shown(world.groups, team)).toMatchObject({ displayName: "team" });
    const [changed] = await bulk([
      patch(`/Groups/${idOf(team)}`, { op: "add", path: "members", value: [{ value: id }] }),
    ]);
    expect(changed).toMatchObject({ version: 'W/"2"', status: "204" });
  });

  test("is refused as a whole without any change if its structure is wrong", async () => {
    const refusal = await refusalOf(() => bulk([userPost("ada"), { method: "POST", path: "/Users" }]));
    expect(refusal).toMatchObject([400, "invalidSyntax", expect.stringContaining("Operations[1].bulkId")]);
    expect(statusesOf(await bulk([userPost("ada")]))).toEqual(["201"]);
  });

  test("fails operations independently, with the same errors as single requests", async () => {
    const outcomes = await bulk([
      userPost("ada"),
      userPost("again", { userName: "ADA@example.com" }),
      { method: "DELETE", path: "/Users/nobody" },
      { method: "GET", path: "/Users/nobody" },
      { method: "POST", path: "/Me", bulkId: "me", data: {} },
      userPost("grace"),
    ]);
    expect(statusesOf(outcomes)).toEqual(["201", "409", "404", "400", "404", "201"]);
    expect(outcomes[1]).toEqual({
      method: "POST",
      bulkId: "again",
      status: "409",
      response: {
        schemas: [SCIM_ERROR],
        status: "409",
        scimType: "uniqueness",
        detail: expect.stringContaining("userName"),
      },
    });
    expect(outcomes[2]?.location).toEndWith("/scim/v2/Users/nobody");
    expect(outcomes[2]?.version).toBeUndefined();
  });

  test("checks the version before a change", async () => {
    const { id } = await world.add();
    const change = { ...patch(`/Users/${id}`, { op: "add", path: "title", value: "x" }), version: 'W/"1"' };
    const other = { ...patch(`/Users/${id}`, { op: "add", path: "title", value: "y" }), version: 'W/"1"' };
    const outcomes = await bulk([
      change,
      other,
      { method: "DELETE", path: `/Users/${id}`, version: 'W/"9"' },
    ]);
    expect(statusesOf(outcomes)).toEqual(["200", "412", "412"]);
  });

  test("SCIM-105 stops after the allowed number of failures and keeps the changes made", async () => {
    const missing = { method: "DELETE", path: "/Users/nobody" };
    const operations = [missing, userPost("ada"), missing, userPost("grace")];
    expect(statusesOf(await bulk(operations, { failOnErrors: 1 }))).toEqual(["404"]);
    expect(statusesOf(await bulk(operations, { failOnErrors: 2 }))).toEqual(["404", "201", "404"]);
    expect(statusesOf(await bulk([missing, missing, userPost("grace")], { failOnErrors: 3 }))).toEqual([
      "404",
      "404",
      "201",
    ]);
  });

  test("audits each change like a single request", async () => {
    const created = () => auditedIn(world).filter(({ action }) => action === "scim_user.create").length;
    await bulk(
      [userPost("ada"), userPost("ada"), userPost("grace")].map((post, at) => ({
        ...post,
        bulkId: `b${at}`,
      })),
    );
    expect(created()).toBe(2);
  });

  test("yields to other requests between operations that all fail", async () => {
    const missing = { method: "DELETE", path: "/Users/nobody" };
    let turns = 0;
    let isDone = false;
    const others = (): void => {
      turns += 1;
      if (!isDone) setImmediate(others);
    };
    setImmediate(others);
    await bulk(Array.from({ length: 50 }, () => missing));
    isDone = true;
    expect(turns).toBeGreaterThanOrEqual(50);
  });
});

describe("references in a bulk request", () => {
  test("SCIM-106 name later operations in members, values, value filters and paths", async () => {
    const [team, ...changes] = await bulk([
      groupPost("team", ["bulkId:ada", "bulkId:grace"]),
      patch("/Groups/bulkId:team", { op: "add", path: "members", value: [{ value: "bulkId:hedy" }] }),
      patch("/Groups/bulkId:team", { op: "remove", path: 'members[value eq "bulkId:ada"]' }),
      {
        method: "PUT",
        path: "/Users/bulkId:hedy",
        data: { userName: "hedy@example.com", title: "Inventor" },
      },
      patch("/Users/bulkId:hedy", { op: "add", path: "manager", value: "bulkId:grace" }),
      userPost("ada", managedBy("bulkId:grace")),
      userPost("grace"),
      userPost("hedy"),
    ]);
    expect(statusesOf(changes)).toEqual(["204", "204", "200", "200", "201", "201", "201"]);
    const [, , , , ada, grace, hedy] = changes;
    expect(membersOf(team)).toEqual([idOf(grace), idOf(hedy)].sort());
    expect(managerOf(ada)).toMatchObject({ value: idOf(grace) });
    expect(managerOf(hedy)).toMatchObject({ value: idOf(grace) });
    expect(shown(world.users, hedy)).toMatchObject({ title: "Inventor" });
  });

  test("SCIM-107 fail with a conflict if no operation creates the bulkId or its creation failed", async () => {
    await world.add({ userName: "taken@example.com" });
    const outcomes = await bulk([
      groupPost("ghosts", ["bulkId:nobody"]),
      groupPost("failed", ["bulkId:taken"]),
      { method: "DELETE", path: "/Users/bulkId:taken" },
      userPost("taken"),
      groupPost("empty", []),
    ]);
    expect(statusesOf(outcomes)).toEqual(["409", "409", "409", "409", "201"]);
    expect(outcomes.slice(0, 3).map(({ response }) => response?.scimType)).toEqual(
      Array(3).fill("invalidValue"),
    );
    expect(outcomes[0]?.response?.detail).toContain('"nobody"');
    expect(outcomes[2]?.location).toBeUndefined();
  });

  test("SCIM-108 require their prefix", async () => {
    const { id } = await world.add();
    const [clash, , byReference] = await bulk([
      groupPost("by id", [id]),
      userPost(id, { userName: "namesake@example.com" }),
      groupPost("by reference", [`bulkId:${id}`]),
    ]);
    expect(membersOf(clash)).toEqual([id]);
    expect(membersOf(byReference)).not.toEqual([id]);
  });

  test("SCIM-107 sets users who manage each other, with the last version in the response", async () => {
    const outcomes = await bulk([
      userPost("ada", managedBy("bulkId:grace")),
      userPost("grace", managedBy("bulkId:hedy")),
      userPost("hedy", managedBy("bulkId:ada")),
      userPost("self", managedBy("bulkId:self")),
    ]);
    expect(statusesOf(outcomes)).toEqual(["201", "201", "201", "201"]);
    const [ada, grace, hedy, self] = outcomes;
    expect(managerOf(ada)).toMatchObject({ value: idOf(grace) });
    expect(managerOf(grace)).toMatchObject({ value: idOf(hedy) });
    expect(managerOf(hedy)).toMatchObject({ value: idOf(ada) });
    expect(managerOf(self)).toMatchObject({ value: idOf(self) });
    for (const outcome of outcomes)
      expect(shown(world.users, outcome).meta).toMatchObject({ version: outcome.version });
    expect(ada?.version).toBe('W/"2"');
  });

  test("reports a resource created without references if the rest of their cycle fails", async () => {
    await world.add({ userName: "taken@example.com" });
    const [ada, taken] = await bulk([
      userPost("ada", managedBy("bulkId:taken")),
      userPost("taken", managedBy("bulkId:ada")),
    ]);
    expect([ada?.status, taken?.status]).toEqual(["409", "409"]);
    const [, id = ""] = /created with id ([0-9a-f-]{36}), but some/.exec(ada?.response?.detail ?? "") ?? [];
    expect(world.shown(id)).toMatchObject({ userName: "ada@example.com" });
    const stopped = await bulk(
      [userPost("eve", managedBy("bulkId:taken")), userPost("taken", managedBy("bulkId:eve"))],
      { failOnErrors: 1 },
    );
    expect(statusesOf(stopped)).toEqual(["409", "409"]);
  });
});

test("an unexpected error fails the whole request instead of one operation", async () => {
  await world.world.db.close();
  const run = bulk([userPost("ada")]);
  expect(await run.catch((error: unknown) => error instanceof DomainError || error)).toBeInstanceOf(Error);
});

test("unknown attributes are counted one operation at a time", () => {
  const data = { userName: "ada@example.com", shoeSize: 42 };
  const steps = countIgnoredInBulk({
    Operations: [1, 2, 3].map(() => ({ method: "POST", path: "/Users", data })),
  });
  let count = 0;
  for (let step = steps.next(); !step.done; step = steps.next()) count += 1;
  expect(count).toBe(3);
});
