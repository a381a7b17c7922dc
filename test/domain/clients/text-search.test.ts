// The text search for workstations: the index changes which rows are read, never which are found.
import { describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import {
  SEARCH_CANDIDATES_MAX,
  SEARCHES_COUNTED_MAX,
  SUMMARIES_COUNTED_MAX,
} from "../../../src/domain/clients/limits.ts";
import { SORTS } from "../../../src/domain/clients/model.ts";
import type { ClientQuery } from "../../../src/domain/clients/service.ts";
import { users } from "../../../src/domain/identity/tables.ts";
import { JOINED_STEP_ROWS, STEP_ROWS } from "../../../src/domain/shared/page-steps.ts";
import { openConnection } from "../../../src/platform/database/connection.ts";
import { runSynchronously } from "../../../src/platform/steps.ts";
import { addManyRows } from "../../support/content/many-rows.ts";
import { START_MS } from "../../support/world.ts";
import { type ClientsWorld, createClientsWorld } from "./clients-world.ts";

const page = ({ domain, organizationId }: ClientsWorld, query: ClientQuery) =>
  runSynchronously(domain.clients.inventory.summaries(organizationId, query));
const hosts = (clients: ClientsWorld, query: ClientQuery) =>
  page(clients, query).items.map(({ hostname }) => hostname);

const ODD = ['say "hello" AND NOT this', "日本語のホスト", "50%_*^-'\\ ( colon: )", "\u212a lab é 🦊🦊🦊"];

test("CON-130 finds literal text in any case: of host names, instance ids and addresses", async () => {
  await using clients = await createClientsWorld();
  for (const [at, hostname] of ODD.entries())
    await clients.report({ instance_id: `instance-${at}-ABC`, hostname });
  for (const [at, hostname] of ODD.entries()) {
    const characters = [...hostname];
    for (const length of [2, 3, 4, 7])
      expect(hosts(clients, { q: characters.slice(1, length + 1).join("") })).toContain(hostname);
    expect(hosts(clients, { q: `INSTANCE-${at}-abc` })).toEqual([hostname]);
  }
  expect(page(clients, { q: "ANA@example" }).total).toBe(ODD.length);
  expect(hosts(clients, { q: "hello this" })).toEqual([]);
});

test("CON-130 follows new names and removals", async () => {
  await using clients = await createClientsWorld();
  await clients.report({ instance_id: "i-1", hostname: "former" });
  await clients.report({ instance_id: "i-1", hostname: "renamed" });
  expect([hosts(clients, { q: "former" }), hosts(clients, { q: "renamed" })]).toEqual([[], ["renamed"]]);
  const [{ id } = { id: "" }] = page(clients, {}).items;
  await clients.domain.clients.removals.remove(clients.world.system, id);
  expect(hosts(clients, { q: "renamed" })).toEqual([]);
  await clients.domain.clients.optimizeSearch(new AbortController().signal);
  const { read } = clients.world.db;
  expect(read.all(sql`SELECT * FROM client_search_entries`)).toEqual([]);
  const blocks = read.all<{ block: Uint8Array }>(sql`SELECT block FROM client_search_data`);
  expect(blocks.some(({ block }) => Buffer.from(block).includes("ren"))).toBe(false);
});

test("CON-132 a text that is too short for the index is searched in steps that count the user of each row", async () => {
  await using clients = await createClientsWorld();
  using connection = openConnection(clients.world.file, {});
  addManyRows(connection, { count: 2 * JOINED_STEP_ROWS, nowMs: START_MS });
  const stepsOf = (query: ClientQuery): number =>
    Iterator.from(clients.domain.clients.inventory.summaries(clients.organizationId, query)).reduce(
      (steps) => steps + 1,
      0,
    );
  expect(2 * JOINED_STEP_ROWS).toBeLessThanOrEqual(STEP_ROWS);
  expect(stepsOf({ q: "~~" })).toBeGreaterThan(stepsOf({ platform: "~~" }));
});

describe("CON-130 among many workstations", () => {
  /** Hosts `host-1` to `host-N`, and as many users. */
  async function many(count: number) {
    const clients = await createClientsWorld();
    using connection = openConnection(clients.world.file, {});
    addManyRows(connection, { count, nowMs: START_MS });
    return clients;
  }

  /** pages of an index of 2,000 records without its removed ones: a merge writes all of them */
  const WRITTEN_MAX = 10;

  test("CON-132 removing ten writes little, because a job merges the index", async () => {
    await using clients = await many(2_000);
    using connection = openConnection(clients.world.file, {});
    const pagesBy = (change: () => void): number => {
      const versions = () => connection.query("SELECT id, block FROM client_search_data").values();
      const before = new Set(versions().map(([id, block]) => `${id} ${Bun.hash(block as Uint8Array)}`));
      change();
      return versions().filter(([id, block]) => !before.has(`${id} ${Bun.hash(block as Uint8Array)}`)).length;
    };
    const remove = connection.query(
      "DELETE FROM client_reports WHERE id IN (SELECT id FROM client_reports LIMIT 10)",
    );
    for (let turn = 0; turn < 60; turn++) expect(pagesBy(() => remove.run())).toBeLessThan(WRITTEN_MAX);
  });

  test("every order and page equals the result of a scan of all rows", async () => {
    await using clients = await many(1_200);
    for (const sort of SORTS) {
      const all = hosts(clients, { sort, perPage: 500, isWalk: true })
        .concat(hosts(clients, { sort, page: 2, perPage: 500, isWalk: true }))
        .concat(hosts(clients, { sort, page: 3, perPage: 500, isWalk: true }))
        .filter((host) => host?.includes("host-11"));
      const found: (string | null)[] = [];
      for (let cursor: string | undefined; ; ) {
        const { items, next, total } = page(clients, { sort, q: "HOST-11", perPage: 50, cursor });
        expect([sort, total]).toEqual([sort, all.length]);
        found.push(...items.map(({ hostname }) => hostname));
        if (next === null) break;
        cursor = next;
      }
      expect([sort, found]).toEqual([sort, all]);
    }
    expect(page(clients, { q: "host-11", health: "attention" }).total).toBe(0);
    expect(hosts(clients, { q: "host-11", page: 2, perPage: 100 })).toHaveLength(11);
  });

  test("up to the limit of candidates the total is exact, and above it is a bound", async () => {
    for (const count of [SEARCH_CANDIDATES_MAX - 1, SEARCH_CANDIDATES_MAX, SEARCH_CANDIDATES_MAX + 1]) {
      await using clients = await many(count);
      const { total, isTotalExact, items, next } = page(clients, { q: "instance-", perPage: 100 });
      const isExact = count <= SEARCH_CANDIDATES_MAX;
      expect([total, isTotalExact, items.length]).toEqual([
        isExact ? count : SEARCHES_COUNTED_MAX,
        isExact,
        100,
      ]);
      const second = page(clients, { q: "instance-", perPage: 100, cursor: next ?? "" });
      expect([second.total, second.isTotalExact]).toEqual([total, isTotalExact]);
      expect(second.items[0]?.id).not.toBe(items[0]?.id);
      const { items: whole, total: exact } = clients.domain.clients.inventory.list(clients.organizationId, {
        q: "instance-",
      });
      expect([whole.length, exact]).toEqual([25, count]);
    }
  });

  test("a text that is too short for the index is counted up to a limit", async () => {
    await using clients = await many(SEARCHES_COUNTED_MAX + 1);
    using connection = openConnection(clients.world.file, {});
    for (const rows of [SEARCHES_COUNTED_MAX - 1, SEARCHES_COUNTED_MAX, SEARCHES_COUNTED_MAX + 1]) {
      connection.query("UPDATE client_reports SET hostname = iif(rowid <= ?, 'Q!', 'x')").run(rows);
      const { total, isTotalExact, items } = page(clients, { q: "q!" });
      expect([total, isTotalExact, items.length]).toEqual([
        Math.min(rows, SEARCHES_COUNTED_MAX),
        rows <= SEARCHES_COUNTED_MAX,
        25,
      ]);
    }
  });

  test("few of too many candidates are counted, and a bound needs enough of them", async () => {
    await using clients = await many(SEARCH_CANDIDATES_MAX + 2);
    using connection = openConnection(clients.world.file, {});
    for (const rows of [SEARCHES_COUNTED_MAX - 1, SEARCHES_COUNTED_MAX, SEARCHES_COUNTED_MAX + 1]) {
      connection.query("UPDATE client_reports SET platform = iif(rowid <= ?, 'few', 'linux')").run(rows);
      const { total, isTotalExact } = page(clients, { q: "instance-", platform: "few" });
      expect([total, isTotalExact]).toEqual([
        Math.min(rows, SEARCHES_COUNTED_MAX),
        rows <= SEARCHES_COUNTED_MAX,
      ]);
    }
    expect(SEARCHES_COUNTED_MAX).toBeLessThan(SUMMARIES_COUNTED_MAX);
  });
});

test("a workstation is found although more users have the text than are examined", async () => {
  await using clients = await createClientsWorld();
  const { world, organizationId } = clients;
  await clients.report(
    { instance_id: "last" },
    await clients.signedIn("member", { email: "worker-z@example.com" }),
  );
  await world.db.write((tx) => {
    for (let at = 0; at <= SEARCH_CANDIDATES_MAX; at++) {
      const [id, email] = [world.ids.uuid(), `worker-${at}@example.com`];
      const times = { createdAtMs: 0, updatedAtMs: 0 };
      const row = { id, organizationId, email, emailKey: email, subject: id, ...times };
      tx.insert(users)
        .values({ ...row, role: "member", status: "active" })
        .run();
    }
  }, "user_rows");
  expect(hosts(clients, { q: "worker-" })).toHaveLength(1);
});
