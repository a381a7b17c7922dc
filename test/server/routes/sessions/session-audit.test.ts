// The audit log of captured sessions: it has every operation and quotes no content.
import { expect, test } from "bun:test";
import { auditEntries } from "../../../../src/domain/audit/tables.ts";
import { DAY_MS } from "../../../../src/platform/clock.ts";
import { capture, createSessionServer } from "../../../support/content/sessions.ts";

const PRIVATE = {
  title: "why does the CANARY-title fail",
  summary: "CANARY-summary",
  cwd: "/home/ada/CANARY-cwd",
  repository_root: "/home/ada/CANARY-root",
  repository_remote: "https://git.example.com/CANARY-remote",
};

test("SES-49 acts on captured sessions are audited, without titles, summaries, paths or addresses", async () => {
  await using server = await createSessionServer();
  const { accessToken: token } = await server.signedIn("member");
  const { sessionId } = await capture(server, { token }, "first", PRIVATE);
  const path = `/session-uploads/${sessionId}`;
  await server.request("PUT", `${path}/sharing`, { token, body: { mode: "workspace" } });
  await server.request("POST", `${path}/download`, { token });
  const { sessionId: other } = await capture(server, { token }, "other", { ...PRIVATE, session_id: "other" });
  await server.request("DELETE", `/session-uploads/${other}`, { token });
  const { retention } = server.domain.sessions;
  await retention.hold(server.world.system, sessionId, true);
  await retention.hold(server.world.system, sessionId, false);
  server.world.clock.advance(30 * DAY_MS);
  await retention.run(server.world.system, new AbortController().signal);
  const entries = server.world.db.read.select().from(auditEntries).all();
  const acts = entries.map(({ action }) => action).filter((action) => action.startsWith("captured_session."));
  expect(acts.map((action) => action.replace("captured_session.", ""))).toEqual([
    ...["complete", "share", "download", "complete", "remove", "hold", "release", "expire"],
  ]);
  const text = JSON.stringify(entries);
  expect(text).not.toContain("CANARY");
  expect(text).not.toContain("signature=");
});
