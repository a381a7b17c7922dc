// Correct and incorrect uploads of captured sessions over a real socket.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { SECOND_MS } from "../../../../src/platform/clock.ts";
import {
  announcementOf,
  type PresignedOnWire,
  presign,
  withCapture,
} from "../../../support/content/sessions.ts";
import { createListeningServer, type ListeningServer } from "../../../support/network/listening-server.ts";
import { converse, type Step } from "../../../support/network/raw-socket.ts";

const TIMES = { idleMs: 250, wholeMs: 600 };
/** longer than the idle time of these tests */
const PAUSE_MS = 500;
const BYTES = "the bytes of a session";
const TYPE = "application/vnd.blue.session-bundle+tar+gzip";

let server: ListeningServer;
let token: string;
beforeAll(async () => {
  server = await withCapture(await createListeningServer({ uploadTimes: TIMES }));
  token = (await server.signedIn("member")).accessToken;
});
afterAll(() => server[Symbol.asyncDispose]());

let count = 0;

/** Announces a separate session. */
async function announced(bytes: string | Uint8Array = BYTES, more: object = {}): Promise<PresignedOnWire> {
  count += 1;
  const announcement = announcementOf(bytes, { session_id: `native-${count}`, ...more });
  return await (await presign(server, { token }, announcement)).json();
}

/** @returns what is stored: the state, and whether the bytes are verified */
function stateOf({ upload_id: id }: PresignedOnWire): string {
  const artifact = server.domain.sessions.artifact({ organizationId: server.world.organizationId, id });
  return `${artifact?.status}${artifact?.storedAtMs === null ? "" : ", proved"}`;
}

const temporaryFiles = async (): Promise<string[]> =>
  (await readdir(join(server.world.directory, "sessions"))).filter((name) => name.startsWith("put-"));

interface Answered {
  status: number;
  reason: string | undefined;
}

async function answerOf(response: Response): Promise<Answered> {
  const text = await response.text();
  return { status: response.status, reason: text === "" ? undefined : JSON.parse(text).reason };
}

const send = async (
  url: string,
  init: RequestInit & { headers?: Record<string, string> },
): Promise<Answered> => answerOf(await fetch(url, { method: "PUT", ...init }));

/** Writes a raw request. @returns the status, and whether the server closed the connection */
async function talk(
  { upload_url: url }: PresignedOnWire,
  headers: readonly string[],
  body: readonly Step[],
  waitMaxMs = 5_000,
): Promise<{ status: number; isClosed: boolean }> {
  const { pathname, search, host } = new URL(url);
  const head = [`PUT ${pathname}${search} HTTP/1.1`, `Host: ${host}`, `Content-Type: ${TYPE}`, ...headers];
  const { text, isClosed } = await converse(
    { address: server.origin },
    [`${head.join("\r\n")}\r\n\r\n`, ...body],
    waitMaxMs,
  );
  return { status: Number(text.split(" ")[1]), isClosed };
}

test("SES-11 SES-13 fetch uploads the bytes, and again", async () => {
  const presigned = await announced();
  for (const _ of ["first", "repeated"]) {
    const response = await fetch(presigned.upload_url, {
      method: "PUT",
      headers: presigned.headers,
      body: BYTES,
    });
    expect([response.status, await response.text()]).toEqual([204, ""]);
    expect(stateOf(presigned)).toBe("pending, proved");
  }
});

