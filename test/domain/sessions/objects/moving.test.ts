// Objects are moved between the stores while the service runs: nothing is lost, nothing stays in both stores, and a stopped run can
// be continued.
import { expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { auditEntries } from "../../../../src/domain/audit/tables.ts";
import { createS3Objects } from "../../../../src/domain/sessions/service.ts";
import { sessionArtifacts } from "../../../../src/domain/sessions/tables.ts";
import { capture, createSessionServer, pathIn } from "../../../support/content/sessions.ts";
import { createS3Server } from "../../../support/object-store/s3-server.ts";
import { bucketAt } from "../../../support/object-store/test-bucket.ts";
import { createWorld } from "../../../support/world.ts";

/** Three versions of two owners in the local store, two with equal bytes, and a bucket. */
async function site() {
  const world = await createWorld();
  const store = createS3Server({ nowMs: () => world.clock.nowMs() });
  const { clock } = world;
  const bucket = bucketAt(store.origin, { clock });
  const server = await createSessionServer({
    world,
    s3Objects: createS3Objects({ bucket, clock, prefix: "" }),
  });
  const ada = { token: (await server.signedIn("member")).accessToken };
  const ben = { token: (await server.signedIn("member")).accessToken };
  await capture(server, ada, "same");
  await capture(server, ben, "same");
  const { sessionId } = await capture(server, ada, "other", { session_id: "other" });
  const { moving, stores } = server.domain.sessions;
  const never = new AbortController().signal;
  return {
    server,
    ada,
    sessionId,
    store,
    local: stores.of("local"),
    move: (to: "local" | "s3", { signal = never, advance = (_bytes: number) => {} } = {}) =>
      moving.run(world.system, { to, signal, advance }),
    placesIn: async (kind: "local" | "s3") =>
      (await Array.fromAsync(stores.of(kind).list())).map(({ place }) => place).sort(),
    expire: () => server.domain.sessions.retention.run(world.system, never),
    rows: () => world.db.read.select().from(sessionArtifacts).all(),
    download: async () => {
      const answer = await server.request("POST", `/session-uploads/${sessionId}/download`, ada);
      return (await answer.json()).download_url;
    },
    migrations: () =>
      world.db.read
        .select()
        .from(auditEntries)
        .all()
        .filter(({ action }) => action === "captured_session.migrate").length,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

test("SES-38 every version moves to the bucket and back, and is downloaded from where it is", async () => {
  await using own = await site();
  const former = await own.download();
  expect(await own.move("s3")).toEqual({ objects: 3, bytes: 13, unmoved: [] });
  const moved = await own.server.request("GET", pathIn(former));
  expect([moved.status, (await moved.json()).reason]).toEqual([404, "sessions.bytes_moved"]);
  expect([(await own.placesIn("local")).length, (await own.placesIn("s3")).length]).toEqual([0, 3]);
  expect(await own.download()).toStartWith(own.store.origin);
  expect(await (await fetch(await own.download())).text()).toBe("other");
  expect(await own.move("s3")).toEqual({ objects: 0, bytes: 0, unmoved: [] });
  expect(own.migrations()).toBe(1);
  expect(await own.move("local")).toEqual({ objects: 3, bytes: 13, unmoved: [] });
  expect([(await own.placesIn("local")).length, (await own.placesIn("s3")).length]).toEqual([2, 0]);
  expect(own.rows().every(({ store }) => store === "local")).toBe(true);
});

test("SES-38 a run that is stopped leaves whole objects, and the next one moves the rest", async () => {
  await using own = await site();
  const stop = new AbortController();
  const moving = own.move("s3", { signal: stop.signal, advance: () => stop.abort() });
  expect(await moving.catch((error: Error) => error.name)).toBe("AbortError");
  expect(own.rows().filter(({ store }) => store === "s3")).toHaveLength(1);
  expect(own.migrations()).toBe(1); // what was moved is recorded
  expect((await own.move("s3")).objects).toBe(2);
  expect([(await own.placesIn("local")).length, (await own.placesIn("s3")).length]).toEqual([0, 3]);
});

test("SES-38 a version with missing or different bytes stays and is named", async () => {
  await using own = await site();
  const { stores } = own.server.domain.sessions;
  const other = own.rows().find(({ sizeBytes }) => sizeBytes === 5);
  await stores.of("local").remove(other?.place ?? "");
  const { objects, unmoved } = await own.move("s3");
  expect([objects, unmoved]).toMatchObject([2, [{ artifact: { id: other?.id }, fault: "missing" }]]);
  expect(own.rows().filter(({ lostAtMs }) => lostAtMs !== null)).toMatchObject([{ id: other?.id }]);
  expect(own.rows().find(({ id }) => id === other?.id)?.store).toBe("local");
});

test("SES-38 a store that answers 200 to everything gets no version", async () => {
  await using own = await site();
  own.store.instead = () => new Response();
  expect(await own.move("s3").catch(({ reason }) => reason)).toBe("sessions.store_unavailable");
  own.store.instead = undefined;
  expect(own.rows().every(({ store }) => store === "local")).toBe(true);
  expect((await own.placesIn("local")).length).toBe(2);
});

const refusing = (method: string) => (request: Request) =>
  request.method === method ? new Response(null, { status: 403 }) : undefined;

test("SES-38 a bucket that refused to delete former objects loses none that moved back since", async () => {
  await using own = await site();
  await own.move("s3");
  own.store.instead = refusing("DELETE");
  expect((await own.move("local")).objects).toBe(3);
  expect((await own.placesIn("s3")).length).toBe(3);
  expect((await own.move("s3")).objects).toBe(3);
  own.store.instead = undefined;
  await own.expire();
  expect((await own.placesIn("s3")).length).toBe(3);
  expect(await (await fetch(await own.download())).text()).toBe("other");
});

test("SES-38 a former object that waits for its deletion still does when its version cannot move back", async () => {
  await using own = await site();
  await own.move("s3");
  own.store.instead = refusing("DELETE");
  await own.move("local");
  own.store.instead = (request) =>
    request.method === "GET" ? undefined : new Response(null, { status: 403 });
  expect(await own.move("s3").catch(({ reason }) => reason)).toBe("sessions.store_unavailable");
  own.store.instead = undefined;
  await own.expire();
  expect([(await own.placesIn("local")).length, (await own.placesIn("s3")).length]).toEqual([2, 0]);
});

test("SES-38 SES-58 equal bytes of another owner that expire during the copy take no file along", async () => {
  await using own = await site();
  await own.move("s3");
  const { local, server } = own;
  await capture(server, { token: (await server.signedIn("member")).accessToken }, "other");
  const [expiring] = own.rows().filter(({ store }) => store === "local");
  const inspect = local.inspect.bind(local);
  local.inspect = async (place, options) => {
    const found = await inspect(place, options);
    if (place === expiring?.place) {
      await server.world.db.write((tx) => {
        tx.update(sessionArtifacts).set({ expiresAtMs: 0 }).where(eq(sessionArtifacts.id, expiring.id)).run();
      });
      await own.expire();
    }
    return found;
  };
  expect(await own.move("local")).toEqual({ objects: 3, bytes: 13, unmoved: [] });
  const places = [...new Set(own.rows().map(({ place }) => place))].sort();
  expect([places.length, await own.placesIn("local"), await own.placesIn("s3")]).toEqual([2, places, []]);
});

test("SES-42 a store that does not delete keeps no file of the other one, and deletes later", async () => {
  await using own = await site();
  await own.move("s3");
  own.store.instead = refusing("DELETE");
  const due = () =>
    own.server.world.db.write((tx) => void tx.update(sessionArtifacts).set({ expiresAtMs: 0 }).run());
  await due();
  expect(await own.expire()).toMatchObject({ artifacts: 3, objects: 0, isDone: false });
  own.server.world.clock.advance(1);
  await capture(own.server, own.ada, "later", { session_id: "later" });
  await due();
  expect(await own.expire()).toMatchObject({ artifacts: 1, objects: 1, isDone: false });
  expect([(await own.placesIn("local")).length, (await own.placesIn("s3")).length]).toEqual([0, 3]);
  own.store.instead = undefined;
  expect(await own.expire()).toMatchObject({ objects: 3, isDone: true });
  expect((await own.placesIn("s3")).length).toBe(0);
});

test("SES-5 SES-57 a bucket that is missing loses no session", async () => {
  await using own = await site();
  await own.move("s3");
  const kept = own.store.buckets.get("sessions");
  own.store.buckets.delete("sessions");
  const offered = await own.server.request("POST", `/session-uploads/${own.sessionId}/download`, own.ada);
  expect([offered.status, (await offered.json()).reason]).toEqual([503, "sessions.store_unavailable"]);
  expect(await own.move("local").catch(({ reason }) => reason)).toBe("sessions.store_unavailable");
  if (kept) own.store.buckets.set("sessions", kept);
  expect(await (await fetch(await own.download())).text()).toBe("other");
  expect(own.rows().some(({ lostAtMs }) => lostAtMs !== null)).toBe(false);
});

test("SES-38 SES-58 two runs at once lose nothing", async () => {
  await using own = await site();
  for (const to of ["s3", "local", "s3"] as const) {
    await Promise.all([own.move(to), own.move(to)]);
    expect(own.rows().every(({ store, lostAtMs }) => store === to && lostAtMs === null)).toBe(true);
    expect([(await own.placesIn("local")).length, (await own.placesIn("s3")).length]).toEqual(
      to === "s3" ? [0, 3] : [2, 0],
    );
  }
});
