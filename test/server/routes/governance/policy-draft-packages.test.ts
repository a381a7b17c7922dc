// Changes of single packages in a draft, as programs send them.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { packageOf } from "../../../domain/governance/governance-world.ts";
import { seedCatalog } from "../../../support/content/catalog.ts";
import { type Caller, createTestServer, type TestServer } from "../../../support/server.ts";

let site: TestServer;
let admin: Caller;

beforeAll(async () => {
  site = await createTestServer();
  await site.domain.governance.deployments.apply(site.world.system, undefined);
  admin = await site.signedIn("admin");
  await seedCatalog(site, [packageOf("guide", { version: "1.3.0" })]);
});
afterAll(() => site[Symbol.asyncDispose]());

async function save(version: number, change: object) {
  const body = { version, package: change };
  const response = await site.request("PUT", "/admin/policy-draft", { token: admin.accessToken, body });
  return { status: response.status, body: await response.json() };
}

test("a package is taken from the catalog, replaced, limited to an audience, turned off and removed", async () => {
  const taken = await save(0, { id: "guide", catalog: true });
  expect(taken.body).toMatchObject({ version: 1, document: { packages: [{ version: "1.3.0" }] } });
  const replaced = await save(1, { id: "guide", entry: packageOf("guide", { version: "1.2.0" }) });
  expect(replaced.body).toMatchObject({
    document: { packages: [{ version: "1.2.0" }] },
    catalog_updates: [{ id: "guide", from: "1.2.0", to: "1.3.0" }],
  });
  const audience = { scope: "users", user_ids: [admin.user.id] };
  expect((await save(2, { id: "guide", audience })).body.package_audiences).toEqual({ guide: audience });
  const off = await save(3, { id: "guide", use: { harness: "codex", enabled: false } });
  expect(off.body.document.harnesses.codex.package_overrides).toEqual({
    guide: { enabled: false, settings: {} },
  });
  const removed = await save(4, { id: "guide", remove: true });
  expect(removed.body).toMatchObject({ version: 5, document: { packages: [] }, package_audiences: {} });
});

test.each([
  [{ id: "guide" }, 400, "policy_draft.one_change"],
  [{ id: "guide", catalog: true, remove: true }, 400, "policy_draft.one_change"],
  [{ id: "guide", remove: true }, 404, "policy_draft.no_package"],
  [{ id: "none", catalog: true }, 404, "catalog.not_found"],
  [{ id: "guide", entry: 7 }, 400, "governance.invalid"],
  [{ id: "guide", use: { harness: "vim", enabled: true } }, 400, "governance.unknown_harness"],
])("%j is refused with %d %s", async (change, status, reason) => {
  expect(await save(5, change)).toMatchObject({ status, body: { reason } });
});
