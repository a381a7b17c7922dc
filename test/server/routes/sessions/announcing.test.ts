// Announcements of captured sessions: refusals, idempotency, and the maximum number of pending ones.
import { describe, expect, test } from "bun:test";
import { unlink } from "node:fs/promises";
import { eq } from "drizzle-orm";
import {
  PENDING_BYTES_PER_USER_MAX,
  PENDING_PER_USER_MAX,
  UPLOAD_BYTES_MAX,
  UPLOAD_WINDOW_MS,
} from "../../../../src/domain/sessions/limits.ts";
import { capturedSessions, sessionArtifacts } from "../../../../src/domain/sessions/tables.ts";
import { DAY_MS, SECOND_MS } from "../../../../src/platform/clock.ts";
import { BODY_BYTES_MAX } from "../../../../src/server/http/bodies/body.ts";
import { publishFirst } from "../../../support/content/policy.ts";
import {
  announcementOf,
  capture,
  createSessionServer,
  type PresignedOnWire,
  presign,
  upload,
} from "../../../support/content/sessions.ts";
import { type Caller, createTestServer, type TestServer } from "../../../support/server.ts";
import { sharedServer } from "../../../support/shared.ts";

const sameServer = sharedServer(createSessionServer);
const bearer = ({ accessToken }: Caller) => ({ token: accessToken });
const member = async (server: TestServer) => bearer(await server.signedIn("member"));

const DIGEST = "a".repeat(64);
const announce = (more: object = {}) => announcementOf("text", more);

async function outcomeOf(response: Response): Promise<[number, string | undefined, string[]]> {
  const { reason, errors = [] } = await response.json();
  return [response.status, reason, errors.map(({ pointer }: { pointer: string }) => pointer)];
}

async function presigned(
  server: TestServer,
  credential: object,
  more: object = {},
): Promise<PresignedOnWire> {
  const response = await presign(server, credential, announce(more));
  if (response.status !== 200) throw new Error(await response.text());
  return await response.json();
}

const sessionsIn = ({ world }: TestServer) => world.db.read.select().from(capturedSessions).all();
const artifactsIn = ({ world }: TestServer) => world.db.read.select().from(sessionArtifacts).all();

describe("SES-2 a wrong value is refused with 400", () => {
  test.each([
    ["an unknown harness", { harness: "vim" }, ["/harness"]],
    [
      "an alias of a harness",
      { harness: "claude-code", compatibility_profile: "legacy", resumable: false },
      ["/harness"],
    ],
    [
      "a profile of another harness",
      { compatibility_profile: "kimi-v0_0_0", resumable: false },
      ["/compatibility_profile"],
    ],
    ["a digest that is too short", { sha256: "ab" }, ["/sha256"]],
    ["a digest with other letters", { sha256: "g".repeat(64) }, ["/sha256"]],
    ["a negative size", { size_bytes: -1 }, ["/size_bytes"]],
    ["half a byte", { size_bytes: 1.5 }, ["/size_bytes"]],
    ["an empty session id", { session_id: "" }, ["/session_id"]],
    ["half a character", { session_id: "\ud800" }, ["/session_id"]],
    ["NUL in a title", { title: "a\0b" }, ["/title"]],
    ["a content type without a subtype", { content_type: "text" }, ["/content_type"]],
    ["two content types", { content_type: "text/plain, text/html" }, ["/content_type"]],
    ["a line break in a content type", { content_type: "text/plain\r\nx: y" }, ["/content_type"]],
    ["an empty content type", { content_type: "" }, ["/content_type"]],
    ["an unknown format", { artifact_format: "zip", resumable: false }, ["/artifact_format"]],
    ["a raw format that is resumable", { artifact_format: "legacy-raw" }, ["/resumable"]],
    ["a legacy profile that is resumable", { compatibility_profile: "legacy" }, ["/resumable"]],
    ["a profile that cannot resume", { compatibility_profile: "codex-v0_0_0" }, ["/resumable"]],
    ["a negative time", { captured_at_unix_ms: -1 }, ["/captured_at_unix_ms"]],
  ])("%s", async (_, more, pointers) => {
    const server = await sameServer();
    const response = await presign(server, await member(server), announce(more));
    expect(await outcomeOf(response)).toEqual([400, "sessions.invalid", pointers]);
    expect([sessionsIn(server), artifactsIn(server)]).toEqual([[], []]);
  });

  test("a refused harness is quoted", async () => {
    const server = await sameServer();
    const { detail } = await (
      await presign(server, await member(server), announce({ harness: "vim" }))
    ).json();
    expect(detail).toStartWith('"vim" is not a harness; the harnesses are ');
  });

  test("all problems are named together", async () => {
    const server = await sameServer();
    const wrong = {
      harness: "vim",
      session_id: "é".repeat(513),
      sha256: "x",
      size_bytes: -1,
      content_type: `text/${"x".repeat(252)}`,
      cwd: "x".repeat(4097),
      artifact_format: "zip",
      resumable: true,
      title: "x".repeat(257),
      summary: "x".repeat(1025),
      captured_at_unix_ms: -1,
      repository_root: "x".repeat(4097),
      repository_remote: "x".repeat(4097),
    };
    const [status, , pointers] = await outcomeOf(
      await presign(server, await member(server), announce(wrong)),
    );
    expect([status, [...new Set(pointers)].sort()]).toEqual([
      400,
      Object.keys(wrong)
        .map((name) => `/${name}`)
        .sort(),
    ]);
  });
});

