// Retention of captured sessions: what is removed when, what a hold prevents, and what readers see afterwards.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { eq, sql } from "drizzle-orm";
import { auditEntries } from "../../../../src/domain/audit/tables.ts";
import {
  FAILED_KEPT_MS,
  PENDING_KEPT_MS,
  RETENTION_OBJECTS_MAX,
  TOMBSTONE_KEPT_MS,
  UPLOAD_WINDOW_MS,
} from "../../../../src/domain/sessions/limits.ts";
import { sessionArtifacts } from "../../../../src/domain/sessions/tables.ts";
import { DAY_MS } from "../../../../src/platform/clock.ts";
import {
  announcementOf,
  capture,
  createSessionServer,
  pathIn,
  presign,
  upload,
} from "../../../support/content/sessions.ts";
import { objectPathOf } from "../../../support/installed/installed-sessions.ts";
import type { TestServer } from "../../../support/server.ts";

const turn = ({ domain, world }: TestServer) =>
  domain.sessions.retention.run(world.system, new AbortController().signal);
const places = async ({ domain }: TestServer) =>
  (await Array.fromAsync(domain.sessions.stores.active.list())).map(({ place }) => place);
const statuses = ({ world }: TestServer) =>
  world.db.read
    .select()
    .from(sessionArtifacts)
    .all()
    .map(({ status }) => status);
const entries = ({ world }: TestServer, action: string) =>
  world.db.read.select().from(auditEntries).where(eq(auditEntries.action, action)).all();

async function site(sessions = {}) {
  const server = await createSessionServer({ sessions });
  const { accessToken: token } = await server.signedIn("member");
  const credential = { token };
  const download = async (id: string) =>
    (
      await server.request("POST", `/session-uploads/${id}/download`, {
        token: (await server.signedIn("admin")).accessToken,
      })
    ).status;
  return { server, credential, download };
}

test("SES-40 SES-42 a session ends at its deadline: its bytes are removed, and downloads return 410 for a time, then 404", async () => {
  const { server, credential, download } = await site();
  await using _ = server;
  const { sessionId } = await capture(server, credential, "text");
  server.world.clock.advance(30 * DAY_MS - 1);
  expect(await turn(server)).toMatchObject({ artifacts: 0, objects: 0 });
  expect(await download(sessionId)).toBe(200);
  server.world.clock.advance(1);
  expect(await download(sessionId)).toBe(410); // at the deadline, before any run
  expect(await turn(server)).toEqual({ artifacts: 1, sessions: 0, objects: 1, bytes: 4, isDone: true });
  expect([await places(server), statuses(server), await download(sessionId)]).toEqual([[], [], 410]);
  server.world.clock.advance(TOMBSTONE_KEPT_MS - 1);
  expect((await turn(server)).sessions).toBe(0);
  server.world.clock.advance(1);
  expect((await turn(server)).sessions).toBe(1);
  expect(await download(sessionId)).toBe(404);
  expect(entries(server, "captured_session.expire")).toHaveLength(2);
});

test("SES-5 SES-42 an expired session returns with a new upload, and is shared as before", async () => {
  const { server } = await site();
  await using _ = server;
  const owner = await server.signedIn("member", { email: "ada@example.com" });
  const other = await server.signedIn("member", { email: "ben@example.com" });
  const { sessionId } = await capture(server, { token: owner.accessToken }, "text");
  const body = { mode: "selected", user_ids: [other.user.id] };
  await server.request("PUT", `/session-uploads/${sessionId}/sharing`, { token: owner.accessToken, body });
  await server.world.db.write((tx) => {
    tx.update(sessionArtifacts).set({ expiresAtMs: server.world.clock.nowMs() }).run();
  });
  expect((await turn(server)).artifacts).toBe(1);
  expect((await capture(server, { token: owner.accessToken }, "text")).sessionId).toBe(sessionId);
  const { status } = await server.request("GET", `/session-uploads/${sessionId}`, {
    token: other.accessToken,
  });
  expect(status).toBe(200);
});

