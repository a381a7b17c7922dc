// Lists of captured sessions, one session with its versions, and the facets, for each kind of caller.
import { expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { users } from "../../../../src/domain/identity/tables.ts";
import { LIST_LIMIT_MAX, MEMBERS_MAX, VERSIONS_SHOWN_MAX } from "../../../../src/domain/sessions/limits.ts";
import { announcementOf, capture, createSessionServer, presign } from "../../../support/content/sessions.ts";
import type { Sent, TestServer } from "../../../support/server.ts";

const get = (server: TestServer, path: string, credential: Sent) => server.request("GET", path, credential);
const read = async (server: TestServer, path: string, credential: Sent) => {
  const response = await get(server, path, credential);
  return { status: response.status, ...(await response.json()) };
};
const idsOf = ({ items }: { items: { id: string }[] }) => items.map(({ id }) => id);

async function people(server: TestServer) {
  const [ada, ben, admin] = [
    await server.signedIn("member", { email: "ada@example.com" }),
    await server.signedIn("member", { email: "ben@example.com" }),
    await server.signedIn("admin", { email: "root@example.com" }),
  ];
  const asCaller = ({ accessToken, user }: typeof ada) => ({ token: accessToken, id: user.id });
  return { ada: asCaller(ada), ben: asCaller(ben), admin: asCaller(admin) };
}

/** Captures of one owner, a minute apart. @returns their ids, newest first */
async function captures(
  server: TestServer,
  { token }: { token: string },
  names: readonly string[],
  more = {},
) {
  const ids: string[] = [];
  for (const name of names) {
    server.world.clock.advance(60_000);
    const { sessionId } = await capture(server, { token }, name, { session_id: name, ...more });
    ids.unshift(sessionId);
  }
  return ids;
}

const share = (server: TestServer, { token }: { token: string }, id: string, body: object) =>
  server.request("PUT", `/session-uploads/${id}/sharing`, { token, body });

test("SES-21 SES-7 a session is listed once it is complete, with what was announced", async () => {
  await using server = await createSessionServer();
  const { ada } = await people(server);
  await presign(server, { token: ada.token }, announcementOf("unfinished", { session_id: "unfinished" }));
  const [id] = await captures(server, ada, ["native"]);
  const page = await read(server, "/session-uploads?page=1", ada);
  expect(page).toMatchObject({ page: 1, per_page: 25, total: 1, total_pages: 1 });
  const { updated_at: updatedAt } = page.items[0];
  expect(page.items).toEqual([
    {
      id,
      user_id: ada.id,
      user_email: "ada@example.com",
      harness: "codex",
      native_session_id: "native",
      compatibility_profile: page.items[0].compatibility_profile,
      cwd: "/home/ada/project",
      artifact_format: "blue-session-bundle-v1",
      resumable: true,
      title: "A title",
      summary: null,
      source_captured_at: "2026-01-01T00:00:00.000Z",
      repository: { root: null, remote: null },
      sharing_mode: "private",
      share_recipient_count: 0,
      updated_at: updatedAt,
      status: "complete",
      size_bytes: 6,
      content_type: "application/vnd.blue.session-bundle+tar+gzip",
      retention_expires_at: new Date(Date.parse(updatedAt) + 30 * 86_400_000).toISOString(),
    },
  ]);
});

test("SES-21 consecutive pages by cursor, newest first", async () => {
  await using server = await createSessionServer();
  const { ada } = await people(server);
  const ids = await captures(server, ada, ["a", "b", "c"]);
  const first = await read(server, "/session-uploads?limit=2", ada);
  expect([idsOf(first), first.next_cursor]).toEqual([ids.slice(0, 2), ids[1]]);
  const last = await read(server, `/session-uploads?limit=2&cursor=${first.next_cursor}`, ada);
  expect([idsOf(last), last.next_cursor]).toEqual([[ids[2]], null]);
  const whole = await read(server, "/session-uploads?limit=3", ada);
  expect([idsOf(whole), whole.next_cursor]).toEqual([ids, null]);
});

test("SES-21 a cursor of a session that the caller may not see gives an empty page", async () => {
  await using server = await createSessionServer();
  const { ada, ben } = await people(server);
  const [hidden] = await captures(server, ada, ["a"]);
  await captures(server, ben, ["b"]);
  for (const cursor of [hidden, crypto.randomUUID()])
    expect(await read(server, `/session-uploads?cursor=${cursor}`, ben)).toEqual({
      status: 200,
      items: [],
      next_cursor: null,
    });
});

test("SES-21 portable sessions are own and shared ones, even for administrators", async () => {
  await using server = await createSessionServer();
  const { ada, admin } = await people(server);
  const [shared = ""] = await captures(server, ada, ["hidden", "shared"]);
  const [raw = ""] = await captures(server, ada, ["raw"], {
    artifact_format: "legacy-raw",
    resumable: false,
  });
  const [own] = await captures(server, admin, ["own"]);
  await share(server, ada, shared, { mode: "workspace" });
  await share(server, ada, raw, { mode: "workspace" });
  const page = await read(server, "/session-uploads?resumable=true&page=7&user_id=zz", admin);
  expect(page.status).toBe(400); // a malformed value is refused in every mode
  const { items } = await read(server, "/session-uploads?resumable=true&page=7&sort=updated_asc", admin);
  expect(items.map((item: { id: string; shared: boolean }) => [item.id, item.shared])).toEqual([
    [own, false],
    [shared, true],
  ]);
});

test.each([
  ["per_page=0", "/per_page"],
  [`per_page=${LIST_LIMIT_MAX + 1}`, "/per_page"],
  ["limit=0", "/limit"],
  [`limit=${LIST_LIMIT_MAX + 1}`, "/limit"],
  ["limit=x", "/limit"],
  ["status=lost", "/status"],
  ["status=lost&resumable=true", "/status"],
  ["resumable=maybe", "/resumable"],
  ["cursor=7", "/cursor"],
  ["page=1&cursor=01890000-0000-7000-8000-000000000000", "/cursor"],
  ["q=x&limit=5", "/limit"],
  ["updated_from=2026-02-30", "/updated_from"],
  ["sort=title", "/sort"],
  ["user_id=ada", "/user_id"],
  [`q=${"x".repeat(201)}`, "/q"],
])("SES-21 refuses %s", async (query, pointer) => {
  await using server = await createSessionServer();
  const { ada } = await people(server);
  const problem = await read(server, `/session-uploads?${query}`, ada);
  expect([problem.status, problem.errors]).toEqual([400, [expect.objectContaining({ pointer })]]);
});

test("SES-21 reports all problems of a query together, and accepts pages up to the limit", async () => {
  await using server = await createSessionServer();
  const { ada } = await people(server);
  const { errors } = await read(server, "/session-uploads?limit=0&status=x&sort=y&user_id=z", ada);
  expect(errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
    ...["/status", "/sort", "/limit", "/user_id"],
    "/limit",
  ]);
  for (const limit of [1, LIST_LIMIT_MAX - 1, LIST_LIMIT_MAX])
    for (const name of ["limit", "per_page"])
      expect((await get(server, `/session-uploads?${name}=${limit}`, ada)).status).toBe(200);
});

