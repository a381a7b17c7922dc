// Every lookup of an identity provider uses an index, as SQLite itself reports, and nothing is read that is not returned.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ListParameters } from "../../../../src/domain/scim/model.ts";
import type { SearchScope } from "../../../../src/domain/scim/search/search-request.ts";
import { createSearchWorld, type SearchWorld } from "./search-world.ts";
import { listenToStatements, type StatementLog } from "./statement-log.ts";

/** @returns each step of the plans of all queries that the list runs */
async function stepsOf(
  log: StatementLog,
  world: SearchWorld,
  scope: SearchScope,
  parameters: ListParameters,
): Promise<string[]> {
  log.take();
  await world.list(scope, parameters);
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

describe("an index is used", () => {
  let explained: Awaited<ReturnType<typeof createExplained>>;
  beforeAll(async () => {
    explained = await createExplained();
  });
  afterAll(() => explained[Symbol.asyncDispose]());

  test.each<[SearchScope, string]>([
    ["User", 'userName eq "ada"'],
    ["User", 'userName eq "nobody"'],
    ["User", 'userName eq "ada" or userName eq "bob"'],
    ["User", 'externalId eq "e1"'],
    ["User", 'id eq "x"'],
    ["User", 'emails.value eq "ada"'],
    ["User", 'emails[type eq "work"].value eq "ada"'],
    ["User", 'emails[type eq "work" and value eq "ada" and primary eq true]'],
    ["User", 'emails.value eq "ada" or emails.value eq "bob"'],
    ["User", 'userName eq "ada" or emails.value eq "ada"'],
    ["User", 'displayName eq "ada"'],
    ["User", 'id eq "x" and manager eq "y"'],
    ["User", 'userName eq "ada" and active eq true'],
    ["User", 'groups.value eq "x"'],
    ["User", 'groups.display eq "engineers"'],
    ["Group", 'displayName eq "engineers"'],
    ["Group", 'externalId eq "g1"'],
    ["Group", 'id eq "x"'],
    ["Group", 'id eq "x" and members eq "y"'],
    ["Group", 'members[value eq "x"]'],
    ["User", 'userName sw "a"'],
    ["User", 'meta.lastModified gt "2020-01-01T00:00:00Z"'],
    ["User", 'meta.lastModified gt "2020-01-01T00:00:00Z" and userName eq "ada"'],
  ])("%s: %s", async (scope, filter) => {
    for (const parameters of [
      { filter },
      { filter, count: 0 },
      { filter, startIndex: 2 },
      { filter, sortBy: "id" },
    ]) {
      const steps = await stepsOf(explained.log, explained.world, scope, parameters);
      const step = steps.join("\n");
      expect(step).not.toMatch(/SCAN scim_/);
      expect(step).not.toMatch(/SEARCH scim_(?!organizations).+\(organization_\w+=\?\)/);
    }
  });
});

test("counting by the time of the last change, and skipping to a later page of it, read no documents", async () => {
  await using explained = await createExplained();
  const { log, world } = explained;
  const filter = 'meta.lastModified gt "2020-01-01T00:00:00Z"';
  const [counting] = await stepsOf(log, world, "User", { filter, count: 0 });
  expect(counting).toContain("scim_user_revisions USING COVERING INDEX");
  const later = { startIndex: 2, sortBy: "meta.lastModified", filter };
  const [skipping] = await stepsOf(log, world, "User", later);
  expect(skipping).toContain("scim_user_revisions USING COVERING INDEX");
});

test("pages without a filter follow the order of an index without sorting", async () => {
  await using explained = await createExplained();
  const { log, world } = explained;
  for (const sortBy of [undefined, "userName", "displayName", "meta.lastModified"]) {
    const steps = await stepsOf(log, world, "User", { sortBy, attributes: ["userName"] });
    expect(steps[0]).toMatch(/\(organization_(?:id|number)=\?\)/);
    expect(steps.join("\n")).not.toContain("B-TREE");
  }
});

test("SCIM-121 a page of many needs as many queries as a page of one", async () => {
  await using explained = await createExplained();
  const { log, world } = explained;
  const queriesOf = async (parameters: ListParameters): Promise<number> => {
    log.take();
    await world.list("User", parameters);
    return log.take().length;
  };
  await queriesOf({});
  const one = await queriesOf({ count: 1 });
  await world.addUsers(...Array.from({ length: 50 }, (_, at) => ({ userName: `u${at}`, active: true })));
  await queriesOf({});
  expect(await queriesOf({ count: 50 })).toBe(one);
});
