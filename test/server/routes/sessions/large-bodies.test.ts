// Bodies of captured sessions that are large enough for the worker thread, over a real socket.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { INLINE_BYTES_MAX } from "../../../../src/platform/blobs/blobs.ts";
import { WriteThread } from "../../../../src/platform/blobs/write-thread.ts";
import {
  announcementOf,
  type PresignedOnWire,
  presign,
  withCapture,
} from "../../../support/content/sessions.ts";
import { createListeningServer, type ListeningServer } from "../../../support/network/listening-server.ts";
import { converse, type Step } from "../../../support/network/raw-socket.ts";

const BYTES = "captured ".repeat(Math.ceil(INLINE_BYTES_MAX / 8));
const HALF = BYTES.slice(0, BYTES.length / 2);
/** the end of a problem */
const PROBLEM = /"request_id":"[^"]+"[\s\S]*\}/;

const thread = new WriteThread();
let server: ListeningServer;
let token: string;
beforeAll(async () => {
  server = await withCapture(await createListeningServer({ writeUploads: thread.open }));
  token = (await server.signedIn("member")).accessToken;
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  thread[Symbol.dispose]();
});

let count = 0;

async function announced(): Promise<PresignedOnWire> {
  count += 1;
  return await (
    await presign(server, { token }, announcementOf(BYTES, { session_id: `large-${count}` }))
  ).json();
}

const temporaryFiles = async (): Promise<string[]> =>
  (await readdir(join(server.world.directory, "sessions"))).filter((name) => name.startsWith("put-"));

/** Writes a raw request. */
function talk({ upload_url: url, headers }: PresignedOnWire, body: readonly Step[], wait: number | RegExp) {
  const { pathname, search, host } = new URL(url);
  const head = [
    `PUT ${pathname}${search} HTTP/1.1`,
    `Host: ${host}`,
    `Content-Type: ${headers["content-type"]}`,
    `Content-Length: ${BYTES.length}`,
  ];
  return converse({ address: server.origin }, [`${head.join("\r\n")}\r\n\r\n`, ...body], wait);
}

/** The plain retry of the client. */
async function retried(presigned: PresignedOnWire): Promise<number[]> {
  const { upload_url: url, headers, complete_url } = presigned;
  const stored = await fetch(url, { method: "PUT", headers, body: BYTES });
  const completed = await server.request("POST", complete_url, { token });
  return [stored.status, completed.status];
}

test("SES-57 SES-61 a truncated large body leaves no file, and the retry succeeds", async () => {
  const presigned = await announced();
  await talk(presigned, [HALF], 0);
  while ((await temporaryFiles()).length > 0) await Bun.sleep(5);
  expect(await retried(presigned)).toEqual([204, 200]);
});

test("SES-57 SES-61 an upload whose thread ends is refused with 503 and a request id, and the retry succeeds", async () => {
  const presigned = await announced();
  const threadEnded = (async () => {
    while ((await temporaryFiles()).length === 0) await Bun.sleep(5);
    thread[Symbol.dispose]();
  })();
  const { text } = await talk(presigned, [HALF, threadEnded, BYTES.slice(HALF.length)], PROBLEM);
  expect(text).toStartWith("HTTP/1.1 503 ");
  expect(text).toMatch(/"reason":"artifact.thread_ended".*"request_id":"[^"]+"/);
  expect(await temporaryFiles()).toEqual([]);
  expect(await retried(presigned)).toEqual([204, 200]);
});
