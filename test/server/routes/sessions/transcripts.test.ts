// Access to the parts of a captured session, and the audit of reads.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { auditEntries } from "../../../../src/domain/audit/tables.ts";
import { bundleOf, TRANSCRIPTS } from "../../../support/content/session-bundles.ts";
import { capture, createSessionServer } from "../../../support/content/sessions.ts";
import type { Caller, TestServer } from "../../../support/server.ts";

interface Site {
  server: TestServer;
  ada: Caller;
  ben: Caller;
  admin: Caller;
  path: string;
}

async function siteWith(administratorsMayRead: boolean): Promise<Site> {
  const server = await createSessionServer({ sessions: { administratorsMayRead } });
  const ada = await server.signedIn("member");
  const { sessionId } = await capture(
    server,
    { token: ada.accessToken },
    bundleOf("codex", TRANSCRIPTS.codex ?? ""),
  );
  const others = { ben: await server.signedIn("member"), admin: await server.signedIn("admin") };
  return { server, ada, ...others, path: `/session-uploads/${sessionId}` };
}

let site: Site;
beforeAll(async () => {
  site = await siteWith(false);
});
afterAll(() => site.server[Symbol.asyncDispose]());

const read = async ({ server, path }: Site, { accessToken: token }: Caller, query = "") => {
  const answer = await server.request("GET", `${path}/transcript${query}`, { token });
  return { status: answer.status, body: await answer.json() };
};
const readings = ({ server }: Site) =>
  server.world.db.read
    .select({ after: auditEntries.after, actorId: auditEntries.actorId })
    .from(auditEntries)
    .where(eq(auditEntries.action, "captured_session.read"))
    .all()
    .map(({ after, actorId }) => ({ actorId, as: JSON.parse(after ?? "{}").as }));

test("CON-37 the owner may read it without a record; others may not", async () => {
  const { status, body } = await read(site, site.ada);
  expect([status, body.entries_before, body.next_cursor]).toEqual([200, 0, null]);
  expect(body.entries.length).toBeGreaterThan(0);
  expect(await read(site, site.ben)).toMatchObject({ status: 403, body: { reason: "sessions.not_visible" } });
  expect(await read(site, site.ada, "?cursor=x")).toMatchObject({
    status: 400,
    body: { reason: "sessions.invalid" },
  });
  expect(readings(site)).toEqual([]);
});

test("CON-37 a recipient may read it, and the read is recorded", async () => {
  const { server, path, ada, ben } = site;
  const share = (mode: string) =>
    server.request("PUT", `${path}/sharing`, { token: ada.accessToken, body: { mode } });
  await share("workspace");
  expect((await read(site, ben)).status).toBe(200);
  expect(readings(site)).toEqual([{ actorId: ben.user.id, as: "recipient" }]);
  await share("private");
});

test("CON-37 an administrator may read it only with sessions.administrators_may_read, and the read is recorded", async () => {
  expect(await read(site, site.admin)).toMatchObject({
    status: 403,
    body: { reason: "sessions.may_not_read" },
  });
  const open = await siteWith(true);
  await using _ = open.server;
  expect((await read(open, open.admin)).status).toBe(200);
  expect(readings(open)).toEqual([{ actorId: open.admin.user.id, as: "administrator" }]);
});
