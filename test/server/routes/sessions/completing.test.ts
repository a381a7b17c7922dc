// Completion, download and removal of captured sessions: permissions, deadlines, the verification of bytes, and races.
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { truncate, unlink } from "node:fs/promises";
import { eq } from "drizzle-orm";
import { UPLOAD_WINDOW_MS } from "../../../../src/domain/sessions/limits.ts";
import { capturedSessions, sessionArtifacts, sessionGrants } from "../../../../src/domain/sessions/tables.ts";
import { DAY_MS, SECOND_MS } from "../../../../src/platform/clock.ts";
import {
  announcementOf,
  capture,
  createSessionServer,
  type PresignedOnWire,
  pathIn,
  presign,
  upload,
} from "../../../support/content/sessions.ts";
import type { Caller, Sent, TestServer } from "../../../support/server.ts";
import { sharedServer } from "../../../support/shared.ts";

const sameServer = sharedServer(createSessionServer);
const bearer = ({ accessToken }: Caller) => ({ token: accessToken });
const browser = ({ cookie }: Caller) => ({ cookie });
const UNKNOWN_ID = "01890000-0000-7000-8000-000000000000";

async function announced(server: TestServer, credential: Sent, bytes: string): Promise<PresignedOnWire> {
  return await (await presign(server, credential, announcementOf(bytes))).json();
}

async function uploaded(server: TestServer, credential: Sent, bytes: string): Promise<PresignedOnWire> {
  const presigned = await announced(server, credential, bytes);
  expect((await upload(server, presigned, bytes)).status).toBe(204);
  return presigned;
}

async function outcomeOf(response: Response): Promise<[number, string | undefined]> {
  const text = await response.text();
  return [response.status, text === "" ? undefined : JSON.parse(text).reason];
}

const complete = (server: TestServer, credential: Sent, { complete_url: path }: PresignedOnWire) =>
  server.request("POST", path, credential);

const sessionsIn = ({ world }: TestServer) => world.db.read.select().from(capturedSessions).all();
const artifactsIn = ({ world }: TestServer) =>
  world.db.read.select().from(sessionArtifacts).orderBy(sessionArtifacts.createdAtMs).all();
const fileOf = ({ world }: TestServer, bytes: string) => {
  const { sha256 } = announcementOf(bytes);
  return `${world.directory}/sessions/sha256/${sha256.slice(0, 2)}/${sha256}`;
};
const auditOf = (server: TestServer, action: string) =>
  server.domain.auditLog.list(server.world.organizationId, { action }).items;

