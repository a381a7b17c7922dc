// Captured sessions whose bytes are in an object store: workstations upload and download them there, and completion checks what the
// store has.
import { expect, test } from "bun:test";
import { createS3Objects } from "../../../../src/domain/sessions/service.ts";
import { sessionArtifacts } from "../../../../src/domain/sessions/tables.ts";
import { DAY_MS } from "../../../../src/platform/clock.ts";
import {
  announcementOf,
  createSessionServer,
  type PresignedOnWire,
  presign,
} from "../../../support/content/sessions.ts";
import { createS3Server, type S3ServerOptions } from "../../../support/object-store/s3-server.ts";
import { bucketAt } from "../../../support/object-store/test-bucket.ts";
import { createWorld } from "../../../support/world.ts";

const BYTES = "the bytes of a session";

/** A workstation at a service with a store, and a session that is announced there. */
async function site(options: S3ServerOptions = {}) {
  const store = createS3Server({ nowMs: () => world.clock.nowMs(), ...options });
  const world = await createWorld();
  const { clock } = world;
  const bucket = bucketAt(store.origin, { clock, responseTimeoutMs: 300 });
  const server = await createSessionServer({
    world,
    s3Objects: createS3Objects({ bucket, clock, prefix: "captured/" }),
    sessions: { store: "s3" },
  });
  const { accessToken: token } = await server.signedIn("member");
  const presigned: PresignedOnWire = await (await presign(server, { token }, announcementOf(BYTES))).json();
  const objects = store.buckets.get("sessions") ?? new Map();
  return {
    server,
    store,
    world,
    token,
    presigned,
    objects,
    send: async (body = BYTES) =>
      (await fetch(presigned.upload_url, { method: "PUT", headers: presigned.headers, body })).status,
    async complete() {
      const response = await server.request("POST", presigned.complete_url, { token });
      const { status, reason } = await response.json();
      return [response.status, status === "complete" ? status : reason];
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

const COMPLETE = [200, "complete"];

test("SES-16 SES-62 a capture goes to the store, is completed by one HEAD, and is fetched from the store", async () => {
  await using own = await site();
  expect(own.presigned.upload_url).toStartWith(`${own.store.origin}/sessions/captured/`);
  expect(Object.keys(own.presigned.headers).sort()).toEqual(["content-type", "x-amz-checksum-sha256"]);
  expect(await own.send()).toBe(200);
  own.store.seen.length = 0;
  expect(await own.complete()).toEqual(COMPLETE);
  expect(own.store.seen.map((line) => line.split(" ")[0])).toEqual(["HEAD"]);
  const listed = await (await own.server.request("GET", "/session-uploads", { token: own.token })).json();
  const id = JSON.stringify(listed).match(/"id":"([^"]+)"/)?.[1];
  const offer = await own.server.request("POST", `/session-uploads/${id}/download`, { token: own.token });
  const { download_url: url } = await offer.json();
  expect(url).toStartWith(own.store.origin);
  const answer = await fetch(url);
  expect(await answer.text()).toBe(BYTES);
  expect(answer.headers.get("content-disposition")).toMatch(
    /^attachment; filename="codex-[0-9a-f-]{8}\.tgz"$/,
  );
});

test("SES-62 a store that reports no digest is read once", async () => {
  await using own = await site({ digests: "ignored" });
  await own.send();
  own.store.seen.length = 0;
  expect(await own.complete()).toEqual(COMPLETE);
  expect(own.store.seen.map((line) => line.split(" ")[0])).toEqual(["HEAD", "GET"]);
});

test("other bytes in a store that ignores digests do not become current, and are removed", async () => {
  await using own = await site({ digests: "ignored" });
  expect(await own.send(BYTES.replace("the", "The"))).toBe(200);
  expect(await own.complete()).toEqual([400, "sessions.content_differs"]);
  expect(own.objects.size).toBe(0);
});

test("a capture that was not sent stays pending, and a retry completes", async () => {
  await using own = await site();
  expect(await own.complete()).toEqual([400, "sessions.not_uploaded"]);
  await own.send();
  expect(await own.complete()).toEqual(COMPLETE);
});

test("a store that is down, silent or refuses causes 503 without details until it is back", async () => {
  await using own = await site();
  await own.send();
  for (const instead of [
    () => new Response("<Error><Message>down at 10.0.0.1</Message></Error>", { status: 500 }),
    () => new Response("<Error><Code>AccessDenied</Code></Error>", { status: 403 }),
    () => new Promise<Response>(() => {}),
  ]) {
    own.store.instead = instead;
    const response = await own.server.request("POST", own.presigned.complete_url, { token: own.token });
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "30"]);
    expect(await response.text()).not.toMatch(/10\.0\.0\.1|127\.0\.0\.1|AccessDenied|captured\/|X-Amz/);
  }
  own.store.instead = undefined;
  expect(await own.complete()).toEqual(COMPLETE);
});

test("a store that answers every request with success completes nothing", async () => {
  await using own = await site();
  await own.send();
  own.store.instead = () => new Response(null, { headers: { "content-length": "0" } });
  expect(await own.complete()).toEqual([503, "sessions.store_unavailable"]);
  own.store.instead = () => new Response(null, { headers: { "content-length": "0", etag: '"1"' } });
  expect(await own.complete()).toEqual([400, "sessions.content_differs"]);
});

test("SES-57 a store that answers every request with success loses no session", async () => {
  await using own = await site();
  await own.send();
  expect(await own.complete()).toEqual(COMPLETE);
  const [row] = own.world.db.read.select().from(sessionArtifacts).all();
  const path = `/session-uploads/${row?.sessionId}/download`;
  const offered = async () => (await own.server.request("POST", path, { token: own.token })).status;
  own.store.instead = () => new Response();
  expect(await offered()).toBe(503);
  const again = await presign(own.server, { token: own.token }, announcementOf(BYTES));
  expect(again.status).toBe(503);
  const progress = { signal: new AbortController().signal, advance: () => {} };
  const verified = own.server.domain.sessions.verification.run(own.world.system, progress);
  expect(await verified.catch(({ reason }) => reason)).toBe("sessions.store_unavailable");
  own.store.instead = undefined;
  expect(await offered()).toBe(200);
});

test("yesterday's upload address is refused", async () => {
  await using own = await site();
  own.world.clock.advance(DAY_MS);
  expect(await own.send()).toBe(403);
});