test("SES-22 filters by text, harness and day, in both orders", async () => {
  await using server = await createSessionServer();
  const { ada } = await people(server);
  const [percent] = await captures(server, ada, ["one"], { title: "100% ÉLAN", summary: "second line" });
  const [other] = await captures(server, ada, ["two"], {
    harness: "kimi",
    compatibility_profile: "legacy",
    resumable: false,
    artifact_format: "legacy-raw",
    cwd: "/srv/Two",
  });
  const find = async (query: string) => idsOf(await read(server, `/session-uploads?${query}`, ada));
  expect(await find(`q=${encodeURIComponent("100% élan")}`)).toEqual([percent ?? ""]);
  expect(await find("q=LINE")).toEqual([percent ?? ""]);
  expect(await find(`q=${encodeURIComponent("%")}`)).toEqual([percent ?? ""]);
  expect(await find("q=_")).toEqual([]);
  expect(await find("q=srv/two")).toEqual([other ?? ""]);
  expect(await find("harness=kimi")).toEqual([other ?? ""]);
  expect(await find("harness=kim")).toEqual([]);
  expect(await find("sort=updated_asc")).toEqual([percent ?? "", other ?? ""]);
  const today = new Date(server.world.clock.nowMs()).toISOString().slice(0, 10);
  expect(await find(`updated_from=${today}&updated_to=${today}`)).toHaveLength(2);
  const tomorrow = new Date(server.world.clock.nowMs() + 86_400_000).toISOString().slice(0, 10);
  expect(await find(`updated_from=${tomorrow}`)).toEqual([]);
});

