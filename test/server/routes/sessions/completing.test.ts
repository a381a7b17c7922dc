// Completion, download and removal of captured sessions: who may, when, how bytes are verified, and the effects of races.
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

async function announced(face: TestServer, credential: Sent, bytes: string): Promise<PresignedOnWire> {
  return await (await presign(face, credential, announcementOf(bytes))).json();
}

async function uploaded(face: TestServer, credential: Sent, bytes: string): Promise<PresignedOnWire> {
  const presigned = await announced(face, credential, bytes);
  expect((await upload(face, presigned, bytes)).status).toBe(204);
  return presigned;
}

async function outcomeOf(response: Response): Promise<[number, string | undefined]> {
  const text = await response.text();
  return [response.status, text === "" ? undefined : JSON.parse(text).reason];
}

const complete = (face: TestServer, credential: Sent, { complete_url: path }: PresignedOnWire) =>
  face.request("POST", path, credential);

const sessionsIn = ({ world }: TestServer) => world.db.read.select().from(capturedSessions).all();
const artifactsIn = ({ world }: TestServer) =>
  world.db.read.select().from(sessionArtifacts).orderBy(sessionArtifacts.createdAtMs).all();
const fileOf = ({ world }: TestServer, bytes: string) => {
  const { sha256 } = announcementOf(bytes);
  return `${world.directory}/sessions/sha256/${sha256.slice(0, 2)}/${sha256}`;
};
const auditOf = (face: TestServer, action: string) =>
  face.domain.auditLog.list(face.world.organizationId, { action }).items;

