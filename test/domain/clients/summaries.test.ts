// Lists of workstations without their inventories: what they show, every order and filter, cursors, and the counts.
import { describe, expect, test } from "bun:test";
import {
  COUNTED_VERSION_LENGTH_MAX,
  COUNTED_VERSIONS_MAX,
  HARNESSES_MAX,
  NOT_SEEN_DAYS_MAX,
  SORTED_ROWS_MAX,
  STALE_AFTER_DAYS,
  SUMMARIES_COUNTED_MAX,
} from "../../../src/domain/clients/limits.ts";
import { SORTS } from "../../../src/domain/clients/model.ts";
import type { ClientQuery } from "../../../src/domain/clients/service.ts";
import { clientReports } from "../../../src/domain/clients/tables.ts";
import { DAY_MS } from "../../../src/platform/clock.ts";
import { openConnection } from "../../../src/platform/database/connection.ts";
import { runSynchronously } from "../../../src/platform/steps.ts";
import { addManyRows } from "../../support/content/many-rows.ts";
import { START_MS } from "../../support/world.ts";
import { type ClientsWorld, createClientsWorld } from "./clients-world.ts";

const page = ({ domain, organizationId }: ClientsWorld, query: ClientQuery = {}) =>
  runSynchronously(domain.clients.inventory.summaries(organizationId, query));
const hosts = (clients: ClientsWorld, query: ClientQuery = {}) =>
  page(clients, query).items.map(({ hostname }) => hostname);
const versionsIn = ({ domain, organizationId }: ClientsWorld) =>
  runSynchronously(domain.clients.inventory.versionsInSteps(organizationId));

const HARNESSES = [
  { name: "codex", installed: true, reconciled: true, version: "0.40.1" },
  { name: "claude", installed: true, reconciled: false, raw_version: "2.0.1 (Claude Code)" },
  { name: "kimi", installed: false, version: "1.0.0" },
  { name: "opencode", api_allowed: false, version: "0.9.0" },
  "pi",
];
const PACKAGES = [{ id: "one", state: "applied" }, { id: "two", state: "failed" }, {}];

test("a summary counts harnesses and packages and leaves the inventory out [CON-29]", async () => {
  await using clients = await createClientsWorld();
  await clients.report({ harnesses: HARNESSES, packages: PACKAGES });
  const [summary] = page(clients).items;
  expect(summary).toMatchObject({
    userEmail: "ana@example.org",
    harnessesWanted: 3,
    harnessesReconciled: 2,
    packagesReported: 3,
    packagesApplied: 1,
  });
  for (const member of ["harnesses", "packages", "reasons", "error", "attempt"])
    expect(summary).not.toHaveProperty(member);
});

test("a report from before the counts has none until the job evaluates it again", async () => {
  await using clients = await createClientsWorld();
  await clients.report({ harnesses: HARNESSES, packages: PACKAGES });
  const counted = page(clients).items;
  const none = {
    harnessesWanted: null,
    harnessesReconciled: null,
    packagesReported: null,
    packagesApplied: null,
    harnessVersions: null,
    evaluatedBy: "earlier",
  };
  await clients.world.db.write((tx) => tx.update(clientReports).set(none).run(), "clients");
  expect(page(clients).items).toMatchObject([{ harnessesWanted: null, packagesApplied: null }]);
  expect(versionsIn(clients)).toEqual({ versions: [], more: 0, uncounted: 1 });
  await clients.domain.clients.verdictRenewal.run(new AbortController().signal);
  expect(page(clients).items).toEqual(counted);
});