test("SES-22 SES-51 a member sees own and shared sessions, an administrator all, or those of an owner", async () => {
  await using server = await createSessionServer();
  const { ada, ben, admin } = await people(server);
  const [selected, workspace, hidden] = await captures(server, ada, ["hidden", "workspace", "selected"]);
  const [own] = await captures(server, ben, ["own"]);
  await share(server, ada, workspace ?? "", { mode: "workspace" });
  await share(server, ada, selected ?? "", { mode: "selected", user_ids: [ben.id] });
  const all = [own, selected, workspace, hidden];
  const seen = async (query: string, caller: Sent) => {
    const page = await read(server, `/session-uploads?${query}`, caller);
    return [idsOf(page), page.total];
  };
  expect(await seen("page=1", ben)).toEqual([all.slice(0, 3), 3]);
  expect(await seen(`page=1&user_id=${ben.id}`, ben)).toEqual([all.slice(0, 3), 3]); // ignored
  expect(await seen("page=2&per_page=2", ben)).toEqual([[workspace], 3]);
  expect(await seen("page=1&harness=codex", ben)).toEqual([all.slice(0, 3), 3]);
  expect(await seen("page=1", admin)).toEqual([all, 4]);
  expect(await seen(`page=1&user_id=${ben.id}`, admin)).toEqual([[own], 1]);
  expect(await seen("page=1&sort=updated_asc", ben)).toEqual([all.slice(0, 3).toReversed(), 3]);
});

test("SES-23 the owner and administrators find sessions by a version that is not current", async () => {
  await using server = await createSessionServer();
  const { ada, ben, admin } = await people(server);
  const [done] = await captures(server, ada, ["done"]);
  await share(server, ada, done ?? "", { mode: "workspace" });
  await capture(server, ada, "newer", { session_id: "done" });
  await presign(server, ada, announcementOf("unfinished", { session_id: "unfinished" }));
  const find = async (status: string, caller: Sent) =>
    (await read(server, `/session-uploads?page=1&status=${status}`, caller)).items.map(
      (item: Record<string, unknown>) => [item.native_session_id, item.status],
    );
  for (const caller of [ada, admin]) {
    expect(await find("pending", caller)).toEqual([["unfinished", null]]);
    expect(await find("superseded", caller)).toEqual([["done", "complete"]]);
    expect(await find("failed", caller)).toEqual([]);
    expect(await find("complete", caller)).toEqual([["done", "complete"]]);
  }
  expect(await find("superseded", ben)).toEqual([]);
});

