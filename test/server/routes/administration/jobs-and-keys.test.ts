// Scheduled jobs and the keys of the service through the API.
import { expect, test } from "bun:test";
import { addJob } from "../../../../src/platform/scheduler/store.ts";
import { createTestServer } from "../../../support/server.ts";

async function createSite() {
  const server = await createTestServer();
  const { accessToken: token } = await server.signedIn("admin");
  await server.world.db.write((tx) => addJob(tx, "sweep", server.world.clock.nowMs() + 60_000));
  const ask = async (method: string, path: string) => {
    const response = await server.request(method, path, { token });
    return { status: response.status, body: await response.json() };
  };
  return { ...server, ask };
}

test("a job is listed, paused, resumed and made due", async () => {
  await using site = await createSite();
  const { items } = (await site.ask("GET", "/admin/jobs")).body;
  expect(items).toMatchObject([{ name: "sweep", state: "waiting", paused: false, outcome: null }]);
  const act = async (action: string) => {
    const { status, body } = await site.ask("POST", `/admin/jobs/sweep/${action}`);
    return [status, body.changed ?? body.reason, body.job?.state];
  };
  expect(await act("pause")).toEqual([200, true, "paused"]);
  expect(await act("pause")).toEqual([200, false, "paused"]);
  expect(await act("run")).toEqual([409, "job.paused", undefined]);
  expect(await act("resume")).toEqual([200, true, "waiting"]);
  expect(await act("run")).toEqual([200, true, "due"]);
  expect(await site.ask("POST", "/admin/jobs/none/run")).toMatchObject({
    status: 404,
    body: { reason: "job.not_found" },
  });
});

test("the keys of the service are listed without their bytes, and each kind is rotated", async () => {
  await using site = await createSite();
  const before = await site.ask("GET", "/admin/keys");
  expect(before.body).toMatchObject({
    signing_keys: [{ signs: "access_tokens", state: "active" }],
    sealing_keys: [{ state: "active", source: "file", secrets: expect.any(Object) }],
  });
  site.world.clock.advance(1_000); // newest first
  const signing = await site.ask("POST", "/admin/keys/access_tokens/rotate");
  const sealing = await site.ask("POST", "/admin/keys/sealing/rotate");
  const after = await site.ask("GET", "/admin/keys");
  expect(after.body.signing_keys.map(({ state }: { state: string }) => state)).toEqual(["active", "retired"]);
  expect(after.body.signing_keys[0].kid).toBe(signing.body.kid);
  expect(after.body.sealing_keys.at(-1)).toMatchObject({ id: sealing.body.id, state: "active" });
  expect(JSON.stringify([before, signing, sealing, after])).not.toMatch(/private|"d":/i);
  const off = await site.ask("POST", "/admin/keys/inference_tokens/rotate");
  expect([off.status, off.body.reason]).toEqual([409, "gateway.off"]);
  expect((await site.ask("POST", "/admin/keys/other/rotate")).status).toBe(400);
});
