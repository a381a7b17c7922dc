// SES-16, SES-17, SES-35 and SES-36 with a store that checks every request.

import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { type Bucket, KEY_BYTES_MAX, LIST_KEYS_MAX } from "../../../src/platform/object-store/bucket.ts";
import { TRANSFER_TIMEOUT_MS, transferMs } from "../../../src/platform/object-store/requests.ts";
import { OUTBOUND_TIMEOUT_MAX_MS } from "../../../src/platform/outbound/outbound.ts";
import { refusalOf } from "../../support/object-store/refusal.ts";
import { createS3Server, TEST_KEYS } from "../../support/object-store/s3-server.ts";
import { bucketAt, credentialsOf } from "../../support/object-store/test-bucket.ts";

const text = new TextEncoder();
const KEY = "captured/organization/session/upload.tgz";

function uploadOf(content: string, key = KEY) {
  const bytes = text.encode(content);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { key, sha256, sizeBytes: bytes.length, contentType: "application/gzip", bytes };
}

async function contentOf(bucket: Bucket, key = KEY): Promise<string | undefined> {
  const bytes = await bucket.read(key);
  return bytes && Buffer.concat(await Array.fromAsync(bytes)).toString();
}

async function* piecesOf(...pieces: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

describe("operations", () => {
  test("SES-35: stores, finds, reads, lists and removes an object", async () => {
    await using server = createS3Server();
    const bucket = bucketAt(server.origin);
    const { bytes, ...upload } = uploadOf("hello");
    await bucket.check();
    expect([await bucket.head(KEY), await bucket.read(KEY)]).toEqual([undefined, undefined]);
    await bucket.put(upload, piecesOf(bytes.subarray(0, 2), bytes.subarray(2)));
    expect(await bucket.head(KEY)).toEqual({ sizeBytes: 5, sha256: upload.sha256 });
    expect(await contentOf(bucket)).toBe("hello");
    const { objects } = await bucket.list({ prefix: "captured/" });
    expect(objects.map(({ key, sizeBytes }) => [key, sizeBytes])).toEqual([[KEY, 5]]);
    await bucket.remove(KEY);
    await bucket.remove(KEY);
    expect(await bucket.head(KEY)).toBeUndefined();
  });

  test("an object without bytes is stored and read", async () => {
    await using server = createS3Server();
    const bucket = bucketAt(server.origin);
    const { bytes, ...upload } = uploadOf("");
    await bucket.put(upload, bytes);
    expect([await bucket.head(KEY), await contentOf(bucket)]).toEqual([
      { sizeBytes: 0, sha256: upload.sha256 },
      "",
    ]);
  });

  test("a stream that breaks off is the caller's failure, and nothing is stored", async () => {
    await using server = createS3Server();
    const bucket = bucketAt(server.origin);
    const { bytes, ...upload } = uploadOf("hello");
    async function* broken() {
      yield bytes.subarray(0, 2);
      throw new Error("the source broke");
    }
    await expect(bucket.put(upload, broken())).rejects.toThrow("the source broke");
    expect(await bucket.head(KEY)).toBeUndefined();
  });

  test("fewer bytes than announced are never stored", async () => {
    await using server = createS3Server();
    const bucket = bucketAt(server.origin, { responseTimeoutMs: 300 });
    const { bytes, ...upload } = uploadOf("hello");
    expect((await refusalOf(bucket.put(upload, piecesOf(bytes.subarray(0, 2))))).reason).toStartWith(
      "object_store.",
    );
    expect(await bucket.head(KEY)).toBeUndefined();
  });

  test("the store refuses bytes of another digest, and nothing is kept", async () => {
    await using server = createS3Server();
    const bucket = bucketAt(server.origin);
    const { bytes: _, ...upload } = uploadOf("hello");
    expect((await refusalOf(bucket.put(upload, text.encode("hellO")))).reason).toBe("object_store.refused");
    expect(await bucket.head(KEY)).toBeUndefined();
  });

  test("pages of keys are consecutive and finite", async () => {
    await using server = createS3Server();
    const bucket = bucketAt(server.origin);
    for (const name of ["a/3", "a/1", "b/1", "a/2 +&é"]) {
      const { bytes, ...upload } = uploadOf(name, name);
      await bucket.put(upload, bytes);
    }
    const first = await bucket.list({ prefix: "a/", max: 2 });
    expect(first.objects.map(({ key }) => key)).toEqual(["a/1", "a/2 +&é"]);
    const second = await bucket.list({ prefix: "a/", max: 2, after: "a/2 +&é" });
    expect([second.objects.map(({ key }) => key), second.isTruncated]).toEqual([["a/3"], false]);
  });

  test("a page has at least one key, and at most as many as the protocol allows", async () => {
    await using server = createS3Server();
    const bucket = bucketAt(server.origin);
    expect((await bucket.list({ prefix: "", max: LIST_KEYS_MAX })).objects).toEqual([]);
    expect((await bucket.list({ prefix: "", max: 1 })).objects).toEqual([]);
    for (const max of [0, LIST_KEYS_MAX + 1])
      await expect(bucket.list({ prefix: "", max })).rejects.toThrow("a page of keys has a bounded length");
  });

  test("a key has at most as many bytes as the protocol allows", async () => {
    await using server = createS3Server();
    const bucket = bucketAt(server.origin);
    const headOf = (length: number) => bucket.head("k".repeat(length));
    expect([await headOf(KEY_BYTES_MAX - 1), await headOf(KEY_BYTES_MAX)]).toEqual([undefined, undefined]);
    await expect(headOf(KEY_BYTES_MAX + 1)).rejects.toThrow("a key has a bounded length");
  });

  test("host style names the bucket in the host", async () => {
    await using server = createS3Server({ buckets: ["sessions"] });
    const host = server.origin.replace("127.0.0.1", "localhost");
    const bucket = bucketAt(host, { place: { pathStyle: false } });
    const { bytes, ...upload } = uploadOf("hello");
    const { url, headers } = bucket.presignPut(upload, 300);
    expect(url).toStartWith(`http://sessions.localhost:${server.port}/captured/`);
    expect((await fetch(url, { method: "PUT", headers, body: bytes })).status).toBe(200);
    expect(server.buckets.get("sessions")?.has(KEY)).toBe(true);
  });
});

describe("addresses for clients", () => {
  async function world() {
    const server = createS3Server();
    const bucket = bucketAt(server.origin);
    const { bytes, ...upload } = uploadOf("hello");
    const { url, headers } = bucket.presignPut(upload, 300);
    return {
      server,
      bucket,
      bytes,
      upload,
      url,
      headers,
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  }

  test("SES-16: signs length, type, host and digest, and leaves the length to the client's HTTP library", async () => {
    await using signed = await world();
    const { searchParams } = new URL(signed.url);
    expect(searchParams.get("X-Amz-SignedHeaders")).toBe(
      "content-length;content-type;host;x-amz-checksum-sha256",
    );
    expect(searchParams.get("X-Amz-Expires")).toBe("300");
    expect(Object.keys(signed.headers).sort()).toEqual(["content-type", "x-amz-checksum-sha256"]);
    const put = () => fetch(signed.url, { method: "PUT", headers: signed.headers, body: signed.bytes });
    expect([(await put()).status, (await put()).status]).toEqual([200, 200]);
    expect(await contentOf(signed.bucket)).toBe("hello");
  });

  test.each([
    ["other bytes of equal size", "hellO", {}, 400],
    ["a longer body", "hello!", {}, 403],
    ["a shorter body", "hell", {}, 403],
    ["another type", "hello", { "content-type": "text/html" }, 403],
    ["a digest of other bytes", "hellO", { "x-amz-checksum-sha256": uploadOf("hellO").sha256 }, 403],
    ["its own metadata", "hello", { "x-amz-meta-sha256": "x" }, 403],
  ])("SES-16: the store refuses %s", async (_, body, extra, status) => {
    await using signed = await world();
    const response = await fetch(signed.url, {
      method: "PUT",
      headers: { ...signed.headers, ...extra },
      body,
    });
    expect(response.status).toBe(status);
    expect(await signed.bucket.head(KEY)).toBeUndefined();
  });

  test("SES-16: the store refuses an upload without the digest's header", async () => {
    await using signed = await world();
    const headers = { "content-type": "application/gzip" };
    expect((await fetch(signed.url, { method: "PUT", headers, body: "hello" })).status).toBe(403);
  });

  test("an upload address cannot read, and a download address cannot write", async () => {
    await using signed = await world();
    const { bucket, url, headers, bytes, upload } = signed;
    await bucket.put(upload, bytes);
    const download = bucket.presignGet(
      { key: KEY, contentType: "text/plain", contentDisposition: "inline" },
      60,
    );
    expect((await fetch(url, { headers })).status).toBe(403);
    expect((await fetch(url, { method: "DELETE", headers })).status).toBe(403);
    expect((await fetch(download, { method: "PUT", body: "other" })).status).toBe(403);
    expect((await fetch(download, { method: "DELETE" })).status).toBe(403);
    expect(await contentOf(bucket)).toBe("hello");
  });

  test("an address expires after its lifetime", async () => {
    let laterMs = 0;
    await using server = createS3Server({ nowMs: () => Date.now() + laterMs });
    const { bytes, ...upload } = uploadOf("hello");
    const { url, headers } = bucketAt(server.origin).presignPut(upload, 300);
    laterMs = 302_000;
    expect((await fetch(url, { method: "PUT", headers, body: bytes })).status).toBe(403);
  });

  test("a download is served with the requested type and name", async () => {
    await using signed = await world();
    await signed.bucket.put({ ...signed.upload, contentType: "text/html" }, signed.bytes);
    const url = signed.bucket.presignGet(
      {
        key: KEY,
        contentType: "application/octet-stream",
        contentDisposition: 'attachment; filename="codex-1.tgz"',
      },
      60,
    );
    const { headers } = await fetch(url);
    expect([headers.get("content-type"), headers.get("content-disposition")]).toEqual([
      "application/octet-stream",
      'attachment; filename="codex-1.tgz"',
    ]);
  });

  test("SES-17: addresses for clients name the public endpoint, and the service uses the other one", async () => {
    await using server = createS3Server();
    const bucket = bucketAt(server.origin, { place: { publicEndpoint: "https://store.example.org" } });
    const { bytes, ...upload } = uploadOf("hello");
    expect(bucket.presignPut(upload, 300).url).toStartWith("https://store.example.org/sessions/captured/");
    expect(bucket.presignGet({ key: KEY, contentType: "a/b", contentDisposition: "inline" }, 60)).toStartWith(
      "https://store.example.org/sessions/captured/",
    );
    await bucket.put(upload, bytes);
    expect(server.seen).toEqual([`PUT /sessions/${KEY}`]);
  });

  test("the configured encryption is part of every upload", async () => {
    await using server = createS3Server();
    const bucket = bucketAt(server.origin, { place: { sse: "AES256" } });
    const { bytes, ...upload } = uploadOf("hello");
    const { url, headers } = bucket.presignPut(upload, 300);
    expect(headers["x-amz-server-side-encryption"]).toBe("AES256");
    expect((await fetch(url, { method: "PUT", headers, body: bytes })).status).toBe(200);
    await bucket.put(upload, bytes);
  });
});

test.each([
  [0, TRANSFER_TIMEOUT_MS],
  [128 * 1024 * 1024, TRANSFER_TIMEOUT_MS],
  [256 * 1024 * 1024, 2 * TRANSFER_TIMEOUT_MS],
  [1280 * 1024 * 1024 - 1, OUTBOUND_TIMEOUT_MAX_MS],
  [1280 * 1024 * 1024, OUTBOUND_TIMEOUT_MAX_MS],
  [1280 * 1024 * 1024 + 1, OUTBOUND_TIMEOUT_MAX_MS],
])("a transfer of %p bytes may take %p ms", (sizeBytes, timeMs) => {
  expect(transferMs(sizeBytes)).toBe(timeMs);
});

describe("credentials", () => {
  test("SES-36: replaced credentials apply from the next request", async () => {
    await using server = createS3Server();
    const [former, next] = [TEST_KEYS, { ...TEST_KEYS, secretAccessKey: "another" }];
    let used = former;
    const bucket = bucketAt(server.origin, { credentials: () => credentialsOf(used) });
    await bucket.check();
    server.keys = next;
    expect((await refusalOf(bucket.check())).reason).toBe("object_store.refused");
    used = next;
    await bucket.check();
  });

  test("SES-36: temporary credentials come with their token", async () => {
    const keys = { ...TEST_KEYS, sessionToken: "a+token/" };
    await using server = createS3Server({ keys });
    await bucketAt(server.origin, { credentials: () => credentialsOf(keys) }).check();
    expect((await refusalOf(bucketAt(server.origin).check())).reason).toBe("object_store.refused");
  });
});

test("the clock difference comes from the store's responses", async () => {
  await using server = createS3Server({ nowMs: () => Date.now() + 120_000 });
  const bucket = bucketAt(server.origin);
  expect(bucket.clockOffsetMs).toBeUndefined();
  await bucket.check();
  expect(Math.round((bucket.clockOffsetMs ?? 0) / 10_000)).toBe(12);
});

test("each call is counted with its outcome", async () => {
  await using server = createS3Server();
  const calls: string[] = [];
  const bucket = bucketAt(server.origin, {
    observe: ({ operation, outcome }) => void calls.push(`${operation} ${outcome}`),
  });
  const { bytes, ...upload } = uploadOf("hello");
  await bucket.put(upload, bytes);
  await bucket.head(KEY);
  await bucket.head("absent");
  await contentOf(bucket);
  await bucket.list({ prefix: "" });
  await bucket.remove(KEY);
  server.keys = { ...TEST_KEYS, accessKeyId: "AKIA9876543210" };
  await refusalOf(bucket.check());
  server.instead = () => new Response(null, { status: 304 });
  await refusalOf(bucket.check());
  server.instead = () => new Response(null, { status: 500 });
  await refusalOf(bucket.check());
  expect(calls).toEqual([
    "put answered",
    "head answered",
    "head missing",
    "get answered",
    "list answered",
    "delete answered",
    "head_bucket refused",
    "head_bucket invalid",
    "head_bucket unreachable",
  ]);
});