test("SES-2 a wrong shape is refused with 422 and all problems", async () => {
  const server = await sameServer();
  const response = await presign(server, await member(server), {
    ...announce({ harness: 1, size_bytes: "5", title: [], resumable: "yes" }),
    session_id: undefined,
  });
  const [status, , pointers] = await outcomeOf(response);
  expect([status, pointers.sort()]).toEqual([
    422,
    ["/harness", "/resumable", "/session_id", "/size_bytes", "/title"],
  ]);
});

test.each([
  ["no bytes", { size_bytes: 0 }],
  ["a session id of 512 odd characters", { session_id: "𝒳\u202e'\"\\%_\n".repeat(64) }],
  ["texts at their limits", { cwd: "é".repeat(4096), title: "𝒳".repeat(256), summary: "é".repeat(1024) }],
  [
    "only what is required",
    {
      cwd: undefined,
      title: undefined,
      summary: undefined,
      resumable: undefined,
      artifact_format: undefined,
      compatibility_profile: undefined,
    },
  ],
  ["a content type with parameters", { content_type: 'text/plain; charset=utf-8; x="a b"' }],
  ["a member that only newer clients know", { newer: true }],
])("SES-2 %s is accepted", async (_, more) => {
  const server = await sameServer();
  expect((await presign(server, await member(server), announce(more))).status).toBe(200);
});

test("SES-2 a digest in upper case is stored in lower case", async () => {
  const server = await sameServer();
  await presigned(server, await member(server), { sha256: DIGEST.toUpperCase() });
  expect(artifactsIn(server).map(({ sha256 }) => sha256)).toEqual([DIGEST]);
});

test.each([
  ["0", 0, null],
  ["a known time", 1_767_225_600_000, 1_767_225_600_000],
])("SES-2 the capture time %s is read", async (_, sent, kept) => {
  const server = await sameServer();
  await presigned(server, await member(server), { captured_at_unix_ms: sent });
  expect(artifactsIn(server).map(({ capturedAtMs }) => capturedAtMs)).toEqual([kept]);
});

describe("SES-3 the order of refusals", () => {
  test.each([
    [
      "a body of another type before its content",
      { headers: { "content-type": "text/plain" }, body: "{" },
      415,
    ],
    ["a body above the limit before its syntax", { body: "{".repeat(BODY_BYTES_MAX + 1) }, 413],
    ["malformed JSON before the schema", { body: "{" }, 400],
    ["the schema before values", { body: { harness: 1 } }, 422],
  ])("%s", async (_, sent, status) => {
    const server = await sameServer();
    const response = await server.request("POST", "/session-uploads/presign", {
      ...(await member(server)),
      ...sent,
    });
    expect(response.status).toBe(status);
  });

  test("a wrong value before the policy", async () => {
    await using server = await createTestServer();
    await publishFirst(server);
    const credential = await member(server);
    const wrong = await presign(server, credential, announce({ sha256: "x" }));
    expect((await outcomeOf(wrong))[1]).toBe("sessions.invalid");
    expect((await outcomeOf(await presign(server, credential, announce())))[1]).toBe("sessions.capture_off");
  });

  test("a harness that the policy does not allow", async () => {
    await using server = await createTestServer();
    await publishFirst(server, {
      session_upload: { presign_url: "https://control.example.com/session-uploads/presign" },
      allowed_harnesses: ["claude"],
    });
    const response = await presign(server, await member(server), announce());
    expect(await outcomeOf(response)).toEqual([403, "sessions.harness_not_allowed", []]);
  });
});