describe("SES-19 completion", () => {
  test.each([
    ["without a body", {}],
    ["with the body that clients send", { body: { sha256: "abc" } }],
    ["with any other body", { body: "<html>", headers: { "content-type": "text/html" } }],
  ])("takes a request %s", async (_, sent) => {
    const server = await sameServer();
    const owner = bearer(await server.signedIn("member"));
    const presigned = await uploaded(server, owner, "text");
    const response = await complete(server, { ...owner, ...sent }, presigned);
    expect([response.status, await response.json()]).toEqual([
      200,
      { id: presigned.upload_id, status: "complete" },
    ]);
  });

  test("sets deadline, metadata and time of the session, and writes one audit entry", async () => {
    const server = await sameServer();
    const owner = await server.signedIn("member");
    const presigned = await uploaded(server, bearer(owner), "text");
    server.world.clock.advance(SECOND_MS);
    const nowMs = server.world.clock.nowMs();
    await complete(server, bearer(owner), presigned);
    await complete(server, bearer(owner), presigned);
    expect(artifactsIn(server)).toMatchObject([
      { status: "complete", completedAtMs: nowMs, expiresAtMs: nowMs + 30 * DAY_MS },
    ]);
    expect(sessionsIn(server)).toMatchObject([
      {
        currentArtifactId: presigned.upload_id,
        updatedAtMs: nowMs,
        title: "A title",
        sharingMode: "private",
      },
    ]);
    expect(auditOf(server, "captured_session.complete").length).toBe(1);
  });

  test("makes the former version an old one, which is kept for some days within its own deadline", async () => {
    const server = await sameServer();
    const owner = browser(await server.signedIn("member"));
    const first = await capture(server, owner, "one");
    server.world.clock.advance(SECOND_MS);
    const second = await capture(server, owner, "two");
    const nowMs = server.world.clock.nowMs();
    expect(second.sessionId).toBe(first.sessionId);
    expect(artifactsIn(server)).toMatchObject([
      { id: first.uploadId, status: "superseded", supersededAtMs: nowMs, expiresAtMs: nowMs + 7 * DAY_MS },
      { id: second.uploadId, status: "complete" },
    ]);
    const again = await server.request("POST", `/session-uploads/${first.uploadId}/complete`, owner);
    expect([again.status, sessionsIn(server)[0]?.currentArtifactId]).toEqual([200, second.uploadId]);
  });

  test("is refused after the window, but answers 200 for a complete upload at any time", async () => {
    const server = await sameServer();
    const owner = browser(await server.signedIn("member"));
    const [one, two] = [await uploaded(server, owner, "one"), await uploaded(server, owner, "two")];
    server.world.clock.advance(UPLOAD_WINDOW_MS - 1);
    expect((await complete(server, owner, one)).status).toBe(200);
    server.world.clock.advance(1);
    expect(await outcomeOf(await complete(server, owner, two))).toEqual([400, "sessions.window_over"]);
    expect((await complete(server, owner, one)).status).toBe(200);
  });

  test("refuses completion before the upload and accepts it afterwards", async () => {
    const server = await sameServer();
    const owner = bearer(await server.signedIn("member"));
    const presigned = await announced(server, owner, "text");
    expect(await outcomeOf(await complete(server, owner, presigned))).toEqual([400, "sessions.not_uploaded"]);
    expect(artifactsIn(server)[0]?.status).toBe("pending");
    await upload(server, presigned, "text");
    expect((await complete(server, owner, presigned)).status).toBe(200);
  });

  test("refuses completion and keeps the state if the bytes vanished", async () => {
    const server = await sameServer();
    const owner = bearer(await server.signedIn("member"));
    const presigned = await uploaded(server, owner, "text");
    await unlink(fileOf(server, "text"));
    expect(await outcomeOf(await complete(server, owner, presigned))).toEqual([400, "sessions.not_uploaded"]);
    expect(artifactsIn(server)[0]?.status).toBe("pending");
  });

  test("fails if the bytes were damaged, and a repeated upload repairs them", async () => {
    const server = await sameServer();
    const owner = bearer(await server.signedIn("member"));
    const presigned = await uploaded(server, owner, "text");
    await truncate(fileOf(server, "text"), 2);
    expect(await outcomeOf(await complete(server, owner, presigned))).toEqual([
      400,
      "sessions.content_differs",
    ]);
    expect(artifactsIn(server)[0]?.status).toBe("failed");
    const again = await uploaded(server, owner, "text");
    expect((await complete(server, owner, again)).status).toBe(200);
  });

  test("answers 404 for the completion of an unknown upload and of a session's id", async () => {
    const server = await sameServer();
    const owner = bearer(await server.signedIn("member"));
    const { sessionId } = await capture(server, owner, "text");
    for (const id of [UNKNOWN_ID, sessionId])
      expect((await server.request("POST", `/session-uploads/${id}/complete`, owner)).status).toBe(404);
  });

  test("is for the owner and administrators; a colleague is refused", async () => {
    const server = await sameServer();
    const presigned = await uploaded(server, bearer(await server.signedIn("member")), "text");
    const colleague = bearer(await server.signedIn("member"));
    expect(await outcomeOf(await complete(server, colleague, presigned))).toEqual([
      403,
      "sessions.not_owner",
    ]);
    const narrow = bearer(await server.signedIn("admin", { scope: "session:write" }));
    expect(await outcomeOf(await complete(server, narrow, presigned))).toEqual([403, "sessions.not_owner"]);
    expect((await complete(server, bearer(await server.signedIn("admin")), presigned)).status).toBe(200);
  });
});