/** Three users with hosts whose orders by name, user, version and time all differ. */
async function fleet(): Promise<ClientsWorld> {
  const clients = await createClientsWorld();
  const [bob, zoe] = [
    await clients.signedIn("member", { email: "Bob@example.org" }),
    await clients.signedIn("member", { email: "zoe@example.org" }),
  ];
  const reports = [
    { hostname: "beta", client_version: "1.10.0", platform: "linux" },
    { hostname: "Alpha", client_version: "1.9.0", platform: "darwin" },
    { hostname: null, client_version: "dev", platform: "linux" },
    { hostname: "gamma", client_version: "1.10.0-rc.1", platform: "linux" },
  ];
  const callers = [zoe, bob, clients.ana, bob];
  for (const [at, report] of reports.entries()) {
    await clients.report({ instance_id: `i-${at}`, ...report }, callers[at]);
    clients.world.clock.advance(DAY_MS);
  }
  return clients;
}

describe("the order", () => {
  test.each<[ClientQuery["sort"], (string | null)[]]>([
    ["last_seen_desc", ["gamma", null, "Alpha", "beta"]],
    ["host_asc", [null, "Alpha", "beta", "gamma"]],
    ["host_desc", ["gamma", "beta", "Alpha", null]],
    ["user_asc", [null, "Alpha", "gamma", "beta"]],
    ["user_desc", ["beta", "gamma", "Alpha", null]],
    ["version_asc", [null, "Alpha", "gamma", "beta"]],
    ["version_desc", ["beta", "gamma", "Alpha", null]],
  ])("%s", async (sort, expected) => {
    await using clients = await fleet();
    expect(hosts(clients, { sort })).toEqual(expected);
    // Few matching rows are sorted outside SQLite.
    expect(hosts(clients, { sort, platform: "linux" })).toEqual(expected.filter((host) => host !== "Alpha"));
  });

  test("follows a new host name and a new version", async () => {
    await using clients = await fleet();
    await clients.report({ instance_id: "i-2", hostname: "zeta", client_version: "9.0.0" });
    expect(hosts(clients, { sort: "host_desc" })[0]).toBe("zeta");
    expect(hosts(clients, { sort: "version_desc" })[0]).toBe("zeta");
    await clients.report({ instance_id: "i-2", hostname: "zeta", client_version: "0.1.0" });
    expect(hosts(clients, { sort: "version_desc" })[0]).toBe("beta");
  });
});

test.each<[string, ClientQuery, (string | null)[]]>([
  ["a client version", { clientVersion: "1.9.0" }, ["Alpha"]],
  ["a platform", { platform: "darwin" }, ["Alpha"]],
  ["a revision that no workstation has", { revision: "r" }, []],
  ["days without a report", { notSeenForDays: 3 }, ["Alpha", "beta"]],
  ["workstations that are stale", { stale: "true" }, []],
  ["workstations that are not", { stale: "false", q: "ALPHA" }, ["Alpha"]],
])("the filter takes %s", async (_what, query, expected) => {
  await using clients = await fleet();
  expect(hosts(clients, query)).toEqual(expected);
});

test("the filter takes a reported revision", async () => {
  await using clients = await createClientsWorld();
  await clients.report({ instance_id: "other", hostname: "other" });
  await clients.report({ config_revision: "r-1", hostname: "wanted" });
  expect(hosts(clients, { revision: "r-1" })).toEqual(["wanted"]);
});

test.each([
  [STALE_AFTER_DAYS * DAY_MS - 1, "false"],
  [STALE_AFTER_DAYS * DAY_MS, "true"],
])("%d ms after its report a client has stale=%s, like its activity", async (elapsedMs, stale) => {
  await using clients = await createClientsWorld();
  await clients.report();
  clients.world.clock.advance(elapsedMs);
  const { items } = page(clients, { stale });
  expect(items).toMatchObject([{ activity: stale === "true" ? "stale" : "recent" }]);
  expect(page(clients, { stale: stale === "true" ? "false" : "true" }).total).toBe(0);
});

