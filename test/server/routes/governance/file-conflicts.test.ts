// The operations on places where the policy differs from the configuration file.
import { expect, test } from "bun:test";
import { publishConflict } from "../../../support/content/policy.ts";
import { createTestServer } from "../../../support/server.ts";

test("CON-45 conflicts with the configuration file are listed, kept, and accepted into the draft", async () => {
  await using server = await createTestServer();
  await publishConflict(server);
  const { accessToken: token } = await server.signedIn("admin");
  const ask = async (method: string, path: string, body?: object) => {
    const response = await server.request(method, `/admin${path}`, { token, ...(body && { body }) });
    return { status: response.status, body: await response.json() };
  };
  const listed = "/governance-config/deployment-conflicts";
  const keep = (version: string, paths = ["/ttl_seconds"]) =>
    ask("POST", `${listed}/keep`, { version, paths });
  const take = (version: number) => ask("PUT", "/policy-draft", { version, deployment: ["/ttl_seconds"] });
  const { body: found } = await ask("GET", listed);
  expect(found.conflicts).toEqual([{ path: "/ttl_seconds", policy: 70, file: 80 }]);
  expect(await take(0)).toMatchObject({
    status: 200,
    body: { changes: [{ path: "/ttl_seconds", before: 70, after: 80 }] },
  });
  expect((await keep(found.version, [])).status).toBe(422);
  const kept = await keep(found.version);
  expect(kept).toMatchObject({ status: 200, body: { conflicts: [] } });
  expect(await keep(found.version)).toMatchObject({
    status: 409,
    body: { reason: "policy_conflict.changed" },
  });
  expect(await keep(kept.body.version)).toMatchObject({
    status: 404,
    body: { reason: "policy_conflict.none" },
  });
  expect((await take(1)).status).toBe(404);
});
