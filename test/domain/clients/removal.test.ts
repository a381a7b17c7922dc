// Removing clients from the inventory, and with `revoke` their logins: with real logins, tokens and sessions.
import { describe, expect, test } from "bun:test";
import { auditEntries } from "../../../src/domain/audit/tables.ts";
import { BATCH_ROWS } from "../../../src/domain/clients/limits.ts";
import { clientReports } from "../../../src/domain/clients/tables.ts";
import { organizations } from "../../../src/domain/identity/tables.ts";
import { DAY_MS, HOUR_MS } from "../../../src/platform/clock.ts";
import type { Caller } from "../../support/server.ts";
import { type ClientsWorld, createClientsWorld, reporterOf } from "./clients-world.ts";
import { reportWith } from "./policies.ts";

const audited = ({ world }: ClientsWorld, action: string) =>
  world.db.read
    .select()
    .from(auditEntries)
    .all()
    .filter((entry) => entry.action === action);

const idOf = ({ domain, organizationId }: ClientsWorld, instanceId: string): string =>
  domain.clients.inventory.find(organizationId, instanceId).id;

/** A workstation's report. */
const send = async ({ request }: ClientsWorld, { accessToken }: Caller, instanceId = "instance-1") =>
  (
    await request("POST", "/client-status", {
      token: accessToken,
      body: reportWith({ instance_id: instanceId }),
    })
  ).status;

describe("removing", () => {
  test("keeps the login: the next report creates a new record", async () => {
    await using clients = await createClientsWorld();
    expect(await send(clients, clients.ana)).toBe(204);
    const former = idOf(clients, "instance-1");
    await clients.domain.clients.removals.remove(clients.world.system, former);
    expect(clients.listed()).toEqual([]);
    clients.world.clock.advance(1);
    expect(await send(clients, clients.ana)).toBe(204);
    expect(clients.listed()).toMatchObject([{ firstSeenAtMs: clients.world.clock.nowMs() }]);
    expect(idOf(clients, "instance-1")).not.toBe(former);
    expect(audited(clients, "client.remove")).toMatchObject([
      { target: former, before: expect.stringContaining('"hostname":"lab-14"') },
    ]);
  });

  test("reports an absent, foreign or malformed id as missing", async () => {
    await using clients = await createClientsWorld();
    await clients.report();
    const { removals } = clients.domain.clients;
    const id = idOf(clients, "instance-1");
    const foreign = { ...clients.world.system, organizationId: clients.world.ids.uuid() };
    const refused = expect.objectContaining({ kind: "not_found", reason: "client.not_found" });
    expect(removals.remove(foreign, id)).rejects.toEqual(refused);
    expect(removals.revoke(foreign, id)).rejects.toEqual(refused);
    expect(removals.remove(clients.world.system, clients.world.ids.uuid())).rejects.toEqual(refused);
    expect(removals.remove(clients.world.system, "instance-1")).rejects.toEqual(refused);
    expect(clients.listed()).toHaveLength(1);
    expect(audited(clients, "client.remove")).toEqual([]);
  });
});

