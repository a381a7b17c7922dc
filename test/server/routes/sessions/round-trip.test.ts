// Captured sessions with the requests of a workstation: announce, upload, complete, download, exactly as the client sends them.
import { expect, test } from "bun:test";
import { publishFirst } from "../../../support/content/policy.ts";
import {
  announcementOf,
  capture,
  createSessionServer,
  pathIn,
  presign,
  upload,
} from "../../../support/content/sessions.ts";
import { BASE_URL, createTestServer } from "../../../support/server.ts";

test("USE-8 SES-3 a policy without session_upload refuses uploads", async () => {
  await using server = await createTestServer();
  await publishFirst(server);
  const { accessToken: token } = await server.signedIn("member");
  const response = await presign(server, { token }, announcementOf("text"));
  expect([response.status, (await response.json()).reason]).toEqual([403, "sessions.capture_off"]);
});

test("SES-1 SES-7 SES-10 SES-13 SES-19 SES-28 a capture is announced, uploaded, completed and downloaded", async () => {
  await using server = await createSessionServer();
  const owner = await server.signedIn("member");
  const credential = { token: owner.accessToken };
  const bytes = Buffer.from("the bytes of a session");
  const presigned = await (await presign(server, credential, announcementOf(bytes))).json();
  expect(presigned).toEqual({
    upload_id: expect.any(String),
    status: "pending",
    upload_url: expect.stringMatching(
      new RegExp(`^${BASE_URL}/session-objects/${presigned.upload_id}\\?expires=\\d+&signature=[\\w-]{43}$`),
    ),
    method: "PUT",
    headers: { "content-type": "application/vnd.blue.session-bundle+tar+gzip" },
    complete_url: `/session-uploads/${presigned.upload_id}/complete`,
  });
  const stored = await upload(server, presigned, bytes);
  expect([stored.status, await stored.text()]).toEqual([204, ""]);
  const completed = await server.request("POST", presigned.complete_url, {
    ...credential,
    body: { sha256: "x" },
  });
  expect([completed.status, await completed.json()]).toEqual([
    200,
    { id: presigned.upload_id, status: "complete" },
  ]);
  const again = await (await presign(server, credential, announcementOf(bytes))).json();
  expect(again).toEqual({
    upload_id: presigned.upload_id,
    status: "complete",
    upload_url: null,
    method: null,
    headers: {},
    complete_url: null,
  });
});

test("SES-28 a download gives the bytes as an opaque attachment", async () => {
  await using server = await createSessionServer();
  const { accessToken: token } = await server.signedIn("member");
  const { sessionId } = await capture(server, { token }, "the bytes of a session");
  const offered = await server.request("POST", `/session-uploads/${sessionId}/download`, { token });
  const { download_url: url, expires_in_seconds: seconds } = await offered.json();
  expect([offered.status, seconds]).toEqual([200, 300]);
  const file = await server.request("GET", pathIn(url));
  expect([file.status, await file.text()]).toEqual([200, "the bytes of a session"]);
  expect(Object.fromEntries(file.headers)).toMatchObject({
    "content-type": "application/octet-stream",
    "content-disposition": `attachment; filename="codex-${sessionId.slice(0, 8)}.tgz"`,
    "cache-control": "private, no-store",
    "x-content-type-options": "nosniff",
    etag: `"${announcementOf("the bytes of a session").sha256}"`,
  });
});

test("SES-30 the owner removes a session with its bytes", async () => {
  await using server = await createSessionServer();
  const { accessToken: token } = await server.signedIn("member");
  const { sessionId } = await capture(server, { token }, "the bytes of a session");
  const offered = await server.request("POST", `/session-uploads/${sessionId}/download`, { token });
  const { download_url: url } = await offered.json();
  const removed = await server.request("DELETE", `/session-uploads/${sessionId}`, { token });
  expect(removed.status).toBe(204);
  expect((await server.request("POST", `/session-uploads/${sessionId}/download`, { token })).status).toBe(
    404,
  );
  const objects = await Array.fromAsync(server.domain.sessions.stores.active.list());
  expect(objects).toEqual([]);
  const gone = await server.request("GET", pathIn(url));
  expect([gone.status, await gone.json()]).toMatchObject([
    404,
    { reason: "sessions.bytes_removed", detail: expect.stringContaining("was deleted") },
  ]);
});