test("SES-4 a former name of a profile identifies the same session as its current name", async () => {
  const server = await sameServer();
  const credential = await member(server);
  const one = await presigned(server, credential, { compatibility_profile: "codex-v1" });
  const other = await presigned(server, credential, { compatibility_profile: "codex-v0_145_0" });
  expect([one.upload_id, sessionsIn(server).map(({ profile }) => profile)]).toEqual([
    other.upload_id,
    ["codex-v0_145_0"],
  ]);
});

test("SES-6 three simultaneous announcements end in one upload", async () => {
  const server = await sameServer();
  const credential = await member(server);
  const all = await Promise.all([1, 2, 3].map(() => presigned(server, credential)));
  expect(new Set(all.map(({ upload_id: id }) => id)).size).toBe(1);
  expect([sessionsIn(server).length, artifactsIn(server).length]).toEqual([1, 1]);
});

test("SES-6 SES-8 an announcement repeated later gets a new address and a new window", async () => {
  const server = await sameServer();
  const credential = { cookie: (await server.signedIn("member")).cookie };
  const one = await presigned(server, credential);
  server.world.clock.advance(UPLOAD_WINDOW_MS - 1);
  const other = await presigned(server, credential);
  expect([other.upload_id, other.upload_url === one.upload_url]).toEqual([one.upload_id, false]);
  server.world.clock.advance(UPLOAD_WINDOW_MS - 1);
  expect((await upload(server, other, "text")).status).toBe(403); // its URL has expired
  const last = await presigned(server, credential);
  expect((await upload(server, last, "text")).status).toBe(204);
  expect((await server.request("POST", last.complete_url, credential)).status).toBe(200);
});

test("SES-8 the lifetime of an address is the setting's", async () => {
  await using server = await createSessionServer({ sessions: { urlTtlSeconds: 60 } });
  const { upload_url: url } = await presigned(server, await member(server));
  const expires = Number(new URL(url).searchParams.get("expires"));
  expect(expires - server.world.clock.nowMs() / SECOND_MS).toBe(60);
});

test("SES-5 a complete session past its deadline is uploaded again and gets a new deadline", async () => {
  await using server = await createSessionServer({ access: { accessTokenTtlSeconds: 60 * 86_400 } });
  const credential = await member(server);
  const { sessionId } = await capture(server, credential, "text");
  server.world.clock.advance(30 * DAY_MS);
  const download = () => server.request("POST", `/session-uploads/${sessionId}/download`, credential);
  expect(await outcomeOf(await download())).toEqual([410, "sessions.expired", []]);
  const again = await capture(server, credential, "text");
  expect(again.sessionId).toBe(sessionId);
  expect((await download()).status).toBe(200);
});

test("SES-5 SES-57 a complete session with lost bytes answers 410 and is uploaded again", async () => {
  const server = await sameServer();
  const owner = await server.signedIn("member");
  const { sessionId } = await capture(server, bearer(owner), "text");
  const { sha256 } = announce();
  await unlink(`${server.world.directory}/sessions/sha256/${sha256.slice(0, 2)}/${sha256}`);
  const download = () => server.request("POST", `/session-uploads/${sessionId}/download`, bearer(owner));
  expect(await outcomeOf(await download())).toEqual([410, "sessions.bytes_lost", []]);
  expect(await outcomeOf(await download())).toEqual([410, "sessions.bytes_lost", []]);
  await capture(server, bearer(owner), "text");
  expect((await download()).status).toBe(200);
  const { items } = server.domain.auditLog.list(server.world.organizationId, {
    action: "captured_session.lose",
  });
  expect(items.length).toBe(1);
});