test("SES-24 SES-25 the detail shows versions, newest first, and recipients only to owner and administrator", async () => {
  await using server = await createSessionServer();
  const { ada, ben, admin } = await people(server);
  const eve = await server.signedIn("member", { email: "eve@example.com" });
  const [id = ""] = await captures(server, ada, ["done"]);
  await capture(server, ada, "newer", { session_id: "done" });
  await presign(server, ada, announcementOf("unfinished", { session_id: "done" }));
  const path = `/session-uploads/${id}`;
  expect((await get(server, path, ben)).status).toBe(403);
  expect((await get(server, `/session-uploads/${crypto.randomUUID()}`, ben)).status).toBe(404);
  await share(server, ada, id, { mode: "selected", user_ids: [ben.id, eve.user.id] });
  const recipients = [ben.id, eve.user.id].sort();
  for (const [caller, statuses, userIds] of [
    [ada, ["pending", "complete", "superseded"], recipients],
    [admin, ["pending", "complete", "superseded"], recipients],
    [ben, ["complete", "superseded"], [ben.id]],
  ] as const) {
    const detail = await read(server, path, caller);
    expect(detail.artifacts.map(({ status }: { status: string }) => status)).toEqual(statuses);
    expect(detail.sharing).toEqual({ user_ids: userIds, recipient_count: 2 });
    expect(detail.session.share_recipient_count).toBe(2);
    const shown = await read(server, `${path}/sharing`, caller);
    expect([shown.recipient_count, shown.recipients.length, shown.can_edit]).toEqual([
      ...[2, userIds.length],
      caller === ada,
    ]);
  }
});

test(`SES-24 the detail shows at most ${VERSIONS_SHOWN_MAX} versions`, async () => {
  await using server = await createSessionServer();
  const { ada } = await people(server);
  const [id = ""] = await captures(server, ada, ["native"]);
  const announce = (number: number) =>
    presign(server, ada, announcementOf(`version ${number}`, { session_id: "native" }));
  for (const number of Array(VERSIONS_SHOWN_MAX - 2).keys()) await announce(number);
  for (const count of [VERSIONS_SHOWN_MAX - 1, VERSIONS_SHOWN_MAX, VERSIONS_SHOWN_MAX + 1]) {
    const { artifacts } = await read(server, `/session-uploads/${id}`, ada);
    expect(artifacts).toHaveLength(Math.min(count, VERSIONS_SHOWN_MAX));
    await announce(count);
  }
});

test("SES-29 facets cover the sessions that the caller sees, and the selected user comes first", async () => {
  await using server = await createSessionServer();
  const { ada, ben, admin } = await people(server);
  const [shared = ""] = await captures(server, ada, ["a"]);
  await captures(server, ben, ["b"], {
    harness: "kimi",
    compatibility_profile: "legacy",
    resumable: false,
    artifact_format: "legacy-raw",
  });
  const facets = async (caller: Sent, query = "") => {
    const { users: owners, harnesses } = await read(server, `/session-uploads/facets${query}`, caller);
    return [owners.map(({ email }: { email: string }) => email), harnesses];
  };
  expect(await facets(ada)).toEqual([["ada@example.com"], ["codex"]]);
  expect(await facets(ben)).toEqual([["ben@example.com"], ["kimi"]]);
  await share(server, ada, shared, { mode: "selected", user_ids: [ben.id] });
  expect(await facets(ben)).toEqual([
    ["ada@example.com", "ben@example.com"],
    ["codex", "kimi"],
  ]);
  const request = `?user_q=ADA&selected_user_id=${ben.id}`;
  expect(await facets(admin, request)).toEqual([
    ["ben@example.com", "ada@example.com"],
    ["codex", "kimi"],
  ]);
  expect((await get(server, "/session-uploads/facets?selected_user_id=7", ben)).status).toBe(400);
});

test("SES-29 sharing offers at most ten active colleagues, without the caller", async () => {
  await using server = await createSessionServer();
  const { ada, ben } = await people(server);
  const members = async (q: string) =>
    (await read(server, `/session-uploads/members?q=${q}`, ada)).items.map(
      ({ email }: { email: string }) => email,
    );
  expect(await members("")).toEqual(["ben@example.com", "root@example.com"]);
  expect(await members("BEN")).toEqual(["ben@example.com"]);
  await server.world.db.write((tx) => {
    tx.update(users).set({ status: "suspended" }).where(eq(users.id, ben.id)).run();
  });
  expect(await members("ben")).toEqual([]);
  for (const number of Array(MEMBERS_MAX + 1).keys())
    await server.signedIn("member", { email: `zoe${number}@example.com` });
  expect(await members("zoe")).toHaveLength(MEMBERS_MAX);
});
