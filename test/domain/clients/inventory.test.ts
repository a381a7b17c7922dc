// The inventory: the same health wherever it is shown, filters, order, facets, lookups, and verdicts that stay.
import { describe, expect, test } from "bun:test";
import {
  FACET_HARNESSES_MAX,
  HARNESSES_MAX,
  REFERENCE_MATCHES_MAX,
  STALE_AFTER_DAYS,
} from "../../../src/domain/clients/limits.ts";
import { HEALTHS } from "../../../src/domain/clients/model.ts";
import type { ClientQuery } from "../../../src/domain/clients/service.ts";
import { FACET_USERS_MAX, type FacetQuery } from "../../../src/domain/shared/facet-users.ts";
import { SEARCH_LENGTH_MAX } from "../../../src/domain/shared/page.ts";
import { DAY_MS, HOUR_MS } from "../../../src/platform/clock.ts";
import { runSynchronously } from "../../../src/platform/steps.ts";
import { type ClientsWorld, createClientsWorld } from "./clients-world.ts";
import { reportedHarness } from "./policies.ts";

const instances = ({ domain, organizationId }: ClientsWorld, query: ClientQuery = {}): string[] =>
  domain.clients.inventory.list(organizationId, query).items.map(({ instanceId }) => instanceId);

const facetsOf = ({ domain, organizationId }: ClientsWorld, query: FacetQuery = {}) =>
  runSynchronously(domain.clients.inventory.facets(organizationId, query));

/** @returns installations by health, found with the filter and compared with the health in each row */
function byHealth(clients: ClientsWorld): Record<string, string[]> {
  const found = HEALTHS.map((health) => {
    const { items, total } = clients.domain.clients.inventory.list(clients.organizationId, { health });
    expect(items.map((item) => item.health)).toEqual(items.map(() => health));
    expect(clients.domain.clients.inventory.counts(clients.organizationId)[health]).toBe(total);
    return [health, items.map(({ instanceId }) => instanceId).sort()];
  });
  return Object.fromEntries(found);
}

describe("health", () => {
  test("is current, outdated or needs attention, the same in rows, filters and figures", async () => {
    await using clients = await createClientsWorld();
    const former = await clients.publish();
    const current = await clients.publish();
    await clients.report({ instance_id: "good", config_revision: current });
    await clients.report({ instance_id: "bad", config_revision: current, files_ok: false });
    await clients.report({ instance_id: "old", config_revision: former });
    await clients.report({ instance_id: "old and bad", config_revision: former, applied: false });
    await clients.report({ instance_id: "none" });
    await clients.report({ instance_id: "stranger", config_revision: "another organization's" });
    expect(byHealth(clients)).toEqual({
      current: ["good"],
      outdated: ["none", "old", "stranger"],
      attention: ["bad", "old and bad"],
    });
  });

  test("applies a new revision to a whole fleet immediately, without reports", async () => {
    await using clients = await createClientsWorld();
    const first = await clients.publish();
    await clients.report({ instance_id: "good", config_revision: first });
    await clients.report({ instance_id: "bad", config_revision: first, files_ok: false });
    expect(byHealth(clients)).toEqual({ current: ["good"], outdated: [], attention: ["bad"] });
    const second = await clients.publish();
    expect(byHealth(clients)).toEqual({ current: [], outdated: ["good"], attention: ["bad"] });
    await clients.report({ instance_id: "good", config_revision: second });
    expect(byHealth(clients)).toEqual({ current: ["good"], outdated: [], attention: ["bad"] });
  });

  test("is never current without a policy", async () => {
    await using clients = await createClientsWorld();
    await clients.report({ instance_id: "none" });
    await clients.report({ instance_id: "one", config_revision: "one" });
    expect(byHealth(clients)).toEqual({ current: [], outdated: ["none", "one"], attention: [] });
    expect(clients.domain.clients.inventory.list(clients.organizationId, {}).currentRevision).toBeNull();
  });

  test("depends on what the reporter may see", async () => {
    await using clients = await createClientsWorld();
    const bob = await clients.signedIn("member");
    const audience = { scope: "users" as const, user_ids: [bob.user.id] };
    const revision = await clients.publish({}, { review: audience });
    const report = { config_revision: revision, packages: [] };
    await clients.report({ ...report, instance_id: "ana's" });
    await clients.report({ ...report, instance_id: "bob's" }, bob);
    expect(byHealth(clients)).toMatchObject({ current: ["ana's"], attention: ["bob's"] });
  });

  test.each([
    [STALE_AFTER_DAYS * DAY_MS - 1, "recent"],
    [STALE_AFTER_DAYS * DAY_MS, "stale"],
  ])("%d ms after a report the client is %s", async (elapsedMs, activity) => {
    await using clients = await createClientsWorld();
    await clients.report();
    clients.world.clock.advance(elapsedMs);
    expect(clients.listed()).toMatchObject([{ activity }]);
  });
});