describe("SES-19 completion", () => {
  test.each([
    ["without a body", {}],
    ["with the body that clients send", { body: { sha256: "abc" } }],
    ["with any other body", { body: "<html>", headers: { "content-type": "text/html" } }],
  ])("takes a request %s", async (_, sent) => {
    const face = await sameServer();
    const owner = bearer(await face.signedIn("member"));
    const presigned = await uploaded(face, owner, "text");
    const response = await complete(face, { ...owner, ...sent }, presigned);
    expect([response.status, await response.json()]).toEqual([
      200,
      { id: presigned.upload_id, status: "complete" },
    ]);
  });

  test("sets deadline, metadata and time of the session, and writes one audit entry", async () => {
    const face = await sameServer();
    const owner = await face.signedIn("member");
    const presigned = await uploaded(face, bearer(owner), "text");
    face.world.clock.advance(SECOND_MS);
    const nowMs = face.world.clock.nowMs();
    await complete(face, bearer(owner), presigned);
    await complete(face, bearer(owner), presigned);
    expect(artifactsIn(face)).toMatchObject([
      { status: "complete", completedAtMs: nowMs, expiresAtMs: nowMs + 30 * DAY_MS },
    ]);
    expect(sessionsIn(face)).toMatchObject([
      {
        currentArtifactId: presigned.upload_id,
        updatedAtMs: nowMs,
        title: "A title",
        sharingMode: "private",
      },
    ]);
    expect(auditOf(face, "captured_session.complete").length).toBe(1);
  });

  test("makes the former version an old one, which is kept for some days and not beyond its own deadline", async () => {
    const face = await sameServer();
    const owner = browser(await face.signedIn("member"));
    const first = await capture(face, owner, "one");
    face.world.clock.advance(SECOND_MS);
    const second = await capture(face, owner, "two");
    const nowMs = face.world.clock.nowMs();
    expect(second.sessionId).toBe(first.sessionId);
    expect(artifactsIn(face)).toMatchObject([
      { id: first.uploadId, status: "superseded", supersededAtMs: nowMs, expiresAtMs: nowMs + 7 * DAY_MS },
      { id: second.uploadId, status: "complete" },
    ]);
    const again = await face.request("POST", `/session-uploads/${first.uploadId}/complete`, owner);
    expect([again.status, sessionsIn(face)[0]?.currentArtifactId]).toEqual([200, second.uploadId]);
  });

  test("is refused once the window is over, and answers 200 for what is complete however late", async () => {
    const face = await sameServer();
    const owner = browser(await face.signedIn("member"));
    const [one, two] = [await uploaded(face, owner, "one"), await uploaded(face, owner, "two")];
    face.world.clock.advance(UPLOAD_WINDOW_MS - 1);
    expect((await complete(face, owner, one)).status).toBe(200);
    face.world.clock.advance(1);
    expect(await outcomeOf(await complete(face, owner, two))).toEqual([400, "sessions.window_over"]);
    expect((await complete(face, owner, one)).status).toBe(200);
  });

  test("refuses completion before the upload and accepts it afterwards", async () => {
    const face = await sameServer();
    const owner = bearer(await face.signedIn("member"));
    const presigned = await announced(face, owner, "text");
    expect(await outcomeOf(await complete(face, owner, presigned))).toEqual([400, "sessions.not_uploaded"]);
    expect(artifactsIn(face)[0]?.status).toBe("pending");
    await upload(face, presigned, "text");
    expect((await complete(face, owner, presigned)).status).toBe(200);
  });

  test("refuses completion and keeps the state if the bytes vanished", async () => {
    const face = await sameServer();
    const owner = bearer(await face.signedIn("member"));
    const presigned = await uploaded(face, owner, "text");
    await unlink(fileOf(face, "text"));
    expect(await outcomeOf(await complete(face, owner, presigned))).toEqual([400, "sessions.not_uploaded"]);
    expect(artifactsIn(face)[0]?.status).toBe("pending");
  });

  test("fails if the bytes were damaged, and a repeated upload repairs them", async () => {
    const face = await sameServer();
    const owner = bearer(await face.signedIn("member"));
    const presigned = await uploaded(face, owner, "text");
    await truncate(fileOf(face, "text"), 2);
    expect(await outcomeOf(await complete(face, owner, presigned))).toEqual([
      400,
      "sessions.content_differs",
    ]);
    expect(artifactsIn(face)[0]?.status).toBe("failed");
    const again = await uploaded(face, owner, "text");
    expect((await complete(face, owner, again)).status).toBe(200);
  });

  test("answers 404 for the completion of an unknown upload and of a session's id", async () => {
    const face = await sameServer();
    const owner = bearer(await face.signedIn("member"));
    const { sessionId } = await capture(face, owner, "text");
    for (const id of [UNKNOWN_ID, sessionId])
      expect((await face.request("POST", `/session-uploads/${id}/complete`, owner)).status).toBe(404);
  });

  test("is the owner's and an administrator's; a colleague is refused", async () => {
    const face = await sameServer();
    const presigned = await uploaded(face, bearer(await face.signedIn("member")), "text");
    const colleague = bearer(await face.signedIn("member"));
    expect(await outcomeOf(await complete(face, colleague, presigned))).toEqual([403, "sessions.not_owner"]);
    const narrow = bearer(await face.signedIn("admin", { scope: "session:write" }));
    expect(await outcomeOf(await complete(face, narrow, presigned))).toEqual([403, "sessions.not_owner"]);
    expect((await complete(face, bearer(await face.signedIn("admin")), presigned)).status).toBe(200);
  });
});

test("SES-51 whoever announces bytes of another owner without sending them does not get them", async () => {
  const face = await sameServer();
  await capture(face, bearer(await face.signedIn("member")), "a secret");
  const thief = bearer(await face.signedIn("member"));
  const presigned = await announced(face, thief, "a secret");
  expect(await outcomeOf(await complete(face, thief, presigned))).toEqual([400, "sessions.not_uploaded"]);
});

