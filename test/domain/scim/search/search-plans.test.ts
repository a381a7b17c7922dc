// That every look-up of an identity provider is found by an index, said by SQLite itself, and that nothing is read which
// is not shown.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { AskedList } from "../../../../src/domain/scim/model.ts";
import type { SearchScope } from "../../../../src/domain/scim/search/search-request.ts";
import { createSearchWorld, type SearchWorld } from "./search-world.ts";
import { listenToStatements, type StatementLog } from "./statement-log.ts";

/** @returns each step of the plans of all queries that the list runs */
async function stepsOf(
  log: StatementLog,
  world: SearchWorld,
  scope: SearchScope,
  asked: AskedList,
): Promise<string[]> {
  log.take();
  await world.list(scope, asked);
  const queries = log.take().filter(({ sql }) => sql.startsWith("select"));
  using explaining = new Database(world.file, { readonly: true });
  return queries.flatMap(({ sql }) =>
    explaining
      .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => detail),
  );
}

async function createExplained() {
  const log = listenToStatements();
  const world = await createSearchWorld();
  const [ada] = await world.addUsers({ userName: "ada", active: true, externalId: "e1", displayName: "Ada" });
  const group = await world.addGroup("Engineers", [ada ?? ""], "g1");
  return {
    world,
    log,
    ids: { ada, group },
    async [Symbol.asyncDispose]() {
      log[Symbol.dispose]();
      await world.dispose();
    },
  };
}

describe("an index finds", () => {
  let explained: Awaited<ReturnType<typeof createExplained>>;
  beforeAll(async () => {
    explained = await createExplained();
  });
  afterAll(() => explained[Symbol.asyncDispose]());

  const byUserName = "scim_users_user_name (organization_id=? AND user_name_key=?)";
  const byAccount = "scim_users_account (account_id=?)";
  const byEmail = "scim_user_emails_value (organization_id=? AND value_key=?";
  const byGroupName = "scim_groups_display_name (organization_id=? AND display_name_key=?)";

  test.each<[SearchScope, string, string[]]>([
    ["User", 'userName eq "ada"', [byUserName]],
    ["User", 'userName eq "nobody"', [byUserName]],
    ["User", 'userName eq "ada" or userName eq "bob"', [byUserName]],
    ["User", 'externalId eq "e1"', ["scim_users_external_id (organization_id=? AND external_id=?)"]],
    ["User", 'id eq "x"', [byAccount]],
    ["User", 'emails.value eq "ada"', [byEmail, byAccount]],
    ["User", 'emails[type eq "work"].value eq "ada"', [`${byEmail} AND type_key=?)`, byAccount]],
    ["User", 'emails[type eq "work" and value eq "ada" and primary eq true]', [byEmail, byAccount]],
    ["User", 'emails.value eq "ada" or emails.value eq "bob"', [byEmail, byAccount]],
    ["User", 'userName eq "ada" or emails.value eq "ada"', [byUserName, byEmail, byAccount]],
    ["User", 'displayName eq "ada"', ["scim_users_display_name (organization_id=? AND display_name_key=?)"]],
    ["User", 'id eq "x" and manager eq "y"', [byAccount]],
    ["User", 'userName eq "ada" and active eq true', [byUserName]],
    [
      "User",
      'userName sw "a"',
      ["scim_users_user_name (organization_id=? AND user_name_key>? AND user_name_key<?)"],
    ],
    ["User", 'groups.value eq "x"', ["scim_groups_id (id=?)", byAccount]],
    ["User", 'groups.display eq "engineers"', [byGroupName, byAccount]],
    [
      "User",
      'meta.lastModified gt "2020-01-01T00:00:00Z"',
      ["scim_users_updated (organization_id=? AND updated_at_ms>?)"],
    ],
    ["Group", 'displayName eq "engineers"', [byGroupName]],
    ["Group", 'externalId eq "g1"', ["scim_groups_external_id (organization_id=? AND external_id=?)"]],
    ["Group", 'id eq "x"', ["scim_groups_id (id=?)"]],
    ["Group", 'id eq "x" and members eq "y"', ["scim_groups_id (id=?)"]],
    ["Group", 'members[value eq "x"]', ["scim_group_members_user (user_id=?)", "scim_groups_id (id=?)"]],
  ])("%s: %s", async (scope, filter, indices) => {
    for (const asked of [
      { filter },
      { filter, count: 0 },
      { filter, startIndex: 2 },
      { filter, sortBy: "id" },
    ]) {
      const steps = await stepsOf(explained.log, explained.world, scope, asked);
      const step = steps.join("\n");
      for (const index of indices) expect(step).toContain(index);
      expect(step).not.toMatch(/SCAN scim_/);
      expect(step).not.toContain("(organization_id=?)");
    }
  });
});

