// Lists of many rows: they are read in steps, their pages are consecutive, and frequent queries read few rows.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { JOINED_STEP_ROWS, STEP_ROWS } from "../../../src/domain/shared/page-steps.ts";
import { openConnection } from "../../../src/platform/database/connection.ts";
import type { Steps } from "../../../src/platform/steps.ts";
import { addManyRows } from "../../support/content/many-rows.ts";
import { createTestServer, type TestServer } from "../../support/server.ts";
import { START_MS } from "../../support/world.ts";
import { listenToStatements, type StatementLog } from "../scim/search/statement-log.ts";

/** in the middle of a step */
const ROWS = Math.floor(2.4 * STEP_ROWS);
const LAST = { page: ROWS / 100, perPage: 100 };

let site: TestServer;
let statements: StatementLog;

beforeAll(async () => {
  statements = listenToStatements();
  site = await createTestServer();
  using connection = openConnection(site.world.file, {});
  addManyRows(connection, { count: ROWS, nowMs: START_MS });
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  statements[Symbol.dispose]();
});

function stepsIn(work: Steps<unknown>): number {
  let steps = 1;
  while (!work.next().done) steps += 1;
  return steps;
}

describe("a step reads a bounded number of rows", () => {
  test.each<[string, (organizationId: string) => Steps<unknown>]>([
    ["the last page of users", (id) => site.domain.identity.users.listInSteps(id, LAST)],
    ["users by a text", (id) => site.domain.identity.users.listInSteps(id, { q: "nobody" })],
    ["users by role", (id) => site.domain.identity.users.listInSteps(id, { role: "admin" })],
    ["all users to choose from", (id) => site.domain.identity.users.options(id)],
    ["users to choose from by text", (id) => site.domain.identity.users.searchOptions(id, { q: "nobody" })],
    ["the last page of invitations", (id) => site.domain.identity.invitations.listInSteps(id, LAST)],
    ["invitations by a text", (id) => site.domain.identity.invitations.listInSteps(id, { q: "nobody" })],
    ["the last page of workstations", (id) => site.domain.clients.inventory.listInSteps(id, LAST)],
    ["workstations by harness", (id) => site.domain.clients.inventory.listInSteps(id, { harness: "kimi" })],
    ["workstations by health", (id) => site.domain.clients.inventory.listInSteps(id, { health: "current" })],
    [
      "names to filter workstations by",
      (id) => site.domain.clients.inventory.facets(id, { userQ: "nobody" }),
    ],
    ["workstations by health, counted", (id) => site.domain.clients.inventory.countsInSteps(id)],
  ])("reads %s in bounded steps", (name, list) => {
    const steps = stepsIn(list(site.world.organizationId));
    expect({ name, steps, isEnough: steps > ROWS / STEP_ROWS }).toEqual({ name, steps, isEnough: true });
  });
});