test("SES-32 SES-57 uploading lost bytes again restores the sessions of all owners who share them", async () => {
  const server = await sameServer();
  const [ada, ben] = [await server.signedIn("member"), await server.signedIn("member")];
  const content = "shared bytes";
  const kept = await Promise.all([ada, ben].map((owner) => capture(server, bearer(owner), content)));
  const { sha256 } = announcementOf(content);
  await unlink(`${server.world.directory}/sessions/sha256/${sha256.slice(0, 2)}/${sha256}`);
  const downloads = () =>
    Promise.all(
      [ada, ben].map(async (owner, at) => {
        const path = `/session-uploads/${kept[at]?.sessionId}/download`;
        return (await server.request("POST", path, bearer(owner))).status;
      }),
    );
  expect(await downloads()).toEqual([410, 410]);
  await upload(server, await (await presign(server, bearer(ada), announcementOf(content))).json(), content);
  expect(await downloads()).toEqual([200, 200]);
  const { items } = server.domain.auditLog.list(server.world.organizationId, {
    action: "captured_session.recover",
  });
  expect(items.map(({ target }) => target).sort()).toEqual(kept.map(({ sessionId }) => sessionId).sort());
});

test("SES-7 readers see no effect of a pending version", async () => {
  const server = await sameServer();
  const credential = await member(server);
  await capture(server, credential, "text", { title: "Before" });
  const before = sessionsIn(server);
  server.world.clock.advance(SECOND_MS);
  await presign(server, credential, announcementOf("other text", { title: "After" }));
  expect(sessionsIn(server)).toEqual(before);
  await capture(server, credential, "other text", { title: "After" });
  expect(sessionsIn(server).map(({ title }) => title)).toEqual(["After"]);
});

describe("SES-9 unfinished uploads of one user", () => {
  const digestOf = (at: number) => at.toString(16).padStart(64, "0");

  async function announceMany(server: TestServer, credential: object, count: number, more: object = {}) {
    for (let at = 0; at < count; at += 1)
      await presigned(server, credential, { sha256: digestOf(at), size_bytes: 1, ...more });
  }

  test(`allows at most ${PENDING_PER_USER_MAX} unfinished uploads`, async () => {
    const server = await sameServer();
    const credential = await member(server);
    await announceMany(server, credential, PENDING_PER_USER_MAX);
    const response = await presign(server, credential, announce({ sha256: DIGEST }));
    expect(response.headers.get("retry-after")).toBe("60");
    const { detail } = await response.clone().json();
    expect(detail).toStartWith("at most 200 uploads of 8.0 GiB in total may be unfinished; ");
    expect(await outcomeOf(response)).toEqual([429, "sessions.too_many_pending", []]);
    const repeated = await presign(server, credential, announce({ sha256: digestOf(0), size_bytes: 1 }));
    expect(repeated.status).toBe(200);
    expect((await presign(server, await member(server), announce({ sha256: DIGEST }))).status).toBe(200);
  });

  test(`have at most ${PENDING_BYTES_PER_USER_MAX} bytes`, async () => {
    const server = await sameServer();
    const owner = await server.signedIn("member");
    await announceMany(server, bearer(owner), 1);
    const others = PENDING_BYTES_PER_USER_MAX - UPLOAD_BYTES_MAX;
    await server.world.db.write((tx) => {
      tx.update(sessionArtifacts)
        .set({ sizeBytes: others })
        .where(eq(sessionArtifacts.userId, owner.user.id))
        .run();
    });
    const outcome = async (size: number) =>
      (await presign(server, bearer(owner), announce({ sha256: DIGEST, size_bytes: size }))).status;
    expect([await outcome(UPLOAD_BYTES_MAX - 1), await outcome(UPLOAD_BYTES_MAX)]).toEqual([200, 200]);
    await server.world.db.write((tx) => {
      tx.update(sessionArtifacts)
        .set({ sizeBytes: others + 1 })
        .where(eq(sessionArtifacts.sha256, digestOf(0)))
        .run();
    });
    expect(await outcome(UPLOAD_BYTES_MAX)).toBe(429);
  });
});

test("SES-41 the quota of all sessions is refused above its limit only", async () => {
  await using server = await createSessionServer({ sessions: { totalBytesMax: 10 } });
  const credential = await member(server);
  const outcome = async (size: number) => {
    const response = await presign(server, credential, announce({ sha256: DIGEST, size_bytes: size }));
    return [response.status, (await response.json()).reason, response.headers.get("retry-after")];
  };
  expect((await outcome(9))[0]).toBe(200);
  expect((await outcome(10))[0]).toBe(200);
  expect(await outcome(11)).toEqual([503, "sessions.quota_reached", "60"]);
});
