// The text index changes how a search finds sessions, never which: before and after texts are added, changed and removed.
import { expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import { SEARCH_CANDIDATES_MAX } from "../../../../src/domain/sessions/limits.ts";
import { sessionsLike } from "../../../../src/domain/sessions/lists/list-store.ts";
import { capturedSessions, sessionArtifacts } from "../../../../src/domain/sessions/tables.ts";
import { STEP_ROWS } from "../../../../src/domain/shared/page-steps.ts";
import {
  PAIR_PARTS_MAX,
  SEARCH_PARTS_MAX,
  searchParts,
} from "../../../../src/domain/shared/text-search/trigram-store.ts";
import { announcementOf, capture, createSessionServer, presign } from "../../../support/content/sessions.ts";
import type { TestServer } from "../../../support/server.ts";

const never = new AbortController().signal;
const add = ({ domain }: TestServer) => domain.sessions.searchIndex.add(never);

async function site() {
  const server = await createSessionServer();
  const [ada, ben, admin] = [
    await server.signedIn("member"),
    await server.signedIn("member"),
    await server.signedIn("admin"),
  ];
  const find = async (q: string, { accessToken: token } = admin, more = "") => {
    const path = `/session-uploads?q=${encodeURIComponent(q)}${more}`;
    const { items, total } = await (await server.request("GET", path, { token })).json();
    expect(items).toHaveLength(total ?? items.length);
    return items.map((item: { native_session_id: string }) => item.native_session_id);
  };
  const captured = (name: string, title: string) =>
    capture(server, { token: ada.accessToken }, `${name} ${title}`, { session_id: name, title });
  const holds = (text: string) =>
    server.world.db.read
      .all<{ block: Uint8Array }>(sql`SELECT block FROM session_search_data`)
      .some(({ block }) => Buffer.from(block).includes(text));
  return { server, ada, ben, admin, find, captured, holds };
}

const ODD = ['say "hello" AND NOT this', "日本語のログ", "50%_*^-'\\ ( colon: )", "line\tbreak é 🦊🦊🦊"];

test("SES-22 SES-62 a search finds literal text in any case, whether it is indexed or not", async () => {
  const { server, find, captured } = await site();
  await using _ = server;
  for (const [at, title] of ODD.entries()) await captured(`s${at}`, title);
  const check = async () => {
    for (const [at, title] of ODD.entries()) {
      expect(await find(title.toUpperCase())).toEqual([`s${at}`]);
      const characters = [...title];
      for (const length of [2, 3, 4, 7])
        expect(
          await find(
            characters
              .slice(1, length + 1)
              .join("")
              .trim(),
          ),
        ).toContain(`s${at}`);
    }
    expect(await find("hello this")).toEqual([]);
  };
  await check();
  expect(await add(server)).toBe(ODD.length);
  expect(await add(server)).toBe(0);
  await check();
  await captured("later", "hello later");
  expect(await find("hello")).toEqual(["later", "s0"]);
  expect(await find("HELLO", undefined, "&sort=updated_asc")).toEqual(["s0", "later"]);
});

test("SES-22 SES-51 an indexed search has the sessions that the caller sees, in each mode", async () => {
  const { server, ada, ben, find, captured } = await site();
  await using _ = server;
  const shared = await captured("shared", "a lighthouse");
  const named = await captured("named", "the lighthouse");
  await captured("hidden", "lighthouse");
  await add(server);
  const share = (id: string, body: object) =>
    server.request("PUT", `/session-uploads/${id}/sharing`, { token: ada.accessToken, body });
  await share(shared.sessionId, { mode: "workspace" });
  await share(named.sessionId, { mode: "selected", user_ids: [ben.user.id] });
  expect(await find("lighthouse", ada)).toHaveLength(3);
  expect((await find("lighthouse", ben)).sort()).toEqual(["named", "shared"]);
  expect((await find("lighthouse", ben, "&resumable=true")).sort()).toEqual(["named", "shared"]);
  expect(await find("lighthouse", undefined, `&user_id=${ben.user.id}`)).toEqual([]);
  expect(await find("lighthouse", ben, "&harness=kimi")).toEqual([]);
  expect(await find("lighthouse", undefined, "&page=1&per_page=1&updated_from=2999-01-01")).toEqual([]);
});

test("SES-22 SES-62 two characters of an indexed text are found, also at its end", async () => {
  const { server, ada, find, captured } = await site();
  await using _ = server;
  await captured("one", 'a "quoted" word 🦊z');
  await captured("two", "another word");
  await add(server);
  const found = ['"Q', "🦊z", "z\u{1}", "ww", "wo", "te", "z"].map((q) => find(q, ada));
  expect(await Promise.all(found)).toEqual([["one"], ["one"], [], [], ["two", "one"], ["one"], ["one"]]);
});

test("SES-22 an administrator's search for one character has exact totals and pages", async () => {
  const { server, admin, find, captured } = await site();
  await using _ = server;
  for (const name of ["one", "two", "three"]) await captured(name, "");
  expect(await find("~")).toEqual([]);
  expect(await find("e")).toEqual(["three", "two", "one"]);
  const page = async (number: number) => {
    const path = `/session-uploads?q=e&per_page=2&page=${number}`;
    const { items, total } = await (await server.request("GET", path, { token: admin.accessToken })).json();
    return [items.map((item: { native_session_id: string }) => item.native_session_id), total];
  };
  expect(await page(1)).toEqual([["three", "two"], 3]);
  expect(await page(2)).toEqual([["one"], 3]);
  expect(await page(3)).toEqual([[], 3]);
});

test("SES-22 SES-51 a member's search for one character has exact totals, of few and of most sessions", async () => {
  const { server, ada, ben, find, captured } = await site();
  await using _ = server;
  const share = (id: string, body: object) =>
    server.request("PUT", `/session-uploads/${id}/sharing`, { token: ada.accessToken, body });
  const named = await captured("named", "");
  const shared = await captured("shared", "");
  const other = await captured("other", "");
  expect(await find("e", ben)).toEqual([]);
  await share(named.sessionId, { mode: "selected", user_ids: [ben.user.id] });
  await share(shared.sessionId, { mode: "workspace" });
  await share(other.sessionId, { mode: "private" });
  await capture(server, { token: ben.accessToken }, "own", { session_id: "bene", title: "" });
  const seen = ["bene", "shared", "named"];
  expect([await find("e", ben), (await find("e", ada)).length]).toEqual([seen, 3]);
  expect(await find("e", ben, "&sort=updated_asc")).toEqual(seen.toReversed());
  for (let count = 0; count < 30; count += 1) await captured(`more-e-${count}`, "");
  expect([await find("e", ben), await find("~", ben)]).toEqual([seen, []]);
});

test("SES-22 SES-62 exact totals of texts with and without a number, of each sharing mode, and none of gone sessions", async () => {
  const { server, ada, ben, find, captured } = await site();
  await using _ = server;
  const share = (id: string, body: object) =>
    server.request("PUT", `/session-uploads/${id}/sharing`, { token: ada.accessToken, body });
  await captured("private", "e");
  await share((await captured("named", "e")).sessionId, { mode: "selected", user_ids: [ben.user.id] });
  const shared: string[] = [];
  for (let at = 0; at < 9; at += 1) {
    shared.unshift(`shared-${at}`);
    await share((await captured(`shared-${at}`, "")).sessionId, { mode: "workspace" });
  }
  await capture(server, { token: ben.accessToken }, "his", { session_id: "bene" });
  const seen = ["bene", ...shared, "named"];
  const all = [...seen, "private"];
  const check = async () => {
    expect([await find("e", ben), await find("e")]).toEqual([seen, all]);
    expect([(await find("e", ada)).length, await find("~", ben)]).toEqual([11, []]);
  };
  await check();
  await add(server);
  await check();
  await capture(server, { token: ben.accessToken }, "his later", { session_id: "bene-2" });
  for (const names of [seen, all]) names.unshift("bene-2");
  await check();
  await server.world.db.write((tx) => void tx.update(sessionArtifacts).set({ expiresAtMs: 0 }).run());
  await server.domain.sessions.retention.run(server.world.system, never);
  expect([await find("e", ben), await find("e")]).toEqual([[], []]);
});

test(`SES-62 two characters that begin more than ${PAIR_PARTS_MAX} entries are looked for in the texts`, async () => {
  const { server, find, captured } = await site();
  await using _ = server;
  const entries = (from: number, to: number) =>
    Array.from({ length: to - from }, (__, at) => `zq${String.fromCodePoint(0x4e00 + from + at)}`).join("");
  const names: string[] = [];
  for (const [name, from, to] of [
    ["most", 0, PAIR_PARTS_MAX],
    ["over", PAIR_PARTS_MAX, PAIR_PARTS_MAX + 1],
    ["last", PAIR_PARTS_MAX + 1, PAIR_PARTS_MAX + 2],
  ] as const) {
    await captured(name, "");
    names.unshift(name);
    const changed = { searchText: entries(from, to), searchNumber: null };
    const isNamed = eq(capturedSessions.nativeSessionId, name);
    await server.world.db.write((tx) => void tx.update(capturedSessions).set(changed).where(isNamed).run());
    await add(server);
    expect((await find("zq")).sort()).toEqual(names.toSorted());
  }
});

test("SES-62 a step of a member's search ends after that many sessions, whether they match or not", async () => {
  const { server, ada, captured } = await site();
  await using _ = server;
  const { sessionId: older } = await captured("one", "alpha");
  await captured("two", "beta");
  const { organizationId, db } = server.world;
  const filter = {
    q: "~",
    harness: undefined,
    sort: "updated_desc",
    updated: { fromMs: undefined, beforeMs: undefined },
  } as const;
  const rows = sessionsLike(db.read, { kind: "visible", organizationId, userId: ada.user.id }, filter);
  expect(rows.placeAhead(undefined, 2)?.second).toBe(older);
  expect(rows.placeAhead(undefined, 3)).toBeUndefined();
});

test("SES-62 lists of unfinished and failed uploads have those uploads and not every session of their owner", async () => {
  const { server, ada, admin, captured } = await site();
  await using _ = server;
  await captured("done", "done");
  await presign(server, { token: ada.accessToken }, announcementOf("pending", { session_id: "pending" }));
  for (const { accessToken: token } of [ada, admin])
    for (const [status, total] of [
      ["pending", 1],
      ["failed", 0],
    ] as const) {
      const page = await (
        await server.request("GET", `/session-uploads?page=1&status=${status}`, { token })
      ).json();
      expect(page.total).toBe(total);
    }
});

test("SES-23 SES-62 more unfinished uploads than a step reads are each listed once, in order", async () => {
  const { server, ada, ben, admin } = await site();
  await using _ = server;
  const { db } = server.world;
  await presign(server, { token: ada.accessToken }, announcementOf("pending", { session_id: "pending" }));
  const [session] = db.read.select().from(capturedSessions).all();
  const [artifact] = db.read.select().from(sessionArtifacts).all();
  if (!session || !artifact) throw new Error("one was announced");
  const count = 2 * STEP_ROWS + 5;
  await db.write((tx) => {
    for (let at = 1; at < count; at += 1) {
      const [id, nativeSessionId] = [`${session.id}-${at}`, `native-${at}`];
      tx.insert(capturedSessions)
        .values({ ...session, id, nativeSessionId, updatedAtMs: at * 7_919 })
        .run();
      tx.insert(sessionArtifacts)
        .values({ ...artifact, id: `a-${at}`, sessionId: id })
        .run();
    }
    const { id } = artifact; // a second version of a session does not list it twice
    tx.insert(sessionArtifacts)
      .values({ ...artifact, id: `${id}-2`, sha256: "f".repeat(64) })
      .run();
  });
  const pageOf = async (query: string, { accessToken: token } = admin) =>
    await (
      await server.request("GET", `/session-uploads?status=pending&per_page=100&${query}`, { token })
    ).json();
  const seen: string[] = [];
  for (let page = 1; page <= Math.ceil(count / 100); page += 1) {
    const { items, total } = await pageOf(`page=${page}&sort=updated_asc`);
    expect(total).toBe(count);
    seen.push(...items.map((item: { native_session_id: string }) => item.native_session_id));
  }
  const inOrder = Array.from({ length: count - 1 }, (__, at) => `native-${at + 1}`);
  expect(seen.filter((name) => name !== "pending")).toEqual(inOrder);
  expect(seen.length).toBe(count);
  expect([(await pageOf("page=1", ada)).total, (await pageOf("page=1", ben)).total]).toEqual([count, 0]);
  const counted = async (query: string) => (await pageOf(query)).total;
  expect(await counted(`user_id=${ada.user.id}`)).toBe(count);
  expect([await counted("harness=kimi"), await counted("updated_to=1970-01-01")]).toEqual([0, count - 1]);
});

test("SES-37 SES-62 a changed or removed text is not found, and nothing of it stays in the index", async () => {
  const { server, find, captured, holds } = await site();
  await using _ = server;
  const first = await captured("first", "zebra");
  await captured("second", "quilt");
  await add(server);
  expect([holds("zeb"), holds("qui")]).toEqual([true, true]);
  await captured("first", "other");
  expect([await find("zebra"), await find("other")]).toEqual([[], ["first"]]);
  await add(server);
  expect([await find("zebra"), await find("other")]).toEqual([[], ["first"]]);
  await server.world.db.write((tx) => void tx.update(sessionArtifacts).set({ expiresAtMs: 0 }).run());
  await server.domain.sessions.retention.run(server.world.system, never);
  expect(await find("other")).toEqual([]);
  const row = server.world.db.read.select().from(capturedSessions).get();
  const wanted = server.domain.erasure.find(server.world.system, row?.userId ?? "");
  await server.domain.erasure.erase(server.world.system, wanted);
  await server.domain.sessions.searchIndex.optimize(never);
  expect([holds("zeb"), holds("qui"), holds("oth")]).toEqual([false, false, false]);
  expect(first.sessionId).not.toBe("");
});

test(`SES-62 a text is looked up by at most ${SEARCH_PARTS_MAX} parts, from its first to its last character`, () => {
  expect(["", "ab", "abc", "abcd", "aaaaa"].map(searchParts)).toEqual([
    [],
    [],
    ["abc"],
    ["abc", "bcd"],
    ["aaa"],
  ]);
  const textOf = (parts: number) =>
    String.fromCodePoint(...Array.from({ length: parts + 2 }, (_, at) => 0x4e00 + at));
  for (const parts of [SEARCH_PARTS_MAX - 1, SEARCH_PARTS_MAX, SEARCH_PARTS_MAX + 1, 198]) {
    const text = textOf(parts);
    const found = searchParts(text);
    expect(found).toHaveLength(Math.min(parts, SEARCH_PARTS_MAX));
    expect([found[0], found.at(-1)]).toEqual([text.slice(0, 3), text.slice(-3)]);
  }
});

/** SQLite limits how many values a statement binds. */
const ROWS_AT_ONCE = 200;

test(`SES-62 more than ${SEARCH_CANDIDATES_MAX} sessions that may have the text are looked at in order`, async () => {
  const { server, admin, captured } = await site();
  await using _ = server;
  await captured("first", "harbor");
  const copy = (from: number, to: number) =>
    server.world.db.write((tx) => {
      const row = tx.select().from(capturedSessions).get();
      const artifact = tx.select().from(sessionArtifacts).get();
      if (!row || !artifact) throw new Error("one was captured");
      for (let left = to - from; left > 0; left -= ROWS_AT_ONCE) {
        const ids = Array.from({ length: Math.min(left, ROWS_AT_ONCE) }, () => crypto.randomUUID());
        const sessions = { ...row, searchNumber: null, currentArtifactId: null };
        tx.insert(capturedSessions)
          .values(ids.map((id) => ({ ...sessions, id, nativeSessionId: id })))
          .run();
        tx.insert(sessionArtifacts)
          .values(ids.map((id) => ({ ...artifact, id: crypto.randomUUID(), sessionId: id, sha256: id })))
          .run();
      }
      tx.run(sql`UPDATE captured_sessions SET current_artifact_id =
        (SELECT id FROM session_artifacts WHERE session_id = captured_sessions.id) WHERE current_artifact_id IS NULL`);
    });
  const { accessToken: token } = admin;
  const total = async () =>
    (await (await server.request("GET", "/session-uploads?q=harbor", { token })).json()).total;
  await copy(1, SEARCH_CANDIDATES_MAX - 1);
  for (const sessions of [-1, 0, 1].map((more) => SEARCH_CANDIDATES_MAX + more)) {
    expect(await total()).toBe(sessions);
    await copy(sessions, sessions + 1);
  }
  expect(await add(server)).toBe(SEARCH_CANDIDATES_MAX + 2);
  expect(await total()).toBe(SEARCH_CANDIDATES_MAX + 2);
}, 20_000);