describe("a list", () => {
  test("is ordered by the last report, with ties by id", async () => {
    await using clients = await createClientsWorld();
    for (const instance_id of ["first", "second"]) await clients.report({ instance_id });
    clients.world.clock.advance(1);
    await clients.report({ instance_id: "third" });
    expect(instances(clients)).toEqual(["third", "second", "first"]);
    expect(instances(clients, { sort: "last_seen_asc" })).toEqual(["first", "second", "third"]);
    clients.world.clock.advance(1);
    await clients.report({ instance_id: "first" });
    expect(instances(clients)).toEqual(["first", "third", "second"]);
  });

  test("is split into pages, and one past the end is empty", async () => {
    await using clients = await createClientsWorld();
    for (const instance_id of ["a", "b", "c"]) await clients.report({ instance_id });
    const { inventory } = clients.domain.clients;
    expect(instances(clients, { perPage: 2 })).toEqual(["c", "b"]);
    expect(instances(clients, { perPage: 2, page: 2 })).toEqual(["a"]);
    const past = inventory.list(clients.organizationId, { perPage: 2, page: 3 });
    expect(past).toMatchObject({ items: [], total: 3 });
  });

  test("counts a new client immediately, and not those that report again", async () => {
    await using clients = await createClientsWorld();
    const totalAfter = async (instance_id: string) => {
      await clients.report({ instance_id });
      return clients.domain.clients.inventory.list(clients.organizationId, {}).total;
    };
    expect(await totalAfter("a")).toBe(1);
    expect(await totalAfter("b")).toBe(2);
    expect(await totalAfter("b")).toBe(2);
  });

  test("shows no clients of another organization", async () => {
    await using clients = await createClientsWorld();
    await clients.report();
    expect(clients.domain.clients.inventory.list(clients.world.ids.uuid(), {}).total).toBe(0);
  });

  test("is searched in host name, installation and address, in any case and literally", async () => {
    await using clients = await createClientsWorld();
    await clients.report({ instance_id: "i-1", hostname: "Lab-14" });
    await clients.report({ instance_id: "i_2%", hostname: null });
    await clients.report({ instance_id: "i-3", hostname: null }, await clients.signedIn("admin"));
    expect(instances(clients, { q: " lab-14 " })).toEqual(["i-1"]);
    expect(instances(clients, { q: "I_2%" })).toEqual(["i_2%"]);
    expect(instances(clients, { q: "_" })).toEqual(["i_2%"]);
    expect(instances(clients, { q: "ANA@" })).toEqual(["i_2%", "i-1"]);
    expect(instances(clients, { q: "" })).toHaveLength(3);
    expect(instances(clients, { q: "nobody" })).toEqual([]);
  });

  test("is filtered by user, harness and days together", async () => {
    await using clients = await createClientsWorld();
    const bob = await clients.signedIn("member");
    await clients.report({ instance_id: "name", harnesses: ["kimi"] });
    clients.world.clock.advance(DAY_MS);
    await clients.report({ instance_id: "object", harnesses: [reportedHarness({ name: "kimi" })] });
    await clients.report({ instance_id: "bob's", harnesses: ["kimi", "codex"] }, bob);
    await clients.report({ instance_id: "other", harnesses: ["kim", "kimi-cli"] });
    const days = (from: string, to: string) => ({ lastSeen: { from, to } });
    expect(instances(clients, { harness: "kimi" })).toEqual(["bob's", "object", "name"]);
    expect(instances(clients, { userId: bob.user.id })).toEqual(["bob's"]);
    expect(instances(clients, days("2026-01-01", "2026-01-01"))).toEqual(["name"]);
    expect(instances(clients, days("2026-1-2", "2026-01-02"))).toEqual(["other", "bob's", "object"]);
    expect(instances(clients, { lastSeen: { from: "2026-01-03" } })).toEqual([]);
    const all = { userId: bob.user.id, harness: "kimi", ...days("2026-01-02", "2026-01-02") };
    expect(instances(clients, { ...all, health: "outdated" })).toEqual(["bob's"]);
    expect(instances(clients, { ...all, health: "current" })).toEqual([]);
  });

  test("includes the last millisecond of a day and not the first of the next", async () => {
    await using clients = await createClientsWorld();
    clients.world.clock.advance(DAY_MS - 1);
    await clients.report({ instance_id: "before" });
    clients.world.clock.advance(1);
    await clients.report({ instance_id: "after" });
    expect(instances(clients, { lastSeen: { to: "2026-01-01" } })).toEqual(["before"]);
    expect(instances(clients, { lastSeen: { from: "2026-01-02" } })).toEqual(["after"]);
    expect(instances(clients, { seenBeforeMs: clients.world.clock.nowMs() })).toEqual(["before"]);
  });

  test("reports all problems of a query together", async () => {
    await using clients = await createClientsWorld();
    const wrong = {
      page: 0,
      perPage: 101,
      q: "q".repeat(SEARCH_LENGTH_MAX + 1),
      userId: "ana",
      health: "well",
      sort: "name_asc",
      lastSeen: { from: "2026-02-30", to: "soon" },
    };
    expect(() => clients.domain.clients.inventory.list(clients.organizationId, wrong)).toThrow(
      expect.objectContaining({
        kind: "invalid",
        reason: "client.invalid",
        problems: [
          "page",
          "per_page",
          "q",
          "user_id",
          "last_seen_from",
          "last_seen_to",
          "health",
          "sort",
        ].map((name) => expect.objectContaining({ pointer: `/${name}` })),
      }),
    );
    const backwards = { lastSeen: { from: "2026-01-02", to: "2026-01-01" } };
    expect(() => instances(clients, backwards)).toThrow("last_seen_to must not be before last_seen_from");
  });
});

