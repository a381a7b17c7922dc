// Archives of packages over a real socket, uploaded correctly and incorrectly.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ARCHIVE_LIMITS } from "../../../../src/domain/catalog/archive/archive.ts";
import { UPLOAD_NAME_CHARACTERS_MAX } from "../../../../src/domain/catalog/sources/package-sources.ts";
import { sha256Hex } from "../../../../src/platform/ids.ts";
import { tarFile, tarGzOf } from "../../../support/content/tar.ts";
import { createListeningServer, type ListeningServer } from "../../../support/network/listening-server.ts";
import { converse, type Step } from "../../../support/network/raw-socket.ts";

const TIMES = { idleMs: 250, wholeMs: 5_000 };
const PATH = "/admin/package-source/upload";
const ARCHIVE = tarGzOf(tarFile("skills/guide/SKILL.md", "# Guide\n"));

let server: ListeningServer;
let token: string;
beforeAll(async () => {
  server = await createListeningServer({ uploadTimes: TIMES });
  token = (await server.signedIn("admin")).accessToken;
});
afterAll(() => server[Symbol.asyncDispose]());

const send = (body: BodyInit, { name = "guide.tar.gz", as = token, headers = {} } = {}) =>
  fetch(`${server.origin}${PATH}?name=${encodeURIComponent(name)}`, {
    method: "POST",
    headers: { authorization: `Bearer ${as}`, ...headers },
    body,
  });

const responseOf = async (response: Response) => {
  const { reason } = await response.json();
  return [response.status, reason];
};

const keptFiles = () =>
  readdirSync(join(server.world.directory, "artifacts"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

/** Writes a raw request. @returns the status line and the reason */
async function talk(headers: readonly string[], body: readonly Step[]): Promise<string> {
  const head = [`POST ${PATH}?name=a.tar.gz HTTP/1.1`, "Host: localhost", `Authorization: Bearer ${token}`];
  const steps = [`${[...head, ...headers].join("\r\n")}\r\n\r\n`, ...body];
  const { text } = await converse({ address: server.origin }, steps, 3_000);
  return `${text.slice(9, 12)} ${/"reason":"([^"]*)"/.exec(text)?.[1]}`;
}

test("rejects a body that is not an archive or is truncated, and stores nothing", async () => {
  expect(await responseOf(await send("no archive"))).toEqual([422, "archive.not_gzip"]);
  expect(await responseOf(await send(new Uint8Array(ARCHIVE.subarray(0, 40))))).toEqual([
    422,
    "archive.truncated",
  ]);
  expect(keptFiles()).toEqual([]);
});

test("a sender that disconnects or stops sending is refused, and nothing is stored", async () => {
  const length = `Content-Length: ${ARCHIVE.byteLength}`;
  expect(await talk([length], ["some bytes", TIMES.idleMs * 3])).toBe("408 request.too_slow");
  const { origin } = server;
  const leaving = new AbortController();
  const pieces = new ReadableStream({
    async pull(controller) {
      controller.enqueue(new Uint8Array(ARCHIVE.subarray(0, 40)));
      await Bun.sleep(20);
      leaving.abort();
    },
  });
  const headers = { authorization: `Bearer ${token}` };
  const attempt = fetch(`${origin}${PATH}?name=a`, {
    method: "POST",
    headers,
    body: pieces,
    signal: leaving.signal,
  });
  await expect(attempt).rejects.toThrow();
  for (let waited = 0; waited < 100 && keptFiles().length > 0; waited++) await Bun.sleep(10);
  expect(keptFiles()).toEqual([]);
});

test.each([
  ["below", -1, "408 request.too_slow"],
  ["at", 0, "408 request.too_slow"],
  ["above", 1, "413 request.too_large"],
])(
  "a declared length %s the limit: only one above it is refused before the body arrives",
  async (_name, more, answer) => {
    const length = ARCHIVE_LIMITS.compressedBytesMax + more;
    expect(await talk([`Content-Length: ${length}`], ["some bytes", TIMES.idleMs * 3])).toBe(answer);
    expect(keptFiles()).toEqual([]);
  },
);

test("stores and describes an archive, with a declared length and in chunks", async () => {
  const response = await send(new Uint8Array(ARCHIVE));
  expect(response.status).toBe(200);
  expect(response.headers.get("cache-control")).toBe("no-store");
  const sha256 = sha256Hex(ARCHIVE);
  const found = await response.json();
  expect(found).toMatchObject({
    source_ref: "guide.tar.gz",
    sha256,
    size_bytes: ARCHIVE.byteLength,
    entries: 1,
    paths: ["skills/guide/SKILL.md"],
    runtime_downloads: [],
    adapters: { codex: { skills_dir: "skills", plugins: [], helpers: {} } },
  });
  const pieces = new ReadableStream({
    start(controller) {
      controller.enqueue(new Uint8Array(ARCHIVE.subarray(0, 40)));
      controller.enqueue(new Uint8Array(ARCHIVE.subarray(40)));
      controller.close();
    },
  });
  const again = await (await send(pieces)).json();
  expect(again.artifact_id).toBe(found.artifact_id);
  expect(keptFiles()).toEqual([sha256]);
});

test("the name has a limit, and a compressed body is refused", async () => {
  const reasonOf = async (length: number) =>
    (await responseOf(await send("no archive", { name: "a".repeat(length) })))[1];
  const reasons = [-1, 0, 1].map((more) => reasonOf(UPLOAD_NAME_CHARACTERS_MAX + more));
  expect(await Promise.all(reasons)).toEqual(["archive.not_gzip", "archive.not_gzip", "request.invalid"]);
  const refused = await send(new Uint8Array(ARCHIVE), { headers: { "content-encoding": "gzip" } });
  expect(await responseOf(refused)).toEqual([415, "request.content_encoding"]);
});

test("a member may not upload, and nothing of the body is kept", async () => {
  const { accessToken } = await server.signedIn("member");
  const before = keptFiles();
  const other = tarGzOf(tarFile("other"));
  expect((await send(new Uint8Array(other), { as: accessToken })).status).toBe(403);
  expect(keptFiles()).toEqual(before);
});
