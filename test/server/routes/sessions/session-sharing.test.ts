// Sharing captured sessions: permissions, recipients, and the end of a user's access.
import { expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { auditEntries } from "../../../../src/domain/audit/tables.ts";
import { users } from "../../../../src/domain/identity/tables.ts";
import { RECIPIENTS_MAX, RECIPIENTS_SHOWN_MAX } from "../../../../src/domain/sessions/limits.ts";
import { PROBLEMS_MAX } from "../../../../src/platform/text/problem-list.ts";
import { capture, createSessionServer } from "../../../support/content/sessions.ts";
import type { Sent, TestServer } from "../../../support/server.ts";

async function site() {
  const server = await createSessionServer();
  const [ada, ben, admin] = [
    await server.signedIn("member"),
    await server.signedIn("member"),
    await server.signedIn("admin"),
  ];
  const { sessionId } = await capture(server, { token: ada.accessToken }, "text");
  const path = `/session-uploads/${sessionId}`;
  return { server, path, sessionId, ada, ben, admin };
}

const put = (server: TestServer, path: string, { accessToken }: { accessToken: string }, body: unknown) =>
  server.request("PUT", `${path}/sharing`, { token: accessToken, body });
const statusOf = async (server: TestServer, path: string, credential: Sent) =>
  (await server.request("GET", path, credential)).status;
const shares = (server: TestServer) =>
  server.world.db.read
    .select()
    .from(auditEntries)
    .where(eq(auditEntries.action, "captured_session.share"))
    .all();

test("SES-26 an owner shares with everybody, then with some people, then with nobody", async () => {
  const { server, path, sessionId, ada, ben, admin } = await site();
  await using _ = server;
  const ids = [ada.user.id, ben.user.id, ben.user.id.toUpperCase(), admin.user.id];
  const named = await put(server, path, ada, { mode: "selected", user_ids: ids });
  expect([named.status, await named.json()]).toEqual([
    200,
    { id: sessionId, mode: "selected", user_ids: [ben.user.id, admin.user.id].sort() },
  ]);
  expect(await statusOf(server, path, { token: ben.accessToken })).toBe(200);
  const workspace = await put(server, path, ada, { mode: "workspace" });
  expect(await workspace.json()).toEqual({ id: sessionId, mode: "workspace", user_ids: [] });
  const everybody = await server.request("GET", `${path}/sharing`, { token: ada.accessToken });
  expect(await everybody.json()).toMatchObject({
    mode: "workspace",
    can_edit: true,
    recipient_count: 2,
    recipients: [{}, {}],
  });
  await put(server, path, ada, { mode: "private", user_ids: [] });
  expect(await statusOf(server, path, { token: ben.accessToken })).toBe(403);
  expect(shares(server)).toHaveLength(3);
});

test("SES-26 sharing does not change the time of the session, and the same sharing again writes nothing", async () => {
  const { server, path, ada, ben } = await site();
  await using _ = server;
  const read = async () =>
    (await (await server.request("GET", path, { token: ada.accessToken })).json()).session;
  const before = await read();
  server.world.clock.advance(60_000);
  const wanted = { mode: "selected", user_ids: [ben.user.id] };
  await put(server, path, ada, wanted);
  expect((await read()).updated_at).toBe(before.updated_at);
  expect((await put(server, path, ada, wanted)).status).toBe(200);
  expect(shares(server)).toHaveLength(1);
  const [entry] = shares(server);
  expect(JSON.stringify(entry)).not.toContain(before.title);
  expect(JSON.stringify(entry)).toContain(ben.user.id);
});

test("SES-26 SES-51 only the owner shares, not an administrator and not a recipient", async () => {
  const { server, path, ada, ben, admin } = await site();
  await using _ = server;
  await put(server, path, ada, { mode: "workspace" });
  for (const caller of [ben, admin]) {
    const response = await put(server, path, caller, { mode: "private" });
    expect([response.status, (await response.json()).reason]).toEqual([403, "sessions.not_own"]);
  }
  const unknown = await put(server, `/session-uploads/${crypto.randomUUID()}`, ada, { mode: "private" });
  expect(unknown.status).toBe(404);
});

test.each([
  ["an unknown mode", { mode: "public" }, ["/mode"]],
  ["users with another mode", { mode: "workspace", user_ids: ["x"] }, ["/user_ids"]],
  ["selected without anybody", { mode: "selected" }, ["/user_ids"]],
  ["text that is no id", { mode: "selected", user_ids: ["x", "y"] }, ["/user_ids/0", "/user_ids/1"]],
  [
    "all faults at once",
    { mode: "selected", user_ids: ["01890000-0000-7000-8000-000000000000", "x"], note: 1, other: 2 },
    ["/note", "/other", "/user_ids/0", "/user_ids/1"],
  ],
])("SES-26 refuses %s", async (_name, body, pointers) => {
  const { server, path, ada } = await site();
  await using _ = server;
  const response = await put(server, path, ada, body);
  const { errors } = await response.json();
  expect([response.status, errors.map(({ pointer }: { pointer: string }) => pointer)]).toEqual([
    400,
    pointers,
  ]);
});

test("SES-26 each problem names its place and the wrong value, and a limited number are listed", async () => {
  const { server, path, ada } = await site();
  await using _ = server;
  const errorsOf = async (body: unknown): Promise<{ pointer: string; detail: string }[]> =>
    (await (await put(server, path, ada, body)).json()).errors;
  const detailsOf = async (body: unknown) => (await errorsOf(body)).map(({ detail }) => detail);
  const nobody = "01890000-0000-7000-8000-000000000000";
  expect(await errorsOf({ mode: "selected", user_ids: ["x", nobody], user_id: "y" })).toEqual([
    { pointer: "/user_id", detail: '"user_id" is not a known member; did you mean user_ids?' },
    { pointer: "/user_ids/0", detail: '"x" is not a UUID' },
    { pointer: "/user_ids/1", detail: `"${nobody}" is not an active user of the organization` },
  ]);
  expect(await detailsOf({ mode: "public" })).toEqual([
    'mode must be one of private, workspace, selected, not "public"',
  ]);
  expect(await detailsOf({ mode: "workspace", user_ids: ["x", "y"] })).toEqual([
    "user_ids is allowed only with the mode selected, and names 2 with workspace",
  ]);
  expect(await detailsOf({ mode: 7, user_ids: [null, {}] })).toEqual([
    "expected string, not number",
    "expected string, not null",
    "expected string, not object",
  ]);
  const many = Array.from({ length: RECIPIENTS_MAX + 1 }, () => crypto.randomUUID());
  expect(await detailsOf({ mode: "selected", user_ids: many })).toEqual([
    `user_ids must name at most ${RECIPIENTS_MAX} users, not ${RECIPIENTS_MAX + 1}`,
  ]);
  const repeated = Array.from({ length: 20_000 }, () => "x");
  expect(await detailsOf({ mode: "selected", user_ids: repeated })).toHaveLength(PROBLEMS_MAX + 1);
});

test("SES-26 refuses the owner alone, and suspended people", async () => {
  const { server, path, ada, ben } = await site();
  await using _ = server;
  const alone = await put(server, path, ada, { mode: "selected", user_ids: [ada.user.id] });
  expect([alone.status, (await alone.json()).errors]).toEqual([
    400,
    [
      {
        pointer: "/user_ids",
        detail: "user_ids must name at least one user besides the owner, who always has access",
      },
    ],
  ]);
  await suspend(server, ben.user.id);
  expect((await put(server, path, ada, { mode: "selected", user_ids: [ben.user.id] })).status).toBe(400);
  expect((await put(server, path, ada, { mode: 7 })).status).toBe(422);
});

test(`SES-26 a session has at most ${RECIPIENTS_MAX} recipients`, async () => {
  const { server, path, ada } = await site();
  await using _ = server;
  const ids = await addUsers(server, RECIPIENTS_MAX + 1, ada.user.id);
  for (const [count, status] of [
    [RECIPIENTS_MAX - 1, 200],
    [RECIPIENTS_MAX, 200],
    [RECIPIENTS_MAX + 1, 400],
  ] as const) {
    const user_ids = [ada.user.id, ...ids.slice(0, count)];
    expect((await put(server, path, ada, { mode: "selected", user_ids })).status).toBe(status);
  }
  const detail = await (await server.request("GET", path, { token: ada.accessToken })).json();
  expect(detail.sharing.user_ids).toHaveLength(RECIPIENTS_MAX);
});

test(`SES-24 lists at most ${RECIPIENTS_SHOWN_MAX} recipients of a session that everybody sees`, async () => {
  const { server, path, ada } = await site();
  await using _ = server;
  await put(server, path, ada, { mode: "workspace" });
  await addUsers(server, RECIPIENTS_SHOWN_MAX - 3, ada.user.id); // in addition to ben and admin
  for (const count of [RECIPIENTS_SHOWN_MAX - 1, RECIPIENTS_SHOWN_MAX, RECIPIENTS_SHOWN_MAX + 1]) {
    const answer = await server.request("GET", `${path}/sharing`, { token: ada.accessToken });
    const { recipient_count: total, recipients } = await answer.json();
    expect([total, recipients.length]).toEqual([count, Math.min(count, RECIPIENTS_SHOWN_MAX)]);
    await addUsers(server, 1, ada.user.id);
  }
});

test("SES-27 SES-51 a share does not outlive its holder's suspension, and counts active people only", async () => {
  const { server, path, ada, ben } = await site();
  await using _ = server;
  await put(server, path, ada, { mode: "selected", user_ids: [ben.user.id] });
  await suspend(server, ben.user.id);
  expect(await statusOf(server, path, { token: ben.accessToken })).toBe(401);
  const sharing = await server.request("GET", `${path}/sharing`, { token: ada.accessToken });
  expect(await sharing.json()).toMatchObject({ recipient_count: 0, recipients: [] });
});

test("SES-27 sessions stay shared after their owner leaves", async () => {
  const { server, path, ada, ben } = await site();
  await using _ = server;
  await put(server, path, ada, { mode: "selected", user_ids: [ben.user.id] });
  await server.domain.identity.users.remove(server.world.system, ada.user.id);
  expect(await statusOf(server, path, { token: ada.accessToken })).toBe(401);
  expect(await statusOf(server, path, { token: ben.accessToken })).toBe(200);
});

const suspend = (server: TestServer, id: string) =>
  server.domain.identity.users.update(server.world.system, id, { status: "suspended" });

async function addUsers(server: TestServer, count: number, like: string): Promise<string[]> {
  const row = server.world.db.read.select().from(users).where(eq(users.id, like)).get();
  if (!row) throw new Error("no such user");
  const added = Array.from({ length: count }, () => ({
    ...row,
    id: crypto.randomUUID(),
    email: `${crypto.randomUUID()}@example.com`,
    emailKey: crypto.randomUUID(),
    subject: crypto.randomUUID(),
  }));
  await server.world.db.write((tx) => {
    for (const user of added) tx.insert(users).values(user).run();
  });
  return added.map(({ id }) => id);
}