describe("the pages of a long list equal the list", () => {
  const PER_PAGE = 500;
  const lists = {
    users: (query: object) => site.domain.identity.users.list(site.world.organizationId, query),
    invitations: (query: object) => site.domain.identity.invitations.list(site.world.organizationId, query),
    "workstations, newest first": (query: object) =>
      site.domain.clients.inventory.list(site.world.organizationId, query),
    "workstations, oldest first": (query: object) =>
      site.domain.clients.inventory.list(site.world.organizationId, { ...query, sort: "last_seen_asc" }),
  };
  /** @returns all rows in the order of the list, read with one statement */
  const expected: Record<keyof typeof lists, string> = {
    users: "SELECT id FROM users ORDER BY email_key, id",
    invitations: "SELECT id FROM invitations ORDER BY created_at_ms DESC, id DESC",
    "workstations, newest first": "SELECT id FROM client_reports ORDER BY last_seen_at_ms DESC, id DESC",
    "workstations, oldest first": "SELECT id FROM client_reports ORDER BY last_seen_at_ms, id",
  };
  const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);

  test.each(["users", "invitations", "workstations, newest first", "workstations, oldest first"] as const)(
    "reads the pages of %s by number and from row to row",
    (name) => {
      const list = lists[name];
      using reading = new Database(site.world.file, { readonly: true });
      const ids = idsOf(reading.query<{ id: string }, []>(expected[name]).all());
      const byNumber: string[] = [];
      const byRow: string[] = [];
      let after: object | undefined;
      for (let page = 1; page <= ids.length / PER_PAGE + 1; page++) {
        const query = { page, perPage: PER_PAGE, isWalk: true };
        const numbered = list(query);
        expect(numbered.total).toBe(ids.length);
        byNumber.push(...idsOf(numbered.items));
        const { items } = list({ ...query, after, known: ids.length });
        byRow.push(...idsOf(items));
        after = items.at(-1);
      }
      expect(byNumber).toEqual(ids);
      expect(byRow).toEqual(ids);
    },
  );

  test("equals the list of distant matches", () => {
    const { users } = site.domain.identity;
    const all = users.list(site.world.organizationId, { q: "7@example", perPage: 500, isWalk: true });
    const paged = [1, 2, 3, 4, 5].flatMap((page) => {
      const { items, total } = users.list(site.world.organizationId, { q: "7@example", page, perPage: 60 });
      expect(total).toBe(all.total);
      return idsOf(items);
    });
    expect(paged).toEqual(idsOf(all.items));
    expect(all.items.length).toBe(all.total);
  });
});

test("a workstation that is added or removed changes the total", async () => {
  const { inventory, removals } = site.domain.clients;
  const { organizationId, system } = site.world;
  const before = inventory.list(organizationId, {}).total;
  await removals.remove(system, "01940000-0000-7000-8000-000000000001");
  expect([inventory.list(organizationId, {}).total, inventory.total(organizationId)]).toEqual([
    before - 1,
    before - 1,
  ]);
});

/** @returns how SQLite executes the queries that ran since the last time */
function plans(): { detail: string; sql: string }[] {
  using explaining = new Database(site.world.file, { readonly: true });
  return statements.take().flatMap(({ sql }) =>
    explaining
      .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => ({ detail, sql })),
  );
}

test("CON-132 workstations of listed users are found in the index by user", () => {
  const { inventory } = site.domain.clients;
  statements.take();
  inventory.ofUsers(site.world.organizationId, ["one", "two"]);
  expect(plans().map(({ detail }) => detail)).toEqual([
    "SEARCH client_reports USING INDEX client_reports_instance (user_id=?)",
  ]);
});

test("CON-130 the few workstations that need attention are found without the others", () => {
  const { inventory } = site.domain.clients;
  statements.take();
  expect(stepsIn(inventory.summaries(site.world.organizationId, { health: "attention" }))).toBe(1);
  expect(plans().filter(({ detail }) => /client_reports_(?!differing)/.test(detail))).toEqual([]);
});

test("CON-132 a search reads the places of its candidates, and summaries of its page only", () => {
  const { inventory } = site.domain.clients;
  const query = { q: "example", sort: "host_asc", perPage: 10 };
  statements.take();
  expect(stepsIn(inventory.summaries(site.world.organizationId, query))).toBeGreaterThan(2);
  const byId = statements.take().filter(({ sql }) => sql.includes('"client_reports"."id" IN (SELECT value'));
  expect(byId).not.toEqual([]);
  expect(byId.filter(({ sql }) => sql.includes("packages_applied"))).toEqual([]);
});

test.each([0, 1])("CON-132 a step looks at few users if each needs its workstations (seen from %d)", (ms) => {
  const { users } = site.domain.identity;
  const { organizationId } = site.world;
  const { holds } = site.domain.clients.inventory.notSeenSince(organizationId, ms);
  const steps = stepsIn(users.listInSteps(organizationId, { sets: [{ holds }] }));
  expect(steps).toBeGreaterThan(ROWS / JOINED_STEP_ROWS);
});