test.each([
  ["pending", UPLOAD_WINDOW_MS + PENDING_KEPT_MS],
  ["failed", FAILED_KEPT_MS],
  ["superseded", 7 * DAY_MS],
])("SES-40 SES-42 a %s version is removed after its own time, not before", async (status, keptMs) => {
  const { server, credential } = await site();
  await using _ = server;
  if (status === "superseded") {
    await capture(server, credential, "old");
    await capture(server, credential, "new");
  } else {
    const presigned = await (await presign(server, credential, announcementOf("text"))).json();
    if (status === "failed") await upload(server, presigned, "oops");
  }
  expect(statuses(server)).toContain(status as never);
  server.world.clock.advance(keptMs - 1);
  expect((await turn(server)).artifacts).toBe(0);
  server.world.clock.advance(1);
  expect((await turn(server)).artifacts).toBe(1);
  expect(statuses(server)).toEqual(status === "superseded" ? ["complete"] : []);
});

test("SES-32 SES-42 equal bytes of two owners are removed with the last version that names them", async () => {
  const { server, credential } = await site();
  await using _ = server;
  await capture(server, credential, "same");
  server.world.clock.advance(DAY_MS);
  const other = await server.signedIn("member");
  await capture(server, { token: other.accessToken }, "same");
  server.world.clock.advance(29 * DAY_MS);
  expect(await turn(server)).toMatchObject({ artifacts: 1, objects: 0 });
  expect(await places(server)).toHaveLength(1);
  server.world.clock.advance(DAY_MS);
  expect(await turn(server)).toMatchObject({ artifacts: 1, objects: 1 });
  expect(await places(server)).toEqual([]);
});

test("SES-44 a hold keeps a session from retention and deletion until it ends", async () => {
  const { server, credential, download } = await site();
  await using _ = server;
  const { sessionId } = await capture(server, credential, "text");
  const { retention } = server.domain.sessions;
  expect(await retention.hold(server.world.system, sessionId, true)).toBe(true);
  expect(await retention.hold(server.world.system, sessionId, true)).toBe(false);
  server.world.clock.advance(100 * DAY_MS);
  expect((await turn(server)).artifacts).toBe(0);
  expect(await download(sessionId)).toBe(200);
  const owner = await server.signedIn("admin");
  const refused = await server.request("DELETE", `/session-uploads/${sessionId}`, {
    token: owner.accessToken,
  });
  expect([refused.status, (await refused.json()).reason]).toEqual([409, "sessions.on_hold"]);
  expect(await retention.hold(server.world.system, sessionId, false)).toBe(true);
  expect((await turn(server)).artifacts).toBe(1);
  expect([
    entries(server, "captured_session.hold").length,
    entries(server, "captured_session.release").length,
  ]).toEqual([...[1, 1]]);
});

test("SES-40 applying the settings moves the deadlines of stored sessions", async () => {
  const { server, credential } = await site();
  await using _ = server;
  await capture(server, credential, "old");
  await capture(server, credential, "new");
  await server.world.db.write((tx) => {
    tx.update(sessionArtifacts).set({ expiresAtMs: 1 }).run();
  });
  const signal = new AbortController().signal;
  expect(await server.domain.sessions.retention.apply(server.world.system, signal)).toBe(2);
  expect(await server.domain.sessions.retention.apply(server.world.system, signal)).toBe(0);
  expect((await turn(server)).artifacts).toBe(0);
});

test("SES-40 applying unchanged settings changes no deadline, also of a version that was superseded near its end", async () => {
  const { server, credential } = await site({ retentionDays: 1, supersededDays: 1 });
  await using _ = server;
  const { retention } = server.domain.sessions;
  await capture(server, credential, "old");
  server.world.clock.advance(60_000);
  await capture(server, credential, "new");
  expect(retention.changes(server.world.organizationId)).toEqual({ changed: 0, due: 0 });
  expect(await retention.apply(server.world.system, new AbortController().signal)).toBe(0);
});