describe("a cursor", () => {
  test.each(SORTS)("leads through the whole list, %s", async (sort) => {
    await using clients = await fleet();
    for (const filter of [{}, { lastSeen: { from: "2026-01-01" } }, { userId: clients.ana.user.id }]) {
      const whole = page(clients, { sort, ...filter });
      const walked: unknown[] = [];
      let cursor: string | null | undefined;
      do {
        const next = page(clients, { sort, ...filter, perPage: 1, ...(cursor && { cursor }) });
        expect([next.total, next.isTotalExact]).toEqual([whole.total, true]);
        walked.push(...next.items);
        cursor = next.next;
      } while (cursor);
      expect(walked).toEqual([...whole.items]);
    }
  });

  test("reports a cursor of another order, a changed cursor and one with a page, together with other problems", async () => {
    await using clients = await fleet();
    const cursor = page(clients, { perPage: 1 }).next ?? "";
    const forged = (members: unknown) => Buffer.from(JSON.stringify(members)).toString("base64url");
    const { id } = clients.ana.user;
    const pointersOf = (query: ClientQuery): unknown => {
      try {
        return page(clients, query).items.length;
      } catch (error) {
        return error instanceof Error && "problems" in error ? error.problems : error;
      }
    };
    for (const wrong of [
      { cursor: "x" },
      { cursor: "" },
      { cursor, sort: "host_asc" },
      { cursor, page: 2 },
      { cursor: forged(["last_seen_desc", "1", id, 4, true]) },
      { cursor: forged(["last_seen_desc", 1, "id", 4, true]) },
      { cursor: forged(["last_seen_desc", 1, id, -1, true]) },
      { cursor: forged(["last_seen_desc", 1, id, 4, 1]) },
    ])
      expect(pointersOf(wrong)).toMatchObject([{ pointer: "/cursor" }]);
    const all = { cursor: "x", view: "short", stale: "maybe", health: "ill" };
    expect(pointersOf(all)).toMatchObject(
      ["stale", "health", "view", "cursor"].map((name) => ({ pointer: `/${name}` })),
    );
  });
});

test.each([
  [0, false],
  [1, true],
  [NOT_SEEN_DAYS_MAX, true],
  [NOT_SEEN_DAYS_MAX + 1, false],
  [Number.NaN, false],
])("accepts %d as the number of days not seen: %p", async (notSeenForDays, isAccepted) => {
  await using clients = await createClientsWorld();
  const list = () => page(clients, { notSeenForDays });
  if (isAccepted) expect(list().total).toBe(0);
  else expect(list).toThrow("not_seen_for_days must be a whole number from 1");
});

describe("many rows", () => {
  test("a filtered total is counted up to a limit, and every order is whole", async () => {
    await using clients = await createClientsWorld();
    using connection = openConnection(clients.world.file, {});
    addManyRows(connection, { count: SUMMARIES_COUNTED_MAX + 1, nowMs: START_MS });
    const totals = (query: ClientQuery) => {
      const { total, isTotalExact } = page(clients, query);
      return [total, isTotalExact];
    };
    expect(totals({})).toEqual([SUMMARIES_COUNTED_MAX + 1, true]);
    expect(totals({ platform: "linux" })).toEqual([SUMMARIES_COUNTED_MAX, false]);
    expect(totals({ platform: "linux", isWalk: true })).toEqual([SUMMARIES_COUNTED_MAX + 1, true]);
    const rename = (count: number) =>
      connection.query("UPDATE client_reports SET platform = iif(rowid <= ?, 'few', 'linux')").run(count);
    for (const count of [SUMMARIES_COUNTED_MAX - 1, SUMMARIES_COUNTED_MAX]) {
      rename(count);
      expect(totals({ platform: "few" })).toEqual([count, true]);
    }
    const expected = connection.query<{ id: string }, []>(
      "SELECT id FROM client_reports WHERE platform = 'few' ORDER BY host_key DESC, id DESC LIMIT 100 OFFSET 50",
    );
    for (const count of [SORTED_ROWS_MAX - 1, SORTED_ROWS_MAX, SORTED_ROWS_MAX + 1]) {
      rename(count);
      const wanted = { platform: "few", sort: "host_desc" };
      const first = page(clients, { ...wanted, perPage: 50 });
      const second = page(clients, { ...wanted, perPage: 100, cursor: first.next ?? "" });
      const ids = expected.all().map(({ id }) => id);
      expect([first.total, second.total, second.items.map(({ id }) => id)]).toEqual([count, count, ids]);
    }
  });
});