test("SES-11 curl uploads a file", async () => {
  const presigned = await announced();
  const file = join(server.world.directory, "capture.tgz");
  await Bun.write(file, BYTES);
  const headers = Object.entries(presigned.headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const curl = Bun.spawn(
    ["curl", "-sS", "-T", file, ...headers, "-w", "%{http_code}", presigned.upload_url],
    { stdout: "pipe" },
  );
  expect([await new Response(curl.stdout).text(), stateOf(presigned)]).toEqual(["204", "pending, proved"]);
});

test("SES-13 an empty session is uploaded", async () => {
  const presigned = await announced("");
  const headers = { ...presigned.headers, "content-length": "0" };
  expect(await send(presigned.upload_url, { headers, body: "" })).toEqual({ status: 204, reason: undefined });
  expect(stateOf(presigned)).toBe("pending, proved");
});

test("SES-13 SES-51 other bytes of equal size fail, and the announced ones succeed afterwards", async () => {
  const presigned = await announced();
  const wrong = BYTES.toUpperCase();
  expect(await send(presigned.upload_url, { headers: presigned.headers, body: wrong })).toEqual({
    status: 422,
    reason: "sessions.digest_mismatch",
  });
  expect([stateOf(presigned), await temporaryFiles()]).toEqual(["failed", []]);
  const refused = await server.request("POST", presigned.complete_url, { token });
  expect(await refused.json()).toMatchObject({
    status: 400,
    reason: "sessions.content_differs",
    detail: "the uploaded bytes differ from the announced ones; announce the session again",
  });
  expect((await send(presigned.upload_url, { headers: presigned.headers, body: BYTES })).status).toBe(204);
  expect(stateOf(presigned)).toBe("pending, proved");
});

test("SES-11 after completion the same bytes are accepted again and others are refused", async () => {
  const presigned = await announced();
  await send(presigned.upload_url, { headers: presigned.headers, body: BYTES });
  expect((await server.request("POST", presigned.complete_url, { token })).status).toBe(200);
  expect((await send(presigned.upload_url, { headers: presigned.headers, body: BYTES })).status).toBe(204);
  expect(await send(presigned.upload_url, { headers: presigned.headers, body: BYTES.toUpperCase() })).toEqual(
    { status: 409, reason: "sessions.already_complete" },
  );
  expect(stateOf(presigned)).toBe("complete, proved");
});

test.each([
  ["longer", `${BYTES}!`],
  ["shorter", BYTES.slice(1)],
])("SES-12 a %s body than announced is refused by its declared length", async (_, body) => {
  const presigned = await announced();
  expect(await send(presigned.upload_url, { headers: presigned.headers, body })).toEqual({
    status: 400,
    reason: "sessions.other_length",
  });
  expect(stateOf(presigned)).toBe("pending");
});

test.each(["text/html", "", `${TYPE}; charset=utf-8`])(
  "SES-11 the content type %p instead of the announced one is refused",
  async (type) => {
    const presigned = await announced();
    const answered = await send(presigned.upload_url, { headers: { "content-type": type }, body: BYTES });
    expect(answered).toEqual({ status: 400, reason: "sessions.other_content_type" });
  },
);

test("SES-12 a compressed body is refused", async () => {
  const presigned = await announced();
  const headers = { ...presigned.headers, "content-encoding": "gzip" };
  expect(await send(presigned.upload_url, { headers, body: BYTES })).toEqual({
    status: 415,
    reason: "request.content_encoding",
  });
});

test("SES-12 the content encoding identity is accepted", async () => {
  const presigned = await announced();
  const headers = { ...presigned.headers, "content-encoding": "identity" };
  expect((await send(presigned.upload_url, { headers, body: BYTES })).status).toBe(204);
});

test("SES-12 a chunked body is refused with 411", async () => {
  const presigned = await announced();
  const chunk = `${BYTES.length.toString(16)}\r\n${BYTES}\r\n0\r\n\r\n`;
  expect(await talk(presigned, ["Transfer-Encoding: chunked"], [chunk])).toEqual({
    status: 411,
    isClosed: true,
  });
});

test("SES-12 a body without a length is refused with 411", async () => {
  expect((await talk(await announced(), [], [], 200)).status).toBe(411);
});

const LENGTH = `Content-Length: ${BYTES.length}`;

test("SES-14 a broken connection leaves no file and does not change the state, and a retry succeeds", async () => {
  const presigned = await announced();
  await talk(presigned, [LENGTH], [BYTES.slice(0, 5)], 50);
  while ((await temporaryFiles()).length > 0) await Bun.sleep(5);
  expect(stateOf(presigned)).toBe("pending");
  expect((await send(presigned.upload_url, { headers: presigned.headers, body: BYTES })).status).toBe(204);
});

test("SES-15 a body that pauses too long is refused with 408", async () => {
  const presigned = await announced();
  expect(await talk(presigned, [LENGTH], [BYTES.slice(0, 5), PAUSE_MS])).toEqual({
    status: 408,
    isClosed: true,
  });
  expect([stateOf(presigned), await temporaryFiles()]).toEqual(["pending", []]);
});

test("SES-15 a body that keeps trickling is eventually refused with 408", async () => {
  const presigned = await announced();
  const drops = [...BYTES].flatMap((letter) => [letter, 100]);
  expect(await talk(presigned, [LENGTH], drops)).toEqual({ status: 408, isClosed: true });
  expect(await temporaryFiles()).toEqual([]);
});

test.each([
  ["another method", (url: string) => fetch(url)],
  ["another digit of the expiry", (url: string) => put(url.replace(/expires=(\d+)\d/, "expires=$19"))],
  ["another letter of the signature", (url: string) => put(altered(url))],
  ["no signature", (url: string) => put(url.replace(/&signature=.*/, ""))],
  ["no expiry", (url: string) => put(url.replace(/expires=\d+&/, ""))],
  ["a later expiry", (url: string) => put(url.replace(/expires=\d+/, "expires=99999999999"))],
])("SES-10 SES-11 SES-18 an upload address with %s is refused", async (_, ask) => {
  const presigned = await announced();
  await send(presigned.upload_url, { headers: presigned.headers, body: BYTES });
  expect(await answerOf(await ask(presigned.upload_url))).toEqual({
    status: 403,
    reason: "sessions.link_refused",
  });
});

const put = (url: string) => fetch(url, { method: "PUT", headers: { "content-type": TYPE }, body: BYTES });
const altered = (url: string) =>
  url.replace(/signature=(.)/, (_, first: string) => `signature=${first === "A" ? "B" : "A"}`);

test("SES-11 an address of an unknown upload is refused with 404", async () => {
  const { upload_url: url, upload_id: id } = await announced();
  const other = await answerOf(await put(url.replace(id, crypto.randomUUID())));
  expect(other).toEqual({ status: 404, reason: "sessions.upload_not_found" });
});

test("SES-10 the address of another upload's signature is refused", async () => {
  const [one, other] = [await announced(), await announced()];
  const url = one.upload_url.replace(one.upload_id, other.upload_id);
  expect((await put(url)).status).toBe(403);
});

test("SES-18 a download address takes no bytes", async () => {
  const presigned = await announced();
  await send(presigned.upload_url, { headers: presigned.headers, body: BYTES });
  await server.request("POST", presigned.complete_url, { token });
  const { sessionId: id } = server.domain.sessions.artifact({
    organizationId: server.world.organizationId,
    id: presigned.upload_id,
  }) ?? { sessionId: "" };
  const offered = await server.request("POST", `/session-uploads/${id}/download`, { token });
  const { download_url: url } = await offered.json();
  expect((await put(url)).status).toBe(403);
  const part = await fetch(url, { headers: { range: "bytes=4-8" } });
  expect([part.status, await part.text(), part.headers.get("content-range")]).toEqual([
    206,
    "bytes",
    `bytes 4-8/${BYTES.length}`,
  ]);
  const unchanged = await fetch(url, { headers: { "if-none-match": part.headers.get("etag") ?? "" } });
  expect(unchanged.status).toBe(304);
});

test("SES-11 SES-51 an address takes bytes until it expires and not afterwards", async () => {
  const presigned = await announced();
  const expires = Number(new URL(presigned.upload_url).searchParams.get("expires"));
  server.world.clock.set(expires * SECOND_MS - 1);
  expect((await put(presigned.upload_url)).status).toBe(204);
  server.world.clock.set(expires * SECOND_MS);
  expect((await put(presigned.upload_url)).status).toBe(403);
});

test("SES-10 a page of another site cannot upload", async () => {
  const presigned = await announced();
  const headers = { ...presigned.headers, origin: "https://evil.example" };
  expect(await send(presigned.upload_url, { headers, body: BYTES })).toEqual({
    status: 403,
    reason: "access.foreign_origin",
  });
});

test("SES-15 simultaneous bodies beyond the setting are refused with 503, and accepted afterwards", async () => {
  await using busy = await withCapture(
    await createListeningServer({
      sessions: { uploadsAtOnce: 2 },
      uploadTimes: { idleMs: 5_000, wholeMs: 5_000 },
    }),
  );
  const credential = { token: (await busy.signedIn("member")).accessToken };
  const one = async (at: number): Promise<PresignedOnWire> =>
    await (await presign(busy, credential, announcementOf(BYTES, { session_id: `native-${at}` }))).json();
  const [first, second, third] = [await one(1), await one(2), await one(3)];
  const isRefused = Promise.withResolvers<void>();
  const held = [first, second].map((presigned) => {
    const { pathname, search, host } = new URL(presigned.upload_url);
    const head = [`PUT ${pathname}${search} HTTP/1.1`, `Host: ${host}`, `Content-Type: ${TYPE}`, LENGTH];
    const steps = [`${head.join("\r\n")}\r\n\r\n`, BYTES.slice(0, 5), isRefused.promise, BYTES.slice(5)];
    return converse({ address: busy.origin }, steps, /\r\n\r\n/);
  });
  while (busy.domain.sessions.receiving.running < 2) await Bun.sleep(5);
  const refused = await fetch(third.upload_url, { method: "PUT", headers: third.headers, body: BYTES });
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "2"]);
  isRefused.resolve();
  for (const { text } of await Promise.all(held)) expect(text).toStartWith("HTTP/1.1 204");
  const accepted = await fetch(third.upload_url, { method: "PUT", headers: third.headers, body: BYTES });
  expect(accepted.status).toBe(204);
});
