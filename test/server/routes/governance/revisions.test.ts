// The operations on revisions: read, compare, follow the rollout, explain to a user, and roll back.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { DOCUMENT_BYTES_MAX } from "../../../../src/domain/governance/model.ts";
import { managedText } from "../../../domain/governance/governance-world.ts";
import { type Caller, createTestServer, type TestServer } from "../../../support/server.ts";

let server: TestServer;
let admin: Caller;

beforeAll(async () => {
  server = await createTestServer();
  await server.domain.governance.deployments.apply(server.world.system, undefined);
  admin = await server.signedIn("admin", { email: "admin@example.org" });
});
afterAll(() => server[Symbol.asyncDispose]());

async function ask(path: string, body?: object) {
  const sent = { token: admin.accessToken, ...(body && { body }) };
  const response = await server.request(body ? "POST" : "GET", `/admin/governance-config${path}`, sent);
  return { status: response.status, body: await response.json() };
}
const current = () => server.domain.governance.revisions.inForce(server.world.organizationId);
const publish = (more: object) =>
  server.domain.governance.publishing.publishPolicy(admin.actor, {
    baseRevision: current().id,
    managedYaml: managedText(more),
  });

test("CON-61 any revision is read by id or number, and compared with any other", async () => {
  expect(await ask("/diff")).toMatchObject({ status: 404, body: { reason: "governance.no_former" } });
  const first = current().id;
  const { id } = await publish({ ttl_seconds: 60 });
  expect(await ask("/revisions/1")).toMatchObject({ status: 200, body: { revision: first } });
  expect(await ask(`/revisions/${id}`)).toMatchObject({ body: { document: { ttl_seconds: 60 } } });
  for (const path of ["/revisions/7", "/revisions/x", "/revisions/x/rollout", "/diff?to=x", "/diff?from=9"])
    expect(await ask(path)).toMatchObject({ status: 404, body: { reason: "governance.not_found" } });
  const changes = [{ path: "/ttl_seconds", after: 60 }];
  expect((await ask("/diff")).body).toEqual({ from: first, to: id, changes });
  expect((await ask(`/diff?from=${id}&to=1`)).body.changes).toEqual([{ path: "/ttl_seconds", before: 60 }]);
});

test("CON-61 all revisions are read page by page, by the id or the number of the last one", async () => {
  const [newest, oldest] = (await ask("/revisions?limit=2")).body;
  expect(newest).toMatchObject({ revision: current().id });
  expect((await ask(`/revisions?limit=1&cursor=${newest.revision}`)).body).toEqual([oldest]);
  expect((await ask("/revisions?cursor=1")).body).toEqual([]);
  expect(await ask("/revisions?cursor=x&limit=0")).toMatchObject({
    status: 400,
    body: { reason: "governance.bad_page", errors: [{}, {}] },
  });
});

test("CON-62 a rollback publishes a former revision on the stated base", async () => {
  const base_revision = current().id;
  expect(await ask("/rollback", { revision: "1", base_revision: "x" })).toMatchObject({ status: 409 });
  expect(await ask("/rollback", { revision: "9", base_revision })).toMatchObject({ status: 404 });
  const { body } = await ask("/rollback", { revision: "1", base_revision, comment: "too short" });
  expect(body.document.ttl_seconds).toBeUndefined();
  expect(current()).toMatchObject({ id: body.revision, comment: "too short" });
});

test("CON-63 the rollout of a revision is counted", async () => {
  expect((await ask("/revisions/1/rollout")).body).toMatchObject({
    number: 1,
    in_force: false,
    not_seen_since: 0,
    samples: [],
    refusals: [],
    workstations: { current: 0, outdated: 0, attention: 0 },
  });
});

test("CON-60 a revision is explained to any user, with the lines of its values", async () => {
  const { sequence } = await publish({ harnesses: { codex: { managed_config: { model: "gpt-5" } } } });
  await publish({});
  const question = `user_id=admin@example.org&harness=codex&revision=${sequence}`;
  const { body } = await ask(`/explain?${question}`);
  expect(body).toMatchObject({ user: { email: "admin@example.org" }, number: sequence, allowed: true });
  const [{ pointer, line }] = body.values;
  expect(pointer).toBe("/harnesses/codex/managed_config/model");
  const { body: shown } = await ask(`/revisions/${sequence}`);
  expect(shown.yaml.split("\n")[line - 1]).toContain("model: gpt-5");
  expect(await ask("/explain?user_id=nobody@x.org&harness=codex")).toMatchObject({ status: 404 });
  expect(await ask("/explain?user_id=admin@example.org&harness=vim")).toMatchObject({ status: 400 });
});

test("CON-60 an explanation names the parameters that are missing", async () => {
  expect(await ask("/explain")).toMatchObject({
    status: 400,
    body: { reason: "request.invalid", errors: [{ pointer: "/user_id" }, { pointer: "/harness" }] },
  });
  const detail = "the query is incomplete: user_id is required";
  expect(await ask("/explain?harness=codex&user_id=")).toMatchObject({ status: 400, body: { detail } });
  const own = await server.request("GET", "/me/policy/explain", { token: admin.accessToken });
  expect([own.status, (await own.json()).detail]).toEqual([
    400,
    "the query is incomplete: harness is required",
  ]);
});

test("CON-60 a policy of the largest size is explained without the lines being read again", async () => {
  const packages = Array.from({ length: 1_000 }, (_, at) => ({
    id: `p-${at}`,
    version: "1.0.0",
    source_ref: "https://x.example/p.tar.gz",
    sha256: "ab".repeat(32),
    settings: { text: "x".repeat(500) },
    adapters: {},
  }));
  const baseRevision = current().id;
  await server.domain.governance.publishing.publishExtensions(admin.actor, { baseRevision, packages });
  expect(JSON.stringify(current().document).length).toBeLessThan(DOCUMENT_BYTES_MAX);
  const question = "/explain?user_id=admin@example.org&harness=codex";
  const first = (await ask(question)).body;
  expect(first.packages).toHaveLength(1_000);
  expect(first.packages.every(({ line }: { line: number | null }) => line !== null)).toBe(true);
  expect((await ask(question)).body).toEqual(first);
});