describe("health", () => {
  const MORE = 1_500; // than a list sorts by itself

  test.each(SORTS)("finds the same workstations in every order, %s", async (sort) => {
    await using clients = await createClientsWorld();
    using connection = openConnection(clients.world.file, {});
    addManyRows(connection, { count: 3 * MORE, nowMs: START_MS });
    const differ = (rest: number) =>
      connection
        .query("UPDATE client_reports SET verdict = iif(rowid % 3 = ? AND rowid > 2, 'differs', 'matches')")
        .run(rest);
    for (const health of ["attention", "outdated"] as const) {
      differ(health === "attention" ? 0 : 1);
      const verdict = health === "attention" ? "differs" : "matches";
      const [count] = connection
        .query<{ total: number }, [string]>("SELECT count(*) AS total FROM client_reports WHERE verdict = ?")
        .all(verdict);
      const first = page(clients, { health, sort, perPage: 70 });
      const second = page(clients, { health, sort, perPage: 70, cursor: first.next ?? "" });
      const both = page(clients, { health, sort, perPage: 100 }).items.concat(
        page(clients, { health, sort, page: 2, perPage: 100 }).items,
      );
      expect(first.total).toBe(count?.total ?? 0);
      expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(
        both.slice(0, 140).map(({ id }) => id),
      );
      expect(both.every((row) => row.verdict === verdict && row.health === health)).toBe(true);
    }
  });
});

describe("the versions of harnesses", () => {
  test("counts versions by harness, most frequent first, without those that are not installed", async () => {
    await using clients = await createClientsWorld();
    await clients.report({ instance_id: "one", harnesses: HARNESSES });
    await clients.report({ instance_id: "two", harnesses: [{ name: "codex", version: "0.41.0" }, {}] });
    await clients.report({ instance_id: "three", harnesses: [{ name: "codex", version: "0.41.0" }] });
    expect(versionsIn(clients)).toEqual({
      versions: [
        { harness: "claude", version: "2.0.1 (Claude Code)", clients: 1 },
        { harness: "codex", version: "0.41.0", clients: 2 },
        { harness: "codex", version: "0.40.1", clients: 1 },
        { harness: "opencode", version: "0.9.0", clients: 1 },
        { harness: "pi", version: "", clients: 1 },
      ],
      more: 0,
      uncounted: 0,
    });
  });

  test.each([-1, 0, 1])("counts versions that are longer than the limit as unreadable (%d)", async (more) => {
    await using clients = await createClientsWorld();
    const version = "9".repeat(COUNTED_VERSION_LENGTH_MAX + more);
    await clients.report({ harnesses: [{ name: "codex", version }] });
    expect(versionsIn(clients).versions).toMatchObject([{ version: more > 0 ? "" : version }]);
  });

  test.each([-1, 0, 1])("lists versions up to the limit (%d) and omits the rarest", async (more) => {
    await using clients = await createClientsWorld();
    const all = Array.from({ length: COUNTED_VERSIONS_MAX + more }, (_, at) => ({
      name: `made up ${1_000 + at}`,
      version: "1",
    }));
    for (let at = 0; at < all.length; at += HARNESSES_MAX)
      await clients.report({ instance_id: `from ${at}`, harnesses: all.slice(at, at + HARNESSES_MAX) });
    const { versions, more: left } = versionsIn(clients);
    expect([versions.length, left]).toEqual([Math.min(all.length, COUNTED_VERSIONS_MAX), Math.max(more, 0)]);
  });
});
