// Revoking selected workstations: a login that only one of them uses ends completely, with its browser session; of a shared login
// only the workstation's own grant ends.
import { expect, test } from "bun:test";
import type { RemovalKind } from "../../../src/domain/clients/removal.ts";
import type { Caller } from "../../support/server.ts";
import { type ClientsWorld, createClientsWorld } from "./clients-world.ts";
import { reportWith } from "./policies.ts";

const send = async ({ request }: ClientsWorld, { accessToken: token }: Caller, host: string) => {
  const body = reportWith({ instance_id: host, hostname: host });
  expect((await request("POST", "/client-status", { token, body })).status).toBe(204);
};

const revoke = ({ domain, world, organizationId }: ClientsWorld, ...hosts: string[]) => {
  const ids = hosts.map((host) => domain.clients.inventory.find(organizationId, host).id);
  return domain.clients.bulkRemovals.slice(world.system, { removal: "revoke", selection: { ids } });
};

/** @returns statuses of a request with the token and of one with the browser's cookie */
const answers = ({ request }: ClientsWorld, { accessToken: token, cookie }: Caller) =>
  Promise.all([{ token }, { cookie }].map(async (sent) => (await request("GET", "/auth/me", sent)).status));

test("a login that no other workstation uses ends completely, although its user has another login", async () => {
  await using clients = await createClientsWorld();
  const again = await clients.signInAgain(clients.ana.user);
  const other = await clients.signedIn("member");
  await send(clients, clients.ana, "lab-1");
  await send(clients, again, "lab-2");
  await send(clients, other, "lab-3");
  await revoke(clients, "lab-1");
  expect(await answers(clients, clients.ana)).toEqual([401, 401]);
  expect(await answers(clients, again)).toEqual([200, 200]);
  expect(await answers(clients, other)).toEqual([200, 200]);
});

test("a login of another workstation stays active; only the revoked workstation's grant ends", async () => {
  await using clients = await createClientsWorld();
  await send(clients, clients.ana, "lab-1");
  await clients.report({ instance_id: "lab-2", hostname: "lab-2" });
  await revoke(clients, "lab-1");
  expect(await answers(clients, clients.ana)).toEqual([401, 200]);
});

test("revoking both workstations that share a login ends it completely", async () => {
  await using clients = await createClientsWorld();
  await send(clients, clients.ana, "lab-1");
  await clients.report({ instance_id: "lab-2", hostname: "lab-2" });
  await revoke(clients, "lab-1", "lab-2");
  expect(await answers(clients, clients.ana)).toEqual([401, 401]);
});

/** Walks over all workstations one by one; `between` runs after the first slice. @returns the names and results of the slices */
async function walk({ domain, world }: ClientsWorld, removal: RemovalKind, between: () => Promise<void>) {
  const selection = { filter: {}, text: "" };
  const results: (string | undefined)[][] = [];
  let cursor: string | undefined;
  do {
    const bulk = { removal, selection, rowsMax: 1, cursor };
    const { rows, next } = await domain.clients.bulkRemovals.slice(world.system, bulk);
    results.push(rows.map(({ name, result }) => `${name} ${result}`));
    if (cursor === undefined) await between();
    cursor = next ?? undefined;
  } while (cursor !== undefined);
  return results.flat();
}

test("a workstation that reports between two slices is revoked in a later slice", async () => {
  await using clients = await createClientsWorld();
  const bo = await clients.signedIn("member");
  const eve = await clients.signedIn("member");
  for (const [caller, host] of [
    [clients.ana, "lab-1"],
    [bo, "lab-2"],
    [eve, "lab-3"],
  ] as const) {
    await send(clients, caller, host);
    clients.world.clock.advance(1);
  }
  const results = await walk(clients, "revoke", () => {
    clients.world.clock.advance(1);
    return send(clients, bo, "lab-2");
  });
  expect(results).toEqual(["lab-1 done", "lab-3 done", "lab-2 done"]);
  expect(await answers(clients, bo)).toEqual([401, 401]);
});

test("CON-99 a workstation that reports while its slice is worked off is left to a later slice, also after the last one", async () => {
  await using clients = await createClientsWorld();
  const { domain, world } = clients;
  for (let at = 0; at < 30; at++) {
    await send(clients, clients.ana, `lab-${at}`);
    world.clock.advance(1);
  }
  const bulk = { removal: "remove", selection: { filter: {}, text: "" } } as const;
  let isOver = false;
  const slice = domain.clients.bulkRemovals.slice(world.system, bulk).finally(() => {
    isOver = true;
  });
  for (; !isOver; world.clock.advance(1)) await send(clients, clients.ana, "lab-29");
  const { rows, next } = await slice;
  expect(rows.map(({ name }) => name)).not.toContain("lab-29");
  expect([rows.length, rows.every(({ result }) => result === "done")]).toEqual([29, true]);
  const rest = await domain.clients.bulkRemovals.slice(world.system, { ...bulk, cursor: next ?? "" });
  expect(rest.rows).toMatchObject([{ name: "lab-29", result: "done" }]);
  expect([rest.next, clients.listed()]).toEqual([null, []]);
});

test("a removed workstation that reports again between two slices is not removed again", async () => {
  await using clients = await createClientsWorld();
  for (const host of ["lab-1", "lab-2", "lab-3"]) {
    await send(clients, clients.ana, host);
    clients.world.clock.advance(1);
  }
  const results = await walk(clients, "remove", () => {
    clients.world.clock.advance(1);
    return send(clients, clients.ana, "lab-1");
  });
  expect(results).toEqual(["lab-1 done", "lab-2 done", "lab-3 done"]);
  expect(clients.listed().map(({ hostname }) => hostname)).toEqual(["lab-1"]);
});