test("SES-51 announcing bytes of another owner without sending them does not give access to them", async () => {
  const server = await sameServer();
  await capture(server, bearer(await server.signedIn("member")), "a secret");
  const thief = bearer(await server.signedIn("member"));
  const presigned = await announced(server, thief, "a secret");
  expect(await outcomeOf(await complete(server, thief, presigned))).toEqual([400, "sessions.not_uploaded"]);
});

describe("SES-58 two callers at once", () => {
  test("confirms an upload that several callers complete simultaneously and writes one audit entry", async () => {
    const server = await sameServer();
    const owner = bearer(await server.signedIn("member"));
    const presigned = await uploaded(server, owner, "text");
    const answers = await Promise.all(Array.from({ length: 8 }, () => complete(server, owner, presigned)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(auditOf(server, "captured_session.complete").length).toBe(1);
  });

  test("makes one of two versions that are completed simultaneously current and the other old", async () => {
    const server = await sameServer();
    const owner = bearer(await server.signedIn("member"));
    const both = [await uploaded(server, owner, "one"), await uploaded(server, owner, "two")];
    await Promise.all(both.map((presigned) => complete(server, owner, presigned)));
    expect(
      artifactsIn(server)
        .map(({ status }) => status)
        .sort(),
    ).toEqual(["complete", "superseded"]);
    const current = artifactsIn(server).find(({ status }) => status === "complete");
    expect(sessionsIn(server)[0]?.currentArtifactId).toBe(current?.id ?? "");
  });

  test("leaves nothing and never answers 5xx if one caller completes while the other removes the session", async () => {
    const server = await sameServer();
    const owner = bearer(await server.signedIn("member"));
    for (let round = 0; round < 10; round += 1) {
      const { sessionId } = await capture(server, owner, `old ${round}`);
      const presigned = await uploaded(server, owner, `new ${round}`);
      const [completed, removed] = await Promise.all([
        complete(server, owner, presigned),
        server.request("DELETE", `/session-uploads/${sessionId}`, owner),
      ]);
      expect([[200, 400, 404].includes(completed.status), removed.status]).toEqual([true, 204]);
      expect([sessionsIn(server), artifactsIn(server)]).toEqual([[], []]);
      const files = [`old ${round}`, `new ${round}`].map((bytes) => existsSync(fileOf(server, bytes)));
      expect(files).toEqual([false, false]);
    }
  });

  test("keeps rows and files consistent if one caller uploads bytes that the other removes", async () => {
    const server = await sameServer();
    const [one, two] = [bearer(await server.signedIn("member")), bearer(await server.signedIn("member"))];
    for (let round = 0; round < 10; round += 1) {
      const { sessionId } = await capture(server, one, "the same bytes");
      const presigned = await announced(server, two, "the same bytes");
      const [stored] = await Promise.all([
        upload(server, presigned, "the same bytes"),
        server.request("DELETE", `/session-uploads/${sessionId}`, one),
      ]);
      expect([stored.status, (await complete(server, two, presigned)).status]).toEqual([204, 200]);
      const id = artifactsIn(server)[0]?.sessionId ?? "";
      expect((await server.request("POST", `/session-uploads/${id}/download`, two)).status).toBe(200);
      await server.request("DELETE", `/session-uploads/${id}`, two);
    }
  });
});

describe("SES-28 SES-51 a download", () => {
  const download = (server: TestServer, credential: Sent, id: string) =>
    server.request("POST", `/session-uploads/${id}/download`, credential);
  const share = ({ world }: TestServer, id: string, mode: "workspace" | "selected", userId?: string) =>
    world.db.write((tx) => {
      tx.update(capturedSessions).set({ sharingMode: mode }).where(eq(capturedSessions.id, id)).run();
      if (userId)
        tx.insert(sessionGrants).values({ sessionId: id, userId, updatedAtMs: 0, harness: "codex" }).run();
    });

  test("is refused to a colleague until the session is shared with them", async () => {
    const server = await sameServer();
    const { sessionId } = await capture(server, bearer(await server.signedIn("member")), "text");
    const [named, other] = [await server.signedIn("member"), await server.signedIn("member")];
    expect(await outcomeOf(await download(server, bearer(named), sessionId))).toEqual([
      403,
      "sessions.not_visible",
    ]);
    await share(server, sessionId, "selected", named.user.id);
    expect((await download(server, bearer(named), sessionId)).status).toBe(200);
    expect((await download(server, bearer(other), sessionId)).status).toBe(403);
    await share(server, sessionId, "workspace");
    expect((await download(server, bearer(other), sessionId)).status).toBe(200);
  });

  test("is for administrators with the scope for administration", async () => {
    const server = await sameServer();
    const { sessionId } = await capture(server, bearer(await server.signedIn("member")), "text");
    expect((await download(server, bearer(await server.signedIn("admin")), sessionId)).status).toBe(200);
    const narrow = bearer(await server.signedIn("admin", { scope: "session:write" }));
    expect((await download(server, narrow, sessionId)).status).toBe(403);
  });

  test("needs no scope", async () => {
    const server = await sameServer();
    const owner = await server.signedIn("member");
    const { sessionId } = await capture(server, bearer(owner), "text");
    const narrow = await server.signInAgain(owner.user, { scope: "client-status:write" });
    expect((await download(server, bearer(narrow), sessionId)).status).toBe(200);
  });

  test("answers 404 for the download of an unknown session and of one that is only announced", async () => {
    const server = await sameServer();
    const owner = bearer(await server.signedIn("member"));
    await announced(server, owner, "text");
    for (const id of [UNKNOWN_ID, sessionsIn(server)[0]?.id ?? ""])
      expect(await outcomeOf(await download(server, owner, id))).toEqual([404, "sessions.not_found"]);
  });

  test("is offered for its time and audited without titles, paths or addresses", async () => {
    const server = await sameServer();
    const owner = await server.signedIn("member");
    const { sessionId } = await capture(server, bearer(owner), "text", { title: "secret title" });
    const { download_url: url } = await (await download(server, bearer(owner), sessionId)).json();
    const expires = Number(new URL(url).searchParams.get("expires"));
    server.world.clock.set(expires * SECOND_MS - 1);
    expect((await server.request("GET", pathIn(url))).status).toBe(200);
    server.world.clock.set(expires * SECOND_MS);
    expect((await server.request("GET", pathIn(url))).status).toBe(403);
    const [entry] = auditOf(server, "captured_session.download");
    expect(entry).toMatchObject({ actorId: owner.user.id, target: sessionId });
    const written = JSON.stringify([entry, auditOf(server, "captured_session.complete"), server.logged]);
    for (const secret of ["secret title", "/home/ada", "signature="]) expect(written).not.toContain(secret);
  });

  test("answers 410 after the deadline and before the download is offered", async () => {
    await using server = await createSessionServer({
      sessions: { retentionDays: 1 },
      access: { browserSessionTtlSeconds: 2_592_000 },
    });
    const owner = browser(await server.signedIn("member"));
    const { sessionId } = await capture(server, owner, "text");
    server.world.clock.advance(DAY_MS - 1);
    expect((await download(server, owner, sessionId)).status).toBe(200);
    server.world.clock.advance(1);
    expect(await outcomeOf(await download(server, owner, sessionId))).toEqual([410, "sessions.expired"]);
  });

  test("answers 410 for a file that disappeared after the offer, and records the loss", async () => {
    const server = await sameServer();
    const owner = bearer(await server.signedIn("member"));
    const { sessionId } = await capture(server, owner, "text");
    const { download_url: url } = await (await download(server, owner, sessionId)).json();
    await unlink(fileOf(server, "text"));
    expect(await outcomeOf(await server.request("GET", pathIn(url)))).toEqual([410, "sessions.bytes_lost"]);
    expect(auditOf(server, "captured_session.lose").length).toBe(1);
  });
});

describe("SES-52 uploaded bytes", () => {
  test.each(["text/html", "image/svg+xml", "application/javascript"])(
    "serves uploaded bytes of the type %s as an opaque attachment",
    async (type) => {
      const server = await sameServer();
      const owner = bearer(await server.signedIn("member"));
      const { sessionId } = await capture(server, owner, "<script>alert(1)</script>", { content_type: type });
      const offered = await server.request("POST", `/session-uploads/${sessionId}/download`, owner);
      const file = await server.request("GET", pathIn((await offered.json()).download_url));
      expect(file.headers.get("content-type")).toBe("application/octet-stream");
      expect(file.headers.get("content-disposition")).toStartWith("attachment;");
      expect(file.headers.get("x-content-type-options")).toBe("nosniff");
      expect(file.headers.get("content-security-policy")).toStartWith("default-src 'none'");
    },
  );
});

test("SES-53 file names and places contain no text of the client", async () => {
  const server = await sameServer();
  const owner = bearer(await server.signedIn("member"));
  const odd = '../../../etc/passwd"; filename=evil.sh';
  const { sessionId } = await capture(server, owner, "text", { session_id: odd, title: odd, cwd: odd });
  const [artifact] = artifactsIn(server);
  expect([artifact?.place, artifact?.store]).toEqual([announcementOf("text").sha256, "local"]);
  const offered = await server.request("POST", `/session-uploads/${sessionId}/download`, owner);
  const file = await server.request("GET", pathIn((await offered.json()).download_url));
  expect(file.headers.get("content-disposition")).toBe(
    `attachment; filename="codex-${sessionId.slice(0, 8)}.tgz"`,
  );
});

describe("SES-30 removal", () => {
  const remove = (server: TestServer, credential: Sent, id: string) =>
    server.request("DELETE", `/session-uploads/${id}`, credential);

  test("is for the owner and administrators, by token and by browser", async () => {
    const server = await sameServer();
    const owner = await server.signedIn("member");
    const one = await capture(server, bearer(owner), "one", { session_id: "one" });
    const two = await capture(server, bearer(owner), "two", { session_id: "two" });
    const colleague = bearer(await server.signedIn("member"));
    expect(await outcomeOf(await remove(server, colleague, one.sessionId))).toEqual([
      403,
      "sessions.not_owner",
    ]);
    expect((await remove(server, browser(owner), one.sessionId)).status).toBe(204);
    expect((await remove(server, bearer(await server.signedIn("admin")), two.sessionId)).status).toBe(204);
    expect((await remove(server, bearer(owner), one.sessionId)).status).toBe(404);
    expect(["one", "two"].map((bytes) => existsSync(fileOf(server, bytes)))).toEqual([false, false]);
  });

  test("refuses to remove a held session", async () => {
    const server = await sameServer();
    const owner = bearer(await server.signedIn("member"));
    const { sessionId } = await capture(server, owner, "text");
    await server.world.db.write((tx) => {
      tx.update(capturedSessions).set({ heldAtMs: 1 }).run();
    });
    expect(await outcomeOf(await remove(server, owner, sessionId))).toEqual([409, "sessions.on_hold"]);
    expect(sessionsIn(server).length).toBe(1);
  });

  test("keeps a file that another owner's session shares until that session is removed", async () => {
    const server = await sameServer();
    const [one, two] = [bearer(await server.signedIn("member")), bearer(await server.signedIn("member"))];
    const first = await capture(server, one, "the same bytes");
    const second = await capture(server, two, "the same bytes");
    await remove(server, one, first.sessionId);
    expect((await server.request("POST", `/session-uploads/${second.sessionId}/download`, two)).status).toBe(
      200,
    );
    await remove(server, two, second.sessionId);
    expect(existsSync(fileOf(server, "the same bytes"))).toBe(false);
  });

  test("answers 404 for the removal of another organization's session", async () => {
    const server = await sameServer();
    const owner = bearer(await server.signedIn("member"));
    const { sessionId } = await capture(server, owner, "text");
    const viewer = { userId: "x", organizationId: "another", isAdministrator: true };
    const removal = server.domain.sessions.removal.remove(server.world.system, viewer, sessionId);
    await expect(removal).rejects.toMatchObject({ reason: "sessions.not_found" });
  });
});
