// Who may read which parts of a captured session, and which reads are audited.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { auditEntries } from "../../../../src/domain/audit/tables.ts";
import { bundleOf, TRANSCRIPTS } from "../../../support/content/session-bundles.ts";
import { capture, createSessionServer } from "../../../support/content/sessions.ts";
import type { Caller, TestServer } from "../../../support/server.ts";

interface Site {
  face: TestServer;
  ada: Caller;
  ben: Caller;
  admin: Caller;
  path: string;
}

async function siteWith(administratorsMayRead: boolean): Promise<Site> {
  const face = await createSessionServer({ sessions: { administratorsMayRead } });
  const ada = await face.signedIn("member");
  const { sessionId } = await capture(
    face,
    { token: ada.accessToken },
    bundleOf("codex", TRANSCRIPTS.codex ?? ""),
  );
  const others = { ben: await face.signedIn("member"), admin: await face.signedIn("admin") };
  return { face, ada, ...others, path: `/session-uploads/${sessionId}` };
}

let site: Site;
beforeAll(async () => {
  site = await siteWith(false);
});
afterAll(() => site.face[Symbol.asyncDispose]());

const read = async ({ face, path }: Site, { accessToken: token }: Caller, query = "") => {
  const answer = await face.request("GET", `${path}/transcript${query}`, { token });
  return { status: answer.status, body: await answer.json() };
};
const readings = ({ face }: Site) =>
  face.world.db.read
    .select({ after: auditEntries.after, actorId: auditEntries.actorId })
    .from(auditEntries)
    .where(eq(auditEntries.action, "captured_session.read"))
    .all()
    .map(({ after, actorId }) => ({ actorId, as: JSON.parse(after ?? "{}").as }));

test("CON-37 the owner reads it, which is not recorded; others do not", async () => {
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

test("CON-37 a person it is shared with reads it, and that is recorded", async () => {
  const { face, path, ada, ben } = site;
  const share = (mode: string) =>
    face.request("PUT", `${path}/sharing`, { token: ada.accessToken, body: { mode } });
  await share("workspace");
  expect((await read(site, ben)).status).toBe(200);
  expect(readings(site)).toEqual([{ actorId: ben.user.id, as: "recipient" }]);
  await share("private");
});

test("CON-37 an administrator reads it only with sessions.administrators_may_read, and that is recorded", async () => {
  expect(await read(site, site.admin)).toMatchObject({
    status: 403,
    body: { reason: "sessions.may_not_read" },
  });
  const open = await siteWith(true);
  await using _ = open.face;
  expect((await read(open, open.admin)).status).toBe(200);
  expect(readings(open)).toEqual([{ actorId: open.admin.user.id, as: "administrator" }]);
});
