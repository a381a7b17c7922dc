// The stored counts of sessions: after every kind of change they equal the counted rows, and pages start at the positions that they
// give.
import { expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import { pageStart } from "../../../../src/domain/sessions/lists/page-start.ts";
import { capturedSessions, sessionArtifacts, sessionCounts } from "../../../../src/domain/sessions/tables.ts";
import { DAY_MS } from "../../../../src/platform/clock.ts";
import { capture, createSessionServer } from "../../../support/content/sessions.ts";
import type { TestServer } from "../../../support/server.ts";

const kept = ({ world }: TestServer) =>
  world.db.read
    .select()
    .from(sessionCounts)
    .all()
    .map((row) => Object.values(row).join(" "))
    .sort();

const counted = ({ world }: TestServer) =>
  world.db.read
    .all<Record<string, string | number>>(sql`
      WITH listed AS (SELECT *, updated_at_ms / ${DAY_MS} AS day FROM captured_sessions WHERE current_artifact_id IS NOT NULL),
        seen (viewer, mode, owner, harness, day) AS (
          SELECT organization_id, sharing_mode, '', harness, day FROM listed
          UNION ALL SELECT user_id, sharing_mode, user_id, harness, day FROM listed
          UNION ALL SELECT g.user_id, 'granted', l.user_id, l.harness, day FROM session_grants g JOIN listed l ON l.id = g.session_id
            WHERE sharing_mode = 'selected')
      SELECT viewer, mode, owner, harness, CAST(day AS INTEGER) AS day, count(*) AS sessions FROM seen GROUP BY 1, 2, 3, 4, 5`)
    .map((row) => Object.values(row).join(" "))
    .sort();

test("SES-62 kept numbers of sessions follow completions, shares, expiry, removal and erasure", async () => {
  await using server = await createSessionServer();
  const [ada, ben, eve] = [
    await server.signedIn("member"),
    await server.signedIn("member"),
    await server.signedIn("member"),
  ];
  const credential = { token: ada.accessToken };
  const old = () =>
    server.world.db.read
      .all<{ versions: number }>(
        sql`SELECT old_versions AS versions FROM captured_sessions ORDER BY created_at_ms, id`,
      )
      .map(({ versions }) => versions);
  const same = (rows: number) => {
    expect(old()).toEqual(
      server.world.db.read
        .all<{ versions: number }>(sql`SELECT count(a.id) AS versions FROM captured_sessions s
          LEFT JOIN session_artifacts a ON a.session_id = s.id AND a.status = 'superseded'
          GROUP BY s.id ORDER BY s.created_at_ms, s.id`)
        .map(({ versions }) => versions),
    );
    expect(kept(server)).toEqual(counted(server));
    expect(kept(server)).toHaveLength(rows);
  };
  const first = await capture(server, credential, "one", { session_id: "one" });
  const second = await capture(server, credential, "two", {
    session_id: "two",
    harness: "kimi",
    compatibility_profile: "legacy",
    resumable: false,
    artifact_format: "legacy-raw",
  });
  same(4);
  const share = async (mode: string, ids: string[]) => {
    const body = { mode, user_ids: ids };
    const path = `/session-uploads/${first.sessionId}/sharing`;
    expect((await server.request("PUT", path, { ...credential, body })).status).toBe(200);
  };
  await share("selected", [ben.user.id, eve.user.id]);
  same(6);
  await share("selected", [ben.user.id]);
  same(5);
  await server.world.db.write((tx) => {
    tx.update(capturedSessions)
      .set({ updatedAtMs: server.world.clock.nowMs() - DAY_MS })
      .run();
  });
  same(5);
  await capture(server, credential, "one again", { session_id: "one" });
  same(5);
  expect(old().sort()).toEqual([0, 1]);
  await share("workspace", []);
  same(4);
  await share("selected", [ben.user.id, eve.user.id]);
  await server.domain.erasure.erase(
    server.world.system,
    server.domain.erasure.find(server.world.system, eve.user.id),
  );
  same(5);
  await server.world.db.write((tx) => {
    tx.update(sessionArtifacts).set({ expiresAtMs: 0 }).where(eq(sessionArtifacts.id, second.uploadId)).run();
  });
  await server.domain.sessions.retention.run(server.world.system, new AbortController().signal);
  same(3);
  await server.request("DELETE", `/session-uploads/${first.sessionId}`, credential);
  same(0);
});

test("SES-62 a page begins in the day that has its first session", async () => {
  const days = [
    { day: 9, sessions: 2 },
    { day: 7, sessions: 3 },
  ];
  const at = (day: number, offset: number) => ({ after: { first: day * DAY_MS, second: "" }, offset });
  expect([0, 1, 2, 4, 5].map((offset) => pageStart(days, offset, "updated_desc"))).toEqual([
    ...[at(10, 0), at(10, 1), at(8, 0), at(8, 2)],
    { offset: 5 },
  ]);
  expect(pageStart(days.toReversed(), 3, "updated_asc")).toEqual(at(9, 0));
});

test("SES-62 pages over several days hold every session once, in both orders", async () => {
  await using server = await createSessionServer();
  const ada = await server.signedIn("member");
  const credential = { token: ada.accessToken };
  const ids: string[] = [];
  for (const name of ["a", "b", "c", "d", "e"])
    ids.unshift((await capture(server, credential, name, { session_id: name })).sessionId);
  const midnight = Math.floor(server.world.clock.nowMs() / DAY_MS) * DAY_MS;
  const times = [midnight, midnight - 1, midnight - DAY_MS, midnight - DAY_MS - 1, midnight - DAY_MS - 2];
  await server.world.db.write((tx) => {
    for (const [at, id] of ids.entries())
      tx.update(capturedSessions)
        .set({ updatedAtMs: times[at] ?? 0 })
        .where(eq(capturedSessions.id, id))
        .run();
  });
  const pages = async (sort: string) => {
    const found: string[] = [];
    for (let page = 1; page <= 6; page++) {
      const path = `/session-uploads?page=${page}&per_page=1&sort=${sort}`;
      const { items, total } = await (await server.request("GET", path, credential)).json();
      expect(total).toBe(5);
      found.push(...items.map(({ id }: { id: string }) => id));
    }
    return found;
  };
  expect(await pages("updated_desc")).toEqual(ids);
  expect(await pages("updated_asc")).toEqual(ids.toReversed());
});
