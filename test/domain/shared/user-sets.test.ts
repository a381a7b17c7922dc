// Users by their workstations and groups: a list reads few users if few can match, and finds the same as a full scan.
import type { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { UserQuery } from "../../../src/domain/identity/directory/user-directory.ts";
import { USER_CANDIDATES_MAX, type UserSet } from "../../../src/domain/shared/ordered-rows-store.ts";
import { openConnection } from "../../../src/platform/database/connection.ts";
import { addManyRows } from "../../support/content/many-rows.ts";
import { createTestServer, type TestServer } from "../../support/server.ts";
import { START_MS } from "../../support/world.ts";
import { createClientsWorld } from "../clients/clients-world.ts";

const ROWS = USER_CANDIDATES_MAX + 10;

let site: TestServer;
let connection: Database;
beforeAll(async () => {
  site = await createTestServer();
  connection = openConnection(site.world.file, {});
  addManyRows(connection, { count: ROWS, nowMs: START_MS });
  connection.run("UPDATE client_reports SET last_seen_at_ms = rowid");
  connection.run(
    `INSERT INTO scim_groups VALUES (1, 'group', (SELECT id FROM organizations), NULL, 'G', 'g', 0, 1, 0, 0)`,
  );
  connection.run(
    `INSERT INTO scim_users (account_id, organization_id, user_name, user_name_key, active, label, created_at_ms, doc, doc_key)
     SELECT id, organization_id, email, email_key, 1, email, 0, '{}', '{}' FROM users`,
  );
  connection.run("INSERT OR IGNORE INTO scim_organizations (organization_id) SELECT id FROM organizations");
  connection.run(
    "INSERT INTO scim_user_revisions SELECT sequence, number, 1, 0 FROM scim_users, scim_organizations",
  );
});
afterAll(async () => {
  connection.close();
  await site[Symbol.asyncDispose]();
});

const listed = (sets: readonly UserSet[], more: UserQuery = {}) =>
  site.domain.identity.users.list(site.world.organizationId, { sets, perPage: 100, ...more });
const notSeenSince = (ms: number) =>
  site.domain.clients.inventory.notSeenSince(site.world.organizationId, ms);

/** Makes this many users members of the group. */
function setMembers(count: number): UserSet {
  connection.run("DELETE FROM scim_group_members");
  connection.run(`INSERT INTO scim_group_members SELECT 1, sequence FROM scim_users LIMIT ${count}`);
  return site.domain.scim.directory.membersAsSet("group");
}

describe("few users are examined", () => {
  test.each([
    [USER_CANDIDATES_MAX - 1, true],
    [USER_CANDIDATES_MAX, true],
    [USER_CANDIDATES_MAX + 1, false],
  ])("examines few users if at most USER_CANDIDATES_MAX workstations are late: %d", (late, isFew) => {
    const set = notSeenSince(late + 1);
    expect([set.ids !== undefined, listed([set]).total]).toEqual([isFew, late]);
  });

  test.each([
    [USER_CANDIDATES_MAX - 1, true],
    [USER_CANDIDATES_MAX, true],
    [USER_CANDIDATES_MAX + 1, false],
  ])("examines few users if a group has at most USER_CANDIDATES_MAX members: %d", (members, isFew) => {
    const set = setMembers(members);
    expect([set.ids !== undefined, listed([set]).total]).toEqual([isFew, members]);
  });

  test("lists the same pages as a full scan of the users", () => {
    const few = [setMembers(700), notSeenSince(300)];
    const all = few.map(({ holds }) => ({ holds }));
    const some: UserQuery[] = [{}, { q: "7@example" }, { role: "admin" }, { hasWorkstation: false }];
    for (const query of some)
      for (const sets of [[0], [1], [0, 1]])
        for (let page = 1; page <= 4; page++) {
          const pick = (from: readonly UserSet[]) => sets.flatMap((at) => from[at] ?? []);
          expect(listed(pick(few), { ...query, page })).toEqual(listed(pick(all), { ...query, page }));
        }
    const [after] = listed(few.slice(0, 1)).items.slice(-1);
    expect(listed(few.slice(0, 1), { after }).items).toEqual(listed(all.slice(0, 1), { page: 2 }).items);
  });
});

test("a user has no workstation before the first report and after the last removal", async () => {
  await using clients = await createClientsWorld();
  const { domain, world, organizationId } = clients;
  const emails = () =>
    domain.identity.users.list(organizationId, { hasWorkstation: false }).items.map(({ email }) => email);
  await clients.report({ instance_id: "one" });
  await clients.report({ instance_id: "two" });
  expect(emails()).not.toContain("ana@example.org");
  for (const { id } of clients.listed()) {
    expect(emails()).not.toContain("ana@example.org");
    await domain.clients.removals.remove(world.system, id);
  }
  expect(emails()).toContain("ana@example.org");
});