test(`SES-42 a turn removes at most ${RETENTION_OBJECTS_MAX} versions`, async () => {
  const { server, credential } = await site();
  await using _ = server;
  await capture(server, credential, "text");
  const row = server.world.db.read.select().from(sessionArtifacts).get();
  if (!row) throw new Error("no version");
  const add = (count: number) =>
    server.world.db.write((tx) => {
      const insert = tx
        .insert(sessionArtifacts)
        .values({ ...row, id: sql.placeholder("id"), status: "superseded" })
        .prepare();
      for (let left = count; left > 0; left -= 1) insert.run({ id: crypto.randomUUID() });
    });
  await add(RETENTION_OBJECTS_MAX - 2);
  server.world.clock.advance(30 * DAY_MS);
  expect(await turn(server)).toMatchObject({
    artifacts: RETENTION_OBJECTS_MAX - 1,
    objects: 1,
    isDone: true,
  });
  await capture(server, await tokenOf(server), "text");
  await add(RETENTION_OBJECTS_MAX);
  server.world.clock.advance(30 * DAY_MS);
  expect(await turn(server)).toMatchObject({ artifacts: RETENTION_OBJECTS_MAX, isDone: false });
  expect(await turn(server)).toMatchObject({ artifacts: 1 });
});

const tokenOf = async (server: TestServer) => ({ token: (await server.signedIn("member")).accessToken });

test("SES-37 erasing a person removes sessions, shares and bytes, also held ones", async () => {
  const { server, credential } = await site();
  await using _ = server;
  const { sessionId } = await capture(server, credential, "text");
  await server.domain.sessions.retention.hold(server.world.system, sessionId, true);
  const row = server.world.db.read.select().from(sessionArtifacts).get();
  const wanted = server.domain.erasure.find(server.world.system, row?.userId ?? "");
  const erased = await server.domain.erasure.erase(server.world.system, wanted);
  expect(erased.rows).toMatchObject({ captured_sessions: 1, session_shares: 0 });
  expect(await turn(server)).toMatchObject({ objects: 1 });
  expect([await places(server), statuses(server)]).toEqual([[], []]);
});

test("verification finds objects that are missing or differ", async () => {
  const { server, credential } = await site();
  await using _ = server;
  await capture(server, credential, "first");
  const second = await capture(server, credential, "second", { session_id: "other" });
  const verify = () =>
    server.domain.sessions.verification.run(server.world.system, {
      signal: new AbortController().signal,
      advance: () => {},
    });
  expect(await verify()).toMatchObject({ artifacts: 2, bytes: 11, damaged: [] });
  const row = server.world.db.read
    .select()
    .from(sessionArtifacts)
    .where(eq(sessionArtifacts.id, second.uploadId))
    .get();
  await server.domain.sessions.stores.active.remove(row?.place ?? "");
  expect((await verify()).damaged).toMatchObject([{ artifact: { id: second.uploadId }, fault: "missing" }]);
});

test("SES-57 a file that verification finds damaged is never served, and the next announcement requests it", async () => {
  const { server, credential } = await site();
  await using _ = server;
  const { sessionId } = await capture(server, credential, "first");
  const ask = () => server.request("POST", `/session-uploads/${sessionId}/download`, credential);
  const { download_url: former } = await (await ask()).json();
  const statusAt = async (url: string) => (await server.request("GET", pathIn(url))).status;
  writeFileSync(objectPathOf({ data: server.world.directory }, "first"), "FIRST");
  const announce = async () =>
    (await (await presign(server, credential, announcementOf("first"))).json()).status;
  expect([await statusAt(former), await announce()]).toEqual([200, "complete"]); // the bytes are still unread
  const reading = { signal: new AbortController().signal, advance: () => {} };
  expect(await server.domain.sessions.verification.run(server.world.system, reading)).toMatchObject({
    lost: 1,
  });
  const refused = await ask();
  expect([await statusAt(former), refused.status, (await refused.json()).reason]).toEqual([
    410,
    410,
    "sessions.bytes_lost",
  ]);
  expect(await announce()).toBe("pending");
  await capture(server, credential, "first");
  const { download_url: url } = await (await ask()).json();
  expect(await (await server.request("GET", pathIn(url))).text()).toBe("first");
});