describe("revoking", () => {
  test("ends the whole login: access token, refresh token, browser, and everything bound to them", async () => {
    await using clients = await createClientsWorld();
    const { ana, domain, request, world } = clients;
    await send(clients, ana);
    const { grant_id: grantId } = domain.access.tokens.read(ana.accessToken).claims;
    expect(domain.access.standingLogin(grantId)).toBeDefined();
    await domain.clients.removals.revoke(world.system, idOf(clients, "instance-1"));
    expect(clients.listed()).toEqual([]);
    expect(await send(clients, ana)).toBe(401);
    expect((await request("GET", "/auth/me", { cookie: ana.cookie })).status).toBe(401);
    expect(domain.access.standingLogin(grantId)).toBeUndefined();
    const refresh = { clientId: "blue-cli", refreshToken: ana.refreshToken };
    expect(domain.access.grants.refresh(refresh)).rejects.toMatchObject({ code: "invalid_grant" });
    expect(clients.listed()).toEqual([]);
    expect(audited(clients, "client.revoke")).toMatchObject([
      { before: expect.stringContaining(ana.loginSessionId) },
    ]);
  });

  test("keeps other logins, including those of the same user", async () => {
    await using clients = await createClientsWorld();
    const { ana, world } = clients;
    const again = await clients.signInAgain(ana.user);
    const other = await clients.signedIn("member");
    await send(clients, ana, "lost");
    await clients.domain.clients.removals.revoke(world.system, idOf(clients, "lost"));
    expect(await send(clients, again)).toBe(204);
    expect(await send(clients, other)).toBe(204);
  });

  test("ends the browser of a client that reported with its cookie", async () => {
    await using clients = await createClientsWorld();
    const { ana, request, world } = clients;
    const sent = { cookie: ana.cookie, body: reportWith() };
    expect((await request("POST", "/client-status", sent)).status).toBe(204);
    expect(clients.listed()).toMatchObject([{ grantId: null, loginSessionId: ana.loginSessionId }]);
    await clients.domain.clients.removals.revoke(world.system, idOf(clients, "instance-1"));
    expect((await request("POST", "/client-status", sent)).status).toBe(401);
  });

  test("ends the login that reported last, not the one before", async () => {
    await using clients = await createClientsWorld();
    const { ana, world } = clients;
    const again = await clients.signInAgain(ana.user);
    await send(clients, ana);
    await send(clients, again);
    await clients.domain.clients.removals.revoke(world.system, idOf(clients, "instance-1"));
    expect(await send(clients, again)).toBe(401);
    expect(await send(clients, ana)).toBe(204);
  });

  test("names other clients of the same sign-in in advance", async () => {
    await using clients = await createClientsWorld();
    const { inventory } = clients.domain.clients;
    await clients.report({ instance_id: "one", hostname: "lab-1" });
    await clients.report({ instance_id: "two", hostname: "lab-2" });
    await clients.report({ instance_id: "three" }, await clients.signInAgain(clients.ana.user));
    const one = inventory.find(clients.organizationId, "one");
    expect(inventory.companions(one)).toEqual([{ id: idOf(clients, "two"), hostname: "lab-2" }]);
  });
});

