// Settings, checks and backups of the running installation through the API.

import { expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTestServer } from "../../../support/server.ts";

async function createSite() {
  const server = await createTestServer();
  const { accessToken: token } = await server.signedIn("admin");
  const ask = async (method: string, path: string, headers: Record<string, string> = {}) => {
    const response = await server.request(method, path, { token, headers });
    return { status: response.status, body: await response.json() };
  };
  return { ...server, ask };
}

test("settings show value and origin, and secrets only as set or unset", async () => {
  await using site = await createSite();
  const { body } = await site.ask("GET", "/admin/settings");
  const settingOf = (wanted: string) => body.items.find(({ key }: { key: string }) => key === wanted);
  expect(body.file).toBeNull();
  expect(settingOf("data_dir")).toMatchObject({ value: site.world.directory, origin: "flag" });
  expect(settingOf("log.level")).toMatchObject({ origin: "default", needs_restart: false });
  expect(settingOf("server.listen")).toMatchObject({ needs_restart: true });
  expect(settingOf("scim.token")).toMatchObject({ value: "unset", secret: true });
});

test("the diagnosis has the findings of every check with their remedies, and is kept for some seconds", async () => {
  await using site = await createSite();
  const { status, body } = await site.ask("GET", "/admin/doctor");
  expect(status).toBe(200);
  expect(body.checks).toContainEqual(
    expect.objectContaining({ check: "disk", detail: expect.any(String), result: expect.any(String) }),
  );
  site.world.clock.advance(1_000);
  expect((await site.ask("GET", "/admin/doctor")).body.at).toBe(body.at);
});

test("a backup is created, listed and verified, and a damaged one is found", async () => {
  await using site = await createSite();
  expect((await site.ask("GET", "/admin/backups")).body).toMatchObject({ making: false, items: [] });
  const made = await site.ask("POST", "/admin/backups");
  expect([made.status, made.body.kind, made.body.problem]).toEqual([201, "manual", null]);
  const { id, path } = made.body;
  expect((await site.ask("POST", `/admin/backups/${id}/verify`)).body).toMatchObject({ state: "intact" });
  const { items } = (await site.ask("GET", "/admin/backups")).body;
  expect(items).toMatchObject([{ id, verification: { state: "intact", problem: null } }]);
  writeFileSync(path, "no backup");
  expect((await site.ask("POST", `/admin/backups/${id}/verify`)).body).toMatchObject({
    state: "damaged",
    problem: expect.any(String),
  });
  for (const other of [
    "none.qmb",
    encodeURIComponent("../quartermaster.db"),
    encodeURIComponent("/etc/passwd"),
  ])
    expect(await site.ask("POST", `/admin/backups/${other}/verify`)).toMatchObject({
      status: 404,
      body: { reason: "backup.not_found" },
    });
});

test("API-4 repeating a request with the same key creates no second backup, and reports a missing file", async () => {
  await using site = await createSite();
  const make = () => site.ask("POST", "/admin/backups", { "idempotency-key": "b-1" });
  const made = await make();
  expect(await make()).toEqual(made);
  expect((await site.ask("GET", "/admin/backups")).body.items).toHaveLength(1);
  rmSync(made.body.path);
  expect(await make()).toMatchObject({ status: 409, body: { reason: "backup.removed" } });
  expect((await site.ask("POST", "/admin/backups")).status).toBe(201);
});

test("a backup that fails is refused, and the list shows the reason", async () => {
  await using site = await createSite();
  writeFileSync(join(site.world.directory, "backups"), "in the way");
  const { status, body } = await site.ask("POST", "/admin/backups");
  expect([status, body.reason]).toEqual([400, "file.not_a_folder"]);
});
