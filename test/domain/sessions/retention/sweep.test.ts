// Objects without a row: a sweep removes them, except recent ones, ones with a row, and those in a bucket that was not claimed.
import { expect, test } from "bun:test";
import { SWEEP_OBJECTS_MAX } from "../../../../src/domain/sessions/limits.ts";
import { createS3Objects } from "../../../../src/domain/sessions/service.ts";
import { sessionArtifacts } from "../../../../src/domain/sessions/tables.ts";
import { DAY_MS } from "../../../../src/platform/clock.ts";
import { sha256Hex } from "../../../../src/platform/ids.ts";
import { capture, createSessionServer } from "../../../support/content/sessions.ts";
import { createS3Server } from "../../../support/object-store/s3-server.ts";
import { bucketAt } from "../../../support/object-store/test-bucket.ts";
import type { TestServer } from "../../../support/server.ts";
import { createWorld } from "../../../support/world.ts";

const { signal } = new AbortController();
const sweep = ({ domain, world }: TestServer) => domain.sessions.sweep.run(world.system, signal);
const look = ({ domain }: TestServer) => domain.sessions.sweep.preview(signal);
const places = async ({ domain }: TestServer) =>
  (await Array.fromAsync(domain.sessions.stores.active.list())).map(({ place }) => place);

async function* bytesOf(text: string) {
  yield Buffer.from(text);
}

/** Stores an object without a row. */
async function leave(
  { domain }: TestServer,
  text: string,
  place = sha256Hex(text),
  store = domain.sessions.stores.active,
): Promise<string> {
  const expected = { sha256: sha256Hex(text), sizeBytes: Buffer.byteLength(text), contentType: "text/plain" };
  await store.put(place, bytesOf(text), expected);
  return place;
}

test("SES-43 a sweep of the local store removes old objects without a row, and nothing else", async () => {
  await using server = await createSessionServer();
  const { accessToken: token } = await server.signedIn("member");
  await capture(server, { token }, "named");
  await leave(server, "nobody's");
  server.world.clock.set(Date.now());
  expect(await sweep(server)).toEqual({ found: 0, bytes: 0, removed: 0, isOurs: true });
  server.world.clock.advance(DAY_MS + 60_000);
  expect(await look(server)).toEqual({ found: 1, bytes: 8, isOurs: true });
  expect(await places(server)).toHaveLength(2);
  expect(await sweep(server)).toEqual({ found: 1, bytes: 8, removed: 1, isOurs: true });
  expect(await places(server)).toEqual([sha256Hex("named")]);
});

const keyOf = (number: number) => {
  const uuid = (digit: string) => `${digit.repeat(8)}-0000-7000-8000-${String(number).padStart(12, "0")}`;
  return `captured/${uuid("1")}/${uuid("2")}/${uuid("3")}.tgz`;
};

async function bucketSite(active: "local" | "s3" = "s3") {
  const world = await createWorld();
  const store = createS3Server({ nowMs: () => world.clock.nowMs() });
  const { clock } = world;
  const bucket = bucketAt(store.origin, { clock });
  const s3Objects = createS3Objects({ bucket, clock, prefix: "captured/" });
  const server = await createSessionServer({ world, s3Objects, sessions: { store: active } });
  return {
    server,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

test("SES-43 nothing is removed from a bucket until it is claimed", async () => {
  await using own = await bucketSite();
  const { server } = own;
  const key = await leave(server, "nobody's", keyOf(0));
  server.world.clock.advance(2 * DAY_MS);
  expect(await sweep(server)).toEqual({ found: 1, bytes: 8, removed: 0, isOurs: false });
  expect(await places(server)).toEqual([key]);
  expect(await look(server)).toEqual({ found: 1, bytes: 8, isOurs: false });
  await server.domain.sessions.sweep.claim();
  expect(await sweep(server)).toEqual({ found: 1, bytes: 8, removed: 1, isOurs: true });
  expect(await places(server)).toEqual([]);
});

test.each(["local", "s3"] as const)(
  "SES-38 SES-43 a sweep looks into both stores if new uploads go to %s",
  async (active) => {
    await using own = await bucketSite(active);
    const { server } = own;
    const { stores, sweep: sweeping } = server.domain.sessions;
    await leave(server, "left local", undefined, stores.of("local"));
    await leave(server, "left in the bucket", keyOf(1), stores.of("s3"));
    server.world.clock.set(Date.now() + 2 * DAY_MS);
    expect(await sweep(server)).toMatchObject({ found: 2, removed: 1, isOurs: false });
    await sweeping.claim();
    expect(await sweep(server)).toMatchObject({ found: 1, removed: 1, isOurs: true });
    for (const { list } of stores.all) expect(await Array.fromAsync(list())).toEqual([]);
  },
);

test("SES-38 SES-43 an object that the next move writes again stays until its version is removed", async () => {
  await using own = await bucketSite("local");
  const { server } = own;
  const { stores, sweep: sweeping } = server.domain.sessions;
  const session = { token: (await server.signedIn("member")).accessToken };
  const { sessionId } = await capture(server, session, "moving");
  const artifact = server.world.db.read.select().from(sessionArtifacts).get();
  await leave(server, "moving", artifact && stores.of("s3").placeOf(artifact), stores.of("s3"));
  await sweeping.claim();
  server.world.clock.set(Date.now() + 2 * DAY_MS);
  expect(await sweep(server)).toMatchObject({ found: 0, removed: 0 });
  const signedIn = { token: (await server.signedIn("admin")).accessToken };
  expect((await server.request("DELETE", `/session-uploads/${sessionId}`, signedIn)).status).toBe(204);
  expect(await sweep(server)).toMatchObject({ found: 1, removed: 1 });
});

test("SES-43 a sweep leaves exported request logs, which lie in the same bucket", async () => {
  await using own = await bucketSite();
  const { server } = own;
  const key = "captured/request-logs/requests-2026-01-01.jsonl";
  await leave(server, "rows", key);
  await server.domain.sessions.sweep.claim();
  server.world.clock.advance(2 * DAY_MS);
  expect(await sweep(server)).toEqual({ found: 0, bytes: 0, removed: 0, isOurs: true });
  const { active } = server.domain.sessions.stores;
  expect(await active.inspect(key)).toMatchObject({ sizeBytes: 4 });
});

test(`SES-43 a sweep removes at most ${SWEEP_OBJECTS_MAX} objects`, async () => {
  await using server = await createSessionServer();
  server.world.clock.set(Date.now() + 2 * DAY_MS);
  for (const number of Array(SWEEP_OBJECTS_MAX - 1).keys()) await leave(server, `object ${number}`);
  expect((await look(server)).found).toBe(SWEEP_OBJECTS_MAX - 1);
  await leave(server, "one more");
  expect((await look(server)).found).toBe(SWEEP_OBJECTS_MAX);
  await leave(server, "one too many");
  expect(await sweep(server)).toMatchObject({ found: SWEEP_OBJECTS_MAX, removed: SWEEP_OBJECTS_MAX });
  expect(await sweep(server)).toMatchObject({ found: 1, removed: 1 });
});