describe("facets", () => {
  test("lists users who have reported, by address, and every reported harness", async () => {
    await using clients = await createClientsWorld();
    const zoe = await clients.signedIn("member", { email: "zoe@example.org" });
    await clients.signedIn("member", { email: "never@example.org" });
    await clients.report({ harnesses: ["kimi", { name: "codex" }] }, zoe);
    await clients.report({ harnesses: ["codex", "made up"] });
    await clients.report({ instance_id: "another", harnesses: [] });
    const facets = facetsOf(clients);
    expect(facets).toEqual({
      users: [
        { id: clients.ana.user.id, email: "ana@example.org" },
        { id: zoe.user.id, email: "zoe@example.org" },
      ],
      harnesses: ["codex", "kimi", "made up"],
    });
  });

  test.each([-1, 0, 1])("list harness names up to the limit %d", async (more) => {
    await using clients = await createClientsWorld();
    const names = Array.from({ length: FACET_HARNESSES_MAX + more }, (_, at) => `made up ${1_000 + at}`);
    for (let at = 0; at < names.length; at += HARNESSES_MAX)
      await clients.report({ instance_id: `from ${at}`, harnesses: names.slice(at, at + HARNESSES_MAX) });
    expect(facetsOf(clients).harnesses).toEqual(names.slice(0, FACET_HARNESSES_MAX));
  });

  test("searches users by address, with the selected user first in any case", async () => {
    await using clients = await createClientsWorld();
    const emailsOf = (query: { userQ?: string; selectedUserId?: string }) =>
      facetsOf(clients, query).users.map(({ email }) => email);
    const zoe = await clients.signedIn("member", { email: "zoe@example.org" });
    await clients.report();
    await clients.report({}, zoe);
    expect(emailsOf({ userQ: " ZOE@ " })).toEqual(["zoe@example.org"]);
    expect(emailsOf({ selectedUserId: zoe.user.id })).toEqual(["zoe@example.org", "ana@example.org"]);
    expect(emailsOf({ selectedUserId: zoe.user.id, userQ: "ana" })).toEqual([
      "zoe@example.org",
      "ana@example.org",
    ]);
    expect(emailsOf({ selectedUserId: clients.world.ids.uuid(), userQ: "ana" })).toEqual(["ana@example.org"]);
    expect(() => emailsOf({ userQ: "q".repeat(SEARCH_LENGTH_MAX + 1), selectedUserId: "ana" })).toThrow(
      expect.objectContaining({
        problems: [
          expect.objectContaining({ pointer: "/user_q" }),
          expect.objectContaining({ pointer: "/selected_user_id" }),
        ],
      }),
    );
  });

  test.each([FACET_USERS_MAX - 1, FACET_USERS_MAX, FACET_USERS_MAX + 1])(
    "name at most a limited number of users, of %d",
    async (count) => {
      await using clients = await createClientsWorld();
      for (let number = 0; number < count; number++) {
        const email = `u${String(number).padStart(2, "0")}@example.org`;
        await clients.report({}, await clients.signedIn("member", { email }));
      }
      const { users } = facetsOf(clients);
      expect(FACET_USERS_MAX).toBe(10); // on the wire
      expect(users).toHaveLength(Math.min(count, FACET_USERS_MAX));
    },
  );
});

