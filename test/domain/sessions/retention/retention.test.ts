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
  const face = await createSessionServer({ sessions });
  const { accessToken: token } = await face.signedIn("member");
  const credential = { token };
  const download = async (id: string) =>
    (
      await face.request("POST", `/session-uploads/${id}/download`, {
        token: (await face.signedIn("admin")).accessToken,
      })
    ).status;
  return { face, credential, download };
}

test("SES-40 SES-42 a session ends with its deadline: bytes go, 410 for a time, then 404", async () => {
  const { face, credential, download } = await site();
  await using _ = face;
  const { sessionId } = await capture(face, credential, "text");
  face.world.clock.advance(30 * DAY_MS - 1);
  expect(await turn(face)).toMatchObject({ artifacts: 0, objects: 0 });
  expect(await download(sessionId)).toBe(200);
  face.world.clock.advance(1);
  expect(await download(sessionId)).toBe(410); // at the deadline, before any run
  expect(await turn(face)).toEqual({ artifacts: 1, sessions: 0, objects: 1, bytes: 4, isDone: true });
  expect([await places(face), statuses(face), await download(sessionId)]).toEqual([[], [], 410]);
  face.world.clock.advance(TOMBSTONE_KEPT_MS - 1);
  expect((await turn(face)).sessions).toBe(0);
  face.world.clock.advance(1);
  expect((await turn(face)).sessions).toBe(1);
  expect(await download(sessionId)).toBe(404);
  expect(entries(face, "captured_session.expire")).toHaveLength(2);
});

test("SES-5 SES-42 an expired session returns with a new upload, and is shared as before", async () => {
  const { face } = await site();
  await using _ = face;
  const owner = await face.signedIn("member", { email: "ada@example.com" });
  const other = await face.signedIn("member", { email: "ben@example.com" });
  const { sessionId } = await capture(face, { token: owner.accessToken }, "text");
  const body = { mode: "selected", user_ids: [other.user.id] };
  await face.request("PUT", `/session-uploads/${sessionId}/sharing`, { token: owner.accessToken, body });
  await face.world.db.write((tx) => {
    tx.update(sessionArtifacts).set({ expiresAtMs: face.world.clock.nowMs() }).run();
  });
  expect((await turn(face)).artifacts).toBe(1);
  expect((await capture(face, { token: owner.accessToken }, "text")).sessionId).toBe(sessionId);
  const { status } = await face.request("GET", `/session-uploads/${sessionId}`, { token: other.accessToken });
  expect(status).toBe(200);
});

test.each([
  ["pending", UPLOAD_WINDOW_MS + PENDING_KEPT_MS],
  ["failed", FAILED_KEPT_MS],
  ["superseded", 7 * DAY_MS],
])("SES-40 SES-42 a %s version goes after its own time, not before", async (status, keptMs) => {
  const { face, credential } = await site();
  await using _ = face;
  if (status === "superseded") {
    await capture(face, credential, "old");
    await capture(face, credential, "new");
  } else {
    const presigned = await (await presign(face, credential, announcementOf("text"))).json();
    if (status === "failed") await upload(face, presigned, "oops");
  }
  expect(statuses(face)).toContain(status as never);
  face.world.clock.advance(keptMs - 1);
  expect((await turn(face)).artifacts).toBe(0);
  face.world.clock.advance(1);
  expect((await turn(face)).artifacts).toBe(1);
  expect(statuses(face)).toEqual(status === "superseded" ? ["complete"] : []);
});

test("SES-32 SES-42 equal bytes of two owners go with the last version that names them", async () => {
  const { face, credential } = await site();
  await using _ = face;
  await capture(face, credential, "same");
  face.world.clock.advance(DAY_MS);
  const other = await face.signedIn("member");
  await capture(face, { token: other.accessToken }, "same");
  face.world.clock.advance(29 * DAY_MS);
  expect(await turn(face)).toMatchObject({ artifacts: 1, objects: 0 });
  expect(await places(face)).toHaveLength(1);
  face.world.clock.advance(DAY_MS);
  expect(await turn(face)).toMatchObject({ artifacts: 1, objects: 1 });
  expect(await places(face)).toEqual([]);
});

test("SES-44 a hold keeps a session from retention and deletion until it ends", async () => {
  const { face, credential, download } = await site();
  await using _ = face;
  const { sessionId } = await capture(face, credential, "text");
  const { retention } = face.domain.sessions;
  expect(await retention.hold(face.world.system, sessionId, true)).toBe(true);
  expect(await retention.hold(face.world.system, sessionId, true)).toBe(false);
  face.world.clock.advance(100 * DAY_MS);
  expect((await turn(face)).artifacts).toBe(0);
  expect(await download(sessionId)).toBe(200);
  const owner = await face.signedIn("admin");
  const refused = await face.request("DELETE", `/session-uploads/${sessionId}`, { token: owner.accessToken });
  expect([refused.status, (await refused.json()).reason]).toEqual([409, "sessions.on_hold"]);
  expect(await retention.hold(face.world.system, sessionId, false)).toBe(true);
  expect((await turn(face)).artifacts).toBe(1);
  expect([
    entries(face, "captured_session.hold").length,
    entries(face, "captured_session.release").length,
  ]).toEqual([...[1, 1]]);
});