test("pages without a filter come in the order of an index, with nothing left to sort", async () => {
  await using explained = await createExplained();
  const { log, world } = explained;
  for (const sortBy of [undefined, "userName", "displayName", "meta.lastModified"]) {
    const steps = await stepsOf(log, world, "User", { sortBy, attributes: ["userName"] });
    expect(steps[0]).toContain("(organization_id=?)");
    expect(steps.join("\n")).not.toContain("B-TREE");
  }
});

test("what a filter finds is put in order without documents and groups, and then the page is read with one query for each", async () => {
  await using explained = await createExplained();
  const { log, world } = explained;
  await world.addUsers({ userName: "adele", active: true }, { userName: "alan", active: true });
  for (const asked of [{ count: 2 }, { count: 2, sortBy: "displayName" }]) {
    log.take();
    await world.list("User", { filter: 'userName sw "a"', ...asked });
    const ran = log.take();
    const placesOf = (part: string) => ran.flatMap(({ sql }, at) => (sql.includes(part) ? [at] : []));
    expect([placesOf('"doc"'), placesOf("scim_group_members")]).toEqual([[1], [ran.length - 1]]);
  }
});

test("the last page is read from the end, and the first from the start", async () => {
  await using explained = await createExplained();
  const { log, world } = explained;
  await world.addUsers(...Array.from({ length: 9 }, (_, at) => ({ userName: `u${at}`, active: true })));
  const isBackwards = async (startIndex: number): Promise<boolean> => {
    log.take();
    await world.list("User", { startIndex, count: 3 });
    return log.take().some(({ sql }) => sql.includes('"sequence" DESC'));
  };
  const directions = [await isBackwards(1), await isBackwards(4), await isBackwards(8)];
  expect(directions).toEqual([false, false, true]);
});

test("memberships are not read where they are not shown", async () => {
  await using explained = await createExplained();
  const { log, world } = explained;
  const lists: [SearchScope, AskedList][] = [
    ["Group", { excludedAttributes: ["members"] }],
    ["Group", { attributes: ["displayName"], filter: 'displayName eq "engineers"' }],
    ["User", { excludedAttributes: ["groups"] }],
    ["User", { attributes: ["userName"], filter: 'userName eq "ada"' }],
  ];
  for (const [scope, asked] of lists) {
    const steps = await stepsOf(log, world, scope, asked);
    expect(steps.join("\n")).not.toContain("scim_group_members");
  }
  expect((await stepsOf(log, world, "Group", {})).join("\n")).toContain("scim_group_members");
});

test("SCIM-121 a page of many costs as many queries as a page of one", async () => {
  await using explained = await createExplained();
  const { log, world } = explained;
  const queriesOf = async (asked: AskedList): Promise<number> => {
    log.take();
    await world.list("User", asked);
    return log.take().length;
  };
  await queriesOf({});
  const one = await queriesOf({ count: 1 });
  await world.addUsers(...Array.from({ length: 50 }, (_, at) => ({ userName: `u${at}`, active: true })));
  await queriesOf({});
  expect(await queriesOf({ count: 50 })).toBe(one);
});