describe("looking a client up", () => {
  test("accepts an id, an installation, or a host name in any case", async () => {
    await using clients = await createClientsWorld();
    await clients.report({ instance_id: "i-1", hostname: "Lab-14" });
    const [{ id } = { id: "" }] = clients.listed();
    const { inventory } = clients.domain.clients;
    for (const reference of [id, "i-1", "lab-14"])
      expect(inventory.find(clients.organizationId, reference).id).toBe(id);
    for (const reference of ["lab", "", "%", clients.world.ids.uuid()])
      expect(() => inventory.find(clients.organizationId, reference)).toThrow(
        expect.objectContaining({ kind: "not_found", reason: "client.not_found" }),
      );
  });

  test("treats an id as such, even if a host has that name", async () => {
    await using clients = await createClientsWorld();
    await clients.report({ instance_id: "i-1" });
    const [{ id } = { id: "" }] = clients.listed();
    await clients.report({ instance_id: "i-2", hostname: id });
    expect(clients.domain.clients.inventory.find(clients.organizationId, id).instanceId).toBe("i-1");
  });

  test("names the ids of clients with the same name", async () => {
    await using clients = await createClientsWorld();
    for (let number = 0; number <= REFERENCE_MATCHES_MAX; number++)
      await clients.report({ instance_id: `i${number}`, hostname: "lab" });
    const ids = clients.listed().map(({ id }) => id);
    expect(() => clients.domain.clients.inventory.find(clients.organizationId, "lab")).toThrow(
      expect.objectContaining({
        kind: "conflict",
        reason: "client.ambiguous",
        hint: `name one by its id: ${ids.slice(0, REFERENCE_MATCHES_MAX).join(", ")}`,
      }),
    );
  });
});

test("a removed user's clients stay, under the former address", async () => {
  await using clients = await createClientsWorld();
  await clients.report();
  await clients.domain.identity.users.remove(clients.world.system, clients.ana.user.id);
  expect(clients.listed()).toMatchObject([{ userEmail: "ana@example.org" }]);
  clients.world.clock.advance(HOUR_MS);
  expect(instances(clients, { q: "ana@" })).toEqual(["instance-1"]);
});

describe("a list that is read after the last client of the previous page", () => {
  test.each(["last_seen_desc", "last_seen_asc"])("continues as the pages do, %s", async (sort) => {
    await using clients = await createClientsWorld();
    for (const name of ["a", "b", "c", "d", "e"]) {
      await clients.report({ instance_id: name });
      if (name > "b") clients.world.clock.advance(HOUR_MS); // two were seen at the same time
    }
    const { inventory } = clients.domain.clients;
    const all = inventory.list(clients.organizationId, { sort }).items;
    for (const [at, after] of all.entries()) {
      const { items, total } = inventory.list(clients.organizationId, { sort, after, page: 7, perPage: 2 });
      expect(items).toEqual(all.slice(at + 1, at + 3));
      expect(total).toBe(5);
    }
    expect(inventory.list(clients.organizationId, { known: 9 }).total).toBe(9);
  });
});