test("SES-40 applying the settings moves the deadlines of what is stored", async () => {
  const { face, credential } = await site();
  await using _ = face;
  await capture(face, credential, "old");
  await capture(face, credential, "new");
  await face.world.db.write((tx) => {
    tx.update(sessionArtifacts).set({ expiresAtMs: 1 }).run();
  });
  const signal = new AbortController().signal;
  expect(await face.domain.sessions.retention.apply(face.world.system, signal)).toBe(2);
  expect(await face.domain.sessions.retention.apply(face.world.system, signal)).toBe(0);
  expect((await turn(face)).artifacts).toBe(0);
});

test("SES-40 applying unchanged settings changes no deadline, also of a version that was superseded near its end", async () => {
  const { face, credential } = await site({ retentionDays: 1, supersededDays: 1 });
  await using _ = face;
  const { retention } = face.domain.sessions;
  await capture(face, credential, "old");
  face.world.clock.advance(60_000);
  await capture(face, credential, "new");
  expect(retention.changes(face.world.organizationId)).toEqual({ changed: 0, due: 0 });
  expect(await retention.apply(face.world.system, new AbortController().signal)).toBe(0);
});

test(`SES-42 a turn removes at most ${RETENTION_OBJECTS_MAX} versions`, async () => {
  const { face, credential } = await site();
  await using _ = face;
  await capture(face, credential, "text");
  const row = face.world.db.read.select().from(sessionArtifacts).get();
  if (!row) throw new Error("no version");
  const add = (count: number) =>
    face.world.db.write((tx) => {
      const insert = tx
        .insert(sessionArtifacts)
        .values({ ...row, id: sql.placeholder("id"), status: "superseded" })
        .prepare();
      for (let left = count; left > 0; left -= 1) insert.run({ id: crypto.randomUUID() });
    });
  await add(RETENTION_OBJECTS_MAX - 2);
  face.world.clock.advance(30 * DAY_MS);
  expect(await turn(face)).toMatchObject({ artifacts: RETENTION_OBJECTS_MAX - 1, objects: 1, isDone: true });
  await capture(face, await tokenOf(face), "text");
  await add(RETENTION_OBJECTS_MAX);
  face.world.clock.advance(30 * DAY_MS);
  expect(await turn(face)).toMatchObject({ artifacts: RETENTION_OBJECTS_MAX, isDone: false });
  expect(await turn(face)).toMatchObject({ artifacts: 1 });
});

const tokenOf = async (face: TestServer) => ({ token: (await face.signedIn("member")).accessToken });

test("SES-37 erasing a person removes sessions, shares and bytes, also held ones", async () => {
  const { face, credential } = await site();
  await using _ = face;
  const { sessionId } = await capture(face, credential, "text");
  await face.domain.sessions.retention.hold(face.world.system, sessionId, true);
  const row = face.world.db.read.select().from(sessionArtifacts).get();
  const wanted = face.domain.erasure.find(face.world.system, row?.userId ?? "");
  const erased = await face.domain.erasure.erase(face.world.system, wanted);
  expect(erased.rows).toMatchObject({ captured_sessions: 1, session_shares: 0 });
  expect(await turn(face)).toMatchObject({ objects: 1 });
  expect([await places(face), statuses(face)]).toEqual([[], []]);
});

test("verification finds objects that are missing or differ", async () => {
  const { face, credential } = await site();
  await using _ = face;
  await capture(face, credential, "first");
  const second = await capture(face, credential, "second", { session_id: "other" });
  const verify = () =>
    face.domain.sessions.verification.run(face.world.system, {
      signal: new AbortController().signal,
      advance: () => {},
    });
  expect(await verify()).toMatchObject({ artifacts: 2, bytes: 11, damaged: [] });
  const row = face.world.db.read
    .select()
    .from(sessionArtifacts)
    .where(eq(sessionArtifacts.id, second.uploadId))
    .get();
  await face.domain.sessions.stores.active.remove(row?.place ?? "");
  expect((await verify()).damaged).toMatchObject([{ artifact: { id: second.uploadId }, fault: "missing" }]);
});

test("SES-57 what verification finds damaged is served to nobody, and the next announcement asks for it", async () => {
  const { face, credential } = await site();
  await using _ = face;
  const { sessionId } = await capture(face, credential, "first");
  const ask = () => face.request("POST", `/session-uploads/${sessionId}/download`, credential);
  const { download_url: former } = await (await ask()).json();
  const statusAt = async (url: string) => (await face.request("GET", pathIn(url))).status;
  writeFileSync(objectPathOf({ data: face.world.directory }, "first"), "FIRST");
  const announce = async () =>
    (await (await presign(face, credential, announcementOf("first"))).json()).status;
  expect([await statusAt(former), await announce()]).toEqual([200, "complete"]); // nobody has read the bytes yet
  const reading = { signal: new AbortController().signal, advance: () => {} };
  expect(await face.domain.sessions.verification.run(face.world.system, reading)).toMatchObject({ lost: 1 });
  const refused = await ask();
  expect([await statusAt(former), refused.status, (await refused.json()).reason]).toEqual([
    410,
    410,
    "sessions.bytes_lost",
  ]);
  expect(await announce()).toBe("pending");
  await capture(face, credential, "first");
  const { download_url: url } = await (await ask()).json();
  expect(await (await face.request("GET", pathIn(url))).text()).toBe("first");
});
