// The operations on many workstations and many users: refusals, dry runs, slices, audit.
import { afterAll, describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { like } from "drizzle-orm";
import { auditEntries } from "../../../src/domain/audit/tables.ts";
import { clientReports } from "../../../src/domain/clients/tables.ts";
import { BULK_ROWS_MAX, BulkResult } from "../../../src/domain/shared/bulk.ts";
import { createClientsWorld } from "../../domain/clients/clients-world.ts";
import { reportWith } from "../../domain/clients/policies.ts";

const site = await createClientsWorld();
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin", { email: "admin@example.com" });
const bob = await site.signedIn("member", { email: "bob@example.com" });
const { db } = site.world;
const UNKNOWN = "01890000-0000-7000-8000-000000000000";

const post = async (path: string, body: object) => {
  const response = await site.request("POST", path, { token: admin.accessToken, body });
  return { status: response.status, body: await response.json() };
};
/** A workstation with its own login. */
const workstation = async (host: string, caller?: typeof bob) => {
  const { accessToken: token } = caller ?? (await site.signInAgain(bob.user));
  await site.request("POST", "/client-status", {
    token,
    body: reportWith({ instance_id: host, hostname: host }),
  });
  return site.domain.clients.inventory.find(site.organizationId, host).id;
};
/** Copies of a workstation, each seen earlier than the one before. */
const copies = (count: number) =>
  db.write((tx) => {
    const row = tx.select().from(clientReports).get();
    for (let at = 0; row && at < count; at++) {
      const seen = {
        lastSeenAtMs: row.lastSeenAtMs - 1 - at,
        hostname: `copy-${at}`,
        instanceId: `copy-${at}`,
      };
      tx.insert(clientReports)
        .values({ ...row, ...seen, id: site.world.ids.uuid() })
        .run();
    }
  }, "client_rows");
const hosts = (): string[] =>
  db.read
    .select()
    .from(clientReports)
    .all()
    .map(({ hostname }) => hostname ?? "")
    .sort();
const actions = () =>
  db.read
    .select()
    .from(auditEntries)
    .all()
    .map(({ action }) => action);

describe("CON-43 many workstations", () => {
  test.each(["remove", "revoke"])("%s reports what would happen, and then does it", async (act) => {
    const [one, two] = [await workstation("lab-1"), await workstation("lab-2")];
    const before = actions().length;
    const ids = [one, two, UNKNOWN];
    const told = await post(`/admin/client-status/${act}`, { ids, dry_run: true });
    expect([told.status, told.body.dry_run, told.body.matching, hosts()]).toEqual([
      200,
      true,
      3,
      ["lab-1", "lab-2"],
    ]);
    expect(actions()).toHaveLength(before);
    const done = await post(`/admin/client-status/${act}`, { ids });
    expect(Value.Check(BulkResult, done.body)).toBe(true);
    expect(done.body).toEqual({ ...told.body, dry_run: false });
    expect(
      done.body.items.map(({ name, result }: { name: string; result: string }) => `${name} ${result}`),
    ).toEqual(["lab-1 done", "lab-2 done", act === "remove" ? "null unchanged" : "null refused"]);
    expect([hosts(), actions().slice(before)]).toEqual([
      [],
      [`clients.${act}`, `client.${act}`, `client.${act}`],
    ]);
  });

  test("continues after a slice, skips workstations that report in the meantime, and ends", async () => {
    await workstation("lab-1");
    await copies(BULK_ROWS_MAX + 1);
    const wanted = { filter: { q: "copy-" }, expected: BULK_ROWS_MAX + 1 };
    const first = await post("/admin/client-status/remove", wanted);
    expect([first.body.items.length, first.body.matching, typeof first.body.next_cursor]).toEqual([
      BULK_ROWS_MAX,
      BULK_ROWS_MAX + 1,
      "string",
    ]);
    site.world.clock.advance(1_000);
    await workstation("copy-late");
    const cursor = first.body.next_cursor;
    const second = await post("/admin/client-status/remove", { filter: wanted.filter, cursor });
    expect([second.body.items.length, second.body.matching, second.body.next_cursor]).toEqual([
      1,
      null,
      null,
    ]);
    expect(hosts()).toEqual(["copy-late", "lab-1"]);
  });

  test("refused workstations do not block the others", async () => {
    await db.write((tx) => tx.delete(clientReports).run(), "client_rows");
    await workstation("page");
    await db.write((tx) => tx.update(clientReports).set({ grantId: null }).run(), "client_rows");
    await copies(BULK_ROWS_MAX);
    await workstation("free", await site.signedIn("member"));
    const first = await post("/admin/client-status/revoke", { filter: {}, expected: BULK_ROWS_MAX + 2 });
    const cursor = first.body.next_cursor;
    const second = await post("/admin/client-status/revoke", { filter: {}, cursor });
    expect(first.body.items.at(0).result).toBe("refused");
    expect(second.body.items.map(({ name }: { name: string }) => name)).toContain("free");
    expect(hosts()).not.toContain("free");
  });

  test("is refused if more match than expected", async () => {
    await workstation("lab-1");
    const count = hosts().length;
    const { status, body } = await post("/admin/client-status/remove", { filter: {}, expected: count - 1 });
    expect([status, body.code ?? body.reason ?? body.type]).toEqual([
      409,
      expect.stringContaining("bulk.more_matching"),
    ]);
    expect(hosts()).toHaveLength(count);
  });

  test.each([
    [{}, [""]],
    [{ ids: [UNKNOWN], filter: {}, expected: 1 }, [""]],
    [{ filter: {} }, ["/expected"]],
    [{ ids: [UNKNOWN], cursor: "x" }, ["/cursor"]],
    [{ filter: {}, cursor: "x" }, ["/cursor"]],
    [{ filter: {}, cursor: "1.x" }, ["/cursor"]],
    [
      { filter: { health: "fine", last_seen_from: "2026-02-30", q: "\0" }, expected: 1 },
      ["/filter/health", "/filter/q", "/filter/last_seen_from"],
    ],
  ])("%j is refused with the places", async (body, pointers) => {
    const response = await post("/admin/client-status/remove", body);
    expect(response.status).toBe(400);
    const places = response.body.errors?.map(({ pointer }: { pointer: string }) => pointer);
    expect(places.toSorted()).toEqual(pointers.toSorted());
  });

  test.each([
    { ids: [] },
    { ids: Array.from({ length: BULK_ROWS_MAX + 1 }, () => UNKNOWN) },
    { ids: ["x"] },
    { filter: { not_seen_for_days: 0 }, expected: 1 },
    { filter: {}, expected: -1 },
    { ids: [UNKNOWN], dry_run: "yes" },
  ])("a body that does not fit the schema is refused (%#)", async (body) => {
    expect((await post("/admin/client-status/revoke", body)).status).toBe(422);
  });

  test("accepts as many ids as a slice has", async () => {
    const ids = Array.from({ length: BULK_ROWS_MAX }, () => crypto.randomUUID());
    expect((await post("/admin/client-status/remove", { ids })).body.items).toHaveLength(BULK_ROWS_MAX);
  });
});

describe("CON-70 many users", () => {
  test("reports what would happen, and then does it", async () => {
    const ids = [admin.user.id, bob.user.id, UNKNOWN];
    const told = await post("/admin/users/change", { action: "suspend", ids, dry_run: true });
    expect(site.domain.identity.users.show(site.organizationId, bob.user.id).status).toBe("active");
    const done = await post("/admin/users/change", { action: "suspend", ids });
    expect(done.body).toEqual({ ...told.body, dry_run: false });
    expect(done.body.items).toEqual([
      {
        id: admin.user.id,
        name: "admin@example.com",
        result: "refused",
        reason: "this is your own account; ask another administrator",
      },
      { id: bob.user.id, name: "bob@example.com", result: "done", reason: null },
      { id: UNKNOWN, name: null, result: "refused", reason: "there is no such user" },
    ]);
    expect(site.domain.identity.users.show(site.organizationId, bob.user.id).status).toBe("suspended");
  });

  test("CON-17 accepts the filters by group and workstation, and names the problem of each", async () => {
    const filter = { workstations: "none", not_seen_for_days: 1, role: "admin" };
    const { body } = await post("/admin/users/change", { action: "suspend", filter, dry_run: true });
    expect([body.matching, body.items.length]).toEqual([1, 1]);
    const wrong = await post("/admin/users/change", {
      action: "suspend",
      filter: { group: "nobody", role: "member" },
      expected: 1,
    });
    expect([wrong.status, wrong.body.errors.map(({ pointer }: { pointer: string }) => pointer)]).toEqual([
      400,
      ["/filter/group"],
    ]);
    const listed = await site.request(
      "GET",
      "/admin/users?group=nobody&workstations=many&not_seen_for_days=0&role=x&page=x",
      { token: admin.accessToken },
    );
    const { errors } = await listed.json();
    expect(errors).toContainEqual({ pointer: "/workstations", detail: "workstations must be none" });
    expect([listed.status, errors.map(({ pointer }: { pointer: string }) => pointer).toSorted()]).toEqual([
      400,
      ["/group", "/not_seen_for_days", "/page", "/role", "/workstations"],
    ]);
  });

  test("takes the filters of the list, records them, and ends after the last user", async () => {
    const filter = { q: "bob@", role: "member", status: "suspended", provisioning_source: "local" };
    const { body } = await post("/admin/users/change", { action: "resume", filter, expected: 1 });
    expect([body.items.length, body.next_cursor]).toEqual([1, null]);
    const [whole] = db.read.select().from(auditEntries).where(like(auditEntries.after, "%bob%40%")).all();
    expect(JSON.parse(whole?.after ?? "")).toEqual({
      status: "active",
      users: 1,
      filter: new URLSearchParams(filter).toString(),
    });
    const more = await post("/admin/users/change", { action: "resume", filter: {}, expected: 1 });
    expect(more.status).toBe(409);
  });

  test.each([
    [{ action: "explode", ids: [UNKNOWN] }],
    [{ action: "resume", filter: { role: "root" }, expected: 1 }],
    [{ action: "resume", filter: {}, cursor: UNKNOWN }],
    [{ action: "resume", filter: {}, cursor: "x" }],
  ])("%j is refused", async (body) => {
    expect((await post("/admin/users/change", body)).status).toBe(400);
  });
});