describe("clients not seen for long", () => {
  const unseen = (clients: ClientsWorld, removal: "remove" | "revoke", days = 90) => {
    const seenBeforeMs = clients.world.clock.nowMs() - days * DAY_MS;
    return clients.domain.clients.removals.unseen(clients.world.system, { removal, seenBeforeMs });
  };
  const grantOf = ({ domain }: ClientsWorld, { user }: Caller) => {
    const [grant] = domain.access.logins.list({ kind: "grant", userId: user.id, show: "all" }).items;
    return { id: grant?.id ?? "", stands: grant?.state === "active" };
  };

  test("removes clients not seen since that day and keeps others, and a second run changes nothing", async () => {
    await using clients = await createClientsWorld();
    await clients.report({ instance_id: "old" });
    clients.world.clock.advance(1);
    await clients.report({ instance_id: "on the day" });
    clients.world.clock.advance(90 * DAY_MS);
    expect(await unseen(clients, "remove")).toBe(1);
    expect(clients.listed().map(({ instanceId }) => instanceId)).toEqual(["on the day"]);
    expect(await unseen(clients, "remove")).toBe(0);
    expect(audited(clients, "client.remove")).toHaveLength(1);
  });

  test.each(["remove", "revoke", "forget"] as const)(
    "keeps the clients of another organization (%s)",
    async (act) => {
      await using clients = await createClientsWorld();
      await clients.report({ instance_id: "theirs" });
      const { db, system, clock } = clients.world;
      await db.write((tx) => {
        tx.insert(organizations).values({ id: "other", name: "Other", createdAtMs: 0 }).run();
        tx.update(clientReports).set({ organizationId: "other" }).run();
      }, "clients");
      await clients.report({ instance_id: "ours" });
      clock.advance(2 * DAY_MS);
      const forgetting = { retentionDays: 1, signal: new AbortController().signal };
      const removed =
        act === "forget" ? clients.domain.clients.forgetUnseen(system, forgetting) : unseen(clients, act, 1);
      expect(await removed).toBe(1);
      const left = db.read.select({ organizationId: clientReports.organizationId }).from(clientReports).all();
      expect(left).toEqual([{ organizationId: "other" }]);
    },
  );

  test("keep their logins when removed and lose them when revoked", async () => {
    await using clients = await createClientsWorld();
    const other = await clients.signedIn("member");
    await clients.report({ instance_id: "removed" });
    clients.world.clock.advance(2 * DAY_MS);
    await unseen(clients, "remove", 1);
    await clients.report({ instance_id: "revoked" }, other);
    clients.world.clock.advance(2 * DAY_MS);
    await unseen(clients, "revoke", 1);
    expect(grantOf(clients, clients.ana).stands).toBe(true);
    expect(grantOf(clients, other).stands).toBe(false);
  });

  test("lose their login even if their user has an active client with another login", async () => {
    await using clients = await createClientsWorld();
    const { ana, world } = clients;
    const again = await clients.signInAgain(ana.user);
    await clients.report({ instance_id: "lost" });
    world.clock.advance(2 * DAY_MS);
    await clients.report({ instance_id: "live" }, again);
    expect(await unseen(clients, "revoke", 1)).toBe(1);
    const grants = clients.domain.access.logins.list({ kind: "grant", userId: ana.user.id, show: "all" });
    expect(grants.items.map(({ state }) => state).sort()).toEqual(["active", "revoked"]);
  });

  test("keep a login that an active client also uses", async () => {
    await using clients = await createClientsWorld();
    const { ana, world } = clients;
    await clients.report({ instance_id: "lost" });
    world.clock.advance(2 * DAY_MS);
    await clients.report({ instance_id: "live" });
    expect(await unseen(clients, "revoke", 1)).toBe(1);
    expect(clients.listed().map(({ instanceId }) => instanceId)).toEqual(["live"]);
    expect(grantOf(clients, ana).stands).toBe(true);
  });

  test.each([
    ["before", -1, { left: [], stands: false }],
    ["at", 0, { left: ["other"], stands: true }],
    ["after", 1, { left: ["other"], stands: true }],
  ])(
    "count another client of the same login as live from the limit on: seen %s it",
    async (_when, ms, expected) => {
      await using clients = await createClientsWorld();
      const { ana, world } = clients;
      await clients.report({ instance_id: "lost" });
      world.clock.advance(HOUR_MS + ms);
      await clients.report({ instance_id: "other" });
      world.clock.advance(DAY_MS - ms);
      expect(await unseen(clients, "revoke", 1)).toBe(2 - expected.left.length);
      expect(clients.listed().map(({ instanceId }) => instanceId)).toEqual(expected.left);
      expect(grantOf(clients, ana).stands).toBe(expected.stands);
    },
  );

  test.each(["remove", "revoke"] as const)(
    "takes clients seen before the limit, not at it (%s)",
    async (removal) => {
      await using clients = await createClientsWorld();
      await clients.report();
      clients.world.clock.advance(DAY_MS);
      expect(await unseen(clients, removal, 1)).toBe(0);
      clients.world.clock.advance(1);
      expect(await unseen(clients, removal, 1)).toBe(1);
    },
  );

  test("still lose their own grant", async () => {
    await using clients = await createClientsWorld();
    const { ana, domain, world } = clients;
    const lost = { ...reporterOf(ana), grantId: grantOf(clients, ana).id };
    await domain.clients.report(lost, reportWith({ instance_id: "lost" }));
    world.clock.advance(2 * DAY_MS);
    await clients.report({ instance_id: "live" });
    await unseen(clients, "revoke", 1);
    expect(grantOf(clients, ana).stands).toBe(false);
  });

  test.each([BATCH_ROWS - 1, BATCH_ROWS, BATCH_ROWS + 1])("revokes all of them, %d", async (count) => {
    await using clients = await createClientsWorld();
    await Promise.all(
      Array.from({ length: count }, (_, number) => clients.report({ instance_id: `i${number}` })),
    );
    clients.world.clock.advance(2 * DAY_MS);
    expect(await unseen(clients, "revoke", 1)).toBe(count);
    expect(clients.listed()).toEqual([]);
    expect(audited(clients, "client.revoke")).toHaveLength(count);
  });

  test("stay if the work was aborted before it started", async () => {
    await using clients = await createClientsWorld();
    await clients.report();
    const stopped = { removal: "revoke" as const, seenBeforeMs: Infinity, signal: AbortSignal.abort() };
    expect(await clients.domain.clients.removals.unseen(clients.world.system, stopped)).toBe(0);
    expect(clients.listed()).toHaveLength(1);
  });
});