describe("SES-58 two callers at once", () => {
  test("confirms an upload that several callers complete at once and writes one audit entry", async () => {
    const face = await sameServer();
    const owner = bearer(await face.signedIn("member"));
    const presigned = await uploaded(face, owner, "text");
    const answers = await Promise.all(Array.from({ length: 8 }, () => complete(face, owner, presigned)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(auditOf(face, "captured_session.complete").length).toBe(1);
  });

  test("makes one of two versions that are completed at once current and the other old", async () => {
    const face = await sameServer();
    const owner = bearer(await face.signedIn("member"));
    const both = [await uploaded(face, owner, "one"), await uploaded(face, owner, "two")];
    await Promise.all(both.map((presigned) => complete(face, owner, presigned)));
    expect(
      artifactsIn(face)
        .map(({ status }) => status)
        .sort(),
    ).toEqual(["complete", "superseded"]);
    const current = artifactsIn(face).find(({ status }) => status === "complete");
    expect(sessionsIn(face)[0]?.currentArtifactId).toBe(current?.id ?? "");
  });

  test("leaves nothing and never answers 5xx if one caller completes while the other removes the session", async () => {
    const face = await sameServer();
    const owner = bearer(await face.signedIn("member"));
    for (let round = 0; round < 10; round += 1) {
      const { sessionId } = await capture(face, owner, `old ${round}`);
      const presigned = await uploaded(face, owner, `new ${round}`);
      const [completed, removed] = await Promise.all([
        complete(face, owner, presigned),
        face.request("DELETE", `/session-uploads/${sessionId}`, owner),
      ]);
      expect([[200, 400, 404].includes(completed.status), removed.status]).toEqual([true, 204]);
      expect([sessionsIn(face), artifactsIn(face)]).toEqual([[], []]);
      const files = [`old ${round}`, `new ${round}`].map((bytes) => existsSync(fileOf(face, bytes)));
      expect(files).toEqual([false, false]);
    }
  });

  test("keeps rows and files consistent if one caller uploads what the other removes", async () => {
    const face = await sameServer();
    const [one, two] = [bearer(await face.signedIn("member")), bearer(await face.signedIn("member"))];
    for (let round = 0; round < 10; round += 1) {
      const { sessionId } = await capture(face, one, "the same bytes");
      const presigned = await announced(face, two, "the same bytes");
      const [stored] = await Promise.all([
        upload(face, presigned, "the same bytes"),
        face.request("DELETE", `/session-uploads/${sessionId}`, one),
      ]);
      expect([stored.status, (await complete(face, two, presigned)).status]).toEqual([204, 200]);
      const id = artifactsIn(face)[0]?.sessionId ?? "";
      expect((await face.request("POST", `/session-uploads/${id}/download`, two)).status).toBe(200);
      await face.request("DELETE", `/session-uploads/${id}`, two);
    }
  });
});

describe("SES-28 SES-51 a download", () => {
  const download = (face: TestServer, credential: Sent, id: string) =>
    face.request("POST", `/session-uploads/${id}/download`, credential);
  const share = ({ world }: TestServer, id: string, mode: "workspace" | "selected", userId?: string) =>
    world.db.write((tx) => {
      tx.update(capturedSessions).set({ sharingMode: mode }).where(eq(capturedSessions.id, id)).run();
      if (userId)
        tx.insert(sessionGrants).values({ sessionId: id, userId, updatedAtMs: 0, harness: "codex" }).run();
    });

  test("is refused to a colleague until the session is shared with them", async () => {
    const face = await sameServer();
    const { sessionId } = await capture(face, bearer(await face.signedIn("member")), "text");
    const [named, other] = [await face.signedIn("member"), await face.signedIn("member")];
    expect(await outcomeOf(await download(face, bearer(named), sessionId))).toEqual([
      403,
      "sessions.not_visible",
    ]);
    await share(face, sessionId, "selected", named.user.id);
    expect((await download(face, bearer(named), sessionId)).status).toBe(200);
    expect((await download(face, bearer(other), sessionId)).status).toBe(403);
    await share(face, sessionId, "workspace");
    expect((await download(face, bearer(other), sessionId)).status).toBe(200);
  });

  test("is the administrator's, with the scope that administration needs", async () => {
    const face = await sameServer();
    const { sessionId } = await capture(face, bearer(await face.signedIn("member")), "text");
    expect((await download(face, bearer(await face.signedIn("admin")), sessionId)).status).toBe(200);
    const narrow = bearer(await face.signedIn("admin", { scope: "session:write" }));
    expect((await download(face, narrow, sessionId)).status).toBe(403);
  });

  test("needs no scope", async () => {
    const face = await sameServer();
    const owner = await face.signedIn("member");
    const { sessionId } = await capture(face, bearer(owner), "text");
    const narrow = await face.signInAgain(owner.user, { scope: "client-status:write" });
    expect((await download(face, bearer(narrow), sessionId)).status).toBe(200);
  });

  test("answers 404 for the download of an unknown session and of one that is only announced", async () => {
    const face = await sameServer();
    const owner = bearer(await face.signedIn("member"));
    await announced(face, owner, "text");
    for (const id of [UNKNOWN_ID, sessionsIn(face)[0]?.id ?? ""])
      expect(await outcomeOf(await download(face, owner, id))).toEqual([404, "sessions.not_found"]);
  });

  test("is offered for its time and audited without titles, paths or addresses", async () => {
    const face = await sameServer();
    const owner = await face.signedIn("member");
    const { sessionId } = await capture(face, bearer(owner), "text", { title: "secret title" });
    const { download_url: url } = await (await download(face, bearer(owner), sessionId)).json();
    const expires = Number(new URL(url).searchParams.get("expires"));
    face.world.clock.set(expires * SECOND_MS - 1);
    expect((await face.request("GET", pathIn(url))).status).toBe(200);
    face.world.clock.set(expires * SECOND_MS);
    expect((await face.request("GET", pathIn(url))).status).toBe(403);
    const [entry] = auditOf(face, "captured_session.download");
    expect(entry).toMatchObject({ actorId: owner.user.id, target: sessionId });
    const written = JSON.stringify([entry, auditOf(face, "captured_session.complete"), face.logged]);
    for (const secret of ["secret title", "/home/ada", "signature="]) expect(written).not.toContain(secret);
  });

  test("answers 410 after the deadline and before the download is offered", async () => {
    await using face = await createSessionServer({
      sessions: { retentionDays: 1 },
      access: { browserSessionTtlSeconds: 2_592_000 },
    });
    const owner = browser(await face.signedIn("member"));
    const { sessionId } = await capture(face, owner, "text");
    face.world.clock.advance(DAY_MS - 1);
    expect((await download(face, owner, sessionId)).status).toBe(200);
    face.world.clock.advance(1);
    expect(await outcomeOf(await download(face, owner, sessionId))).toEqual([410, "sessions.expired"]);
  });

  test("answers 410 for a file that vanished after the offer, and records the loss", async () => {
    const face = await sameServer();
    const owner = bearer(await face.signedIn("member"));
    const { sessionId } = await capture(face, owner, "text");
    const { download_url: url } = await (await download(face, owner, sessionId)).json();
    await unlink(fileOf(face, "text"));
    expect(await outcomeOf(await face.request("GET", pathIn(url)))).toEqual([410, "sessions.bytes_lost"]);
    expect(auditOf(face, "captured_session.lose").length).toBe(1);
  });
});

describe("SES-52 uploaded bytes", () => {
  test.each(["text/html", "image/svg+xml", "application/javascript"])(
    "serves uploaded bytes of the type %s as an opaque attachment",
    async (type) => {
      const face = await sameServer();
      const owner = bearer(await face.signedIn("member"));
      const { sessionId } = await capture(face, owner, "<script>alert(1)</script>", { content_type: type });
      const offered = await face.request("POST", `/session-uploads/${sessionId}/download`, owner);
      const file = await face.request("GET", pathIn((await offered.json()).download_url));
      expect(file.headers.get("content-type")).toBe("application/octet-stream");
      expect(file.headers.get("content-disposition")).toStartWith("attachment;");
      expect(file.headers.get("x-content-type-options")).toBe("nosniff");
      expect(file.headers.get("content-security-policy")).toStartWith("default-src 'none'");
    },
  );
});

test("SES-53 file names and places contain nothing that the client sent", async () => {
  const face = await sameServer();
  const owner = bearer(await face.signedIn("member"));
  const odd = '../../../etc/passwd"; filename=evil.sh';
  const { sessionId } = await capture(face, owner, "text", { session_id: odd, title: odd, cwd: odd });
  const [artifact] = artifactsIn(face);
  expect([artifact?.place, artifact?.store]).toEqual([announcementOf("text").sha256, "local"]);
  const offered = await face.request("POST", `/session-uploads/${sessionId}/download`, owner);
  const file = await face.request("GET", pathIn((await offered.json()).download_url));
  expect(file.headers.get("content-disposition")).toBe(
    `attachment; filename="codex-${sessionId.slice(0, 8)}.tgz"`,
  );
});

describe("SES-30 removal", () => {
  const remove = (face: TestServer, credential: Sent, id: string) =>
    face.request("DELETE", `/session-uploads/${id}`, credential);

  test("is the owner's and the administrator's, by token and by browser", async () => {
    const face = await sameServer();
    const owner = await face.signedIn("member");
    const one = await capture(face, bearer(owner), "one", { session_id: "one" });
    const two = await capture(face, bearer(owner), "two", { session_id: "two" });
    const colleague = bearer(await face.signedIn("member"));
    expect(await outcomeOf(await remove(face, colleague, one.sessionId))).toEqual([
      403,
      "sessions.not_owner",
    ]);
    expect((await remove(face, browser(owner), one.sessionId)).status).toBe(204);
    expect((await remove(face, bearer(await face.signedIn("admin")), two.sessionId)).status).toBe(204);
    expect((await remove(face, bearer(owner), one.sessionId)).status).toBe(404);
    expect(["one", "two"].map((bytes) => existsSync(fileOf(face, bytes)))).toEqual([false, false]);
  });

  test("refuses to remove a held session", async () => {
    const face = await sameServer();
    const owner = bearer(await face.signedIn("member"));
    const { sessionId } = await capture(face, owner, "text");
    await face.world.db.write((tx) => {
      tx.update(capturedSessions).set({ heldAtMs: 1 }).run();
    });
    expect(await outcomeOf(await remove(face, owner, sessionId))).toEqual([409, "sessions.on_hold"]);
    expect(sessionsIn(face).length).toBe(1);
  });

  test("keeps a file that another owner's session shares, until that goes too", async () => {
    const face = await sameServer();
    const [one, two] = [bearer(await face.signedIn("member")), bearer(await face.signedIn("member"))];
    const first = await capture(face, one, "the same bytes");
    const second = await capture(face, two, "the same bytes");
    await remove(face, one, first.sessionId);
    expect((await face.request("POST", `/session-uploads/${second.sessionId}/download`, two)).status).toBe(
      200,
    );
    await remove(face, two, second.sessionId);
    expect(existsSync(fileOf(face, "the same bytes"))).toBe(false);
  });

  test("answers 404 for the removal of another organization's session", async () => {
    const face = await sameServer();
    const owner = bearer(await face.signedIn("member"));
    const { sessionId } = await capture(face, owner, "text");
    const viewer = { userId: "x", organizationId: "another", isAdministrator: true };
    const removal = face.domain.sessions.removal.remove(face.world.system, viewer, sessionId);
    await expect(removal).rejects.toMatchObject({ reason: "sessions.not_found" });
  });
});
