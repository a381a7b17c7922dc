// SES-35 and SES-59: stores that do not respond, reset, lie, redirect, or have a wrong clock or certificate.
import { afterEach, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import type { Bucket } from "../../../src/platform/object-store/bucket.ts";
import { errorCodeIn, parseListing } from "../../../src/platform/object-store/listing.ts";
import { RESPONSE_BYTES_MAX, RESPONSE_TIMEOUT_MS } from "../../../src/platform/object-store/requests.ts";
import { createConnectProxy } from "../../support/network/connect-proxy.ts";
import { certify } from "../../support/network/private-ca.ts";
import { refusalOf } from "../../support/object-store/refusal.ts";
import { createS3Server, TEST_KEYS } from "../../support/object-store/s3-server.ts";
import { credentialsOf, bucketAt as testBucketAt } from "../../support/object-store/test-bucket.ts";

const bucketAt = (origin: string, options: Parameters<typeof testBucketAt>[1] = {}): Bucket =>
  testBucketAt(origin, { responseTimeoutMs: 2_000, ...options });

const sockets = new Set<Socket>();
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
});

/** @param converse gets each connection */
async function rawServer(
  converse: (socket: Socket, count: number) => void,
): Promise<{ origin: string } & AsyncDisposable> {
  let count = 0;
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}); // clients disconnect
    count += 1;
    const number = count;
    socket.once("data", () => converse(socket, number));
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", listening.resolve);
  await listening.promise;
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  return { origin: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: async () => void server.close() };
}

const SECRETS = /127\.0\.0\.1|localhost|sessions\/|AKIA|X-Amz|Signature=/;

describe("a store that does not respond", () => {
  test("a request to a silent store fails once, within the limit of all attempts", async () => {
    let connections = 0;
    await using server = await rawServer((_, count) => {
      connections = count;
    });
    const { reason, logged } = await refusalOf(bucketAt(server.origin, { responseTimeoutMs: 150 }).check());
    expect([reason, connections]).toEqual(["object_store.unreachable", 1]);
    expect(logged).toContain("TimeoutError");
    expect(RESPONSE_TIMEOUT_MS).toBe(10_000);
  });

  test("a body that stalls ends a list within the limit", async () => {
    await using server = await rawServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n<?xml");
    });
    const { reason } = await refusalOf(
      bucketAt(server.origin, { responseTimeoutMs: 150 }).list({ prefix: "" }),
    );
    expect(reason).toBe("object_store.unreachable");
  });

  test("a request is retried once after a connection reset", async () => {
    await using server = await rawServer((socket, count) => {
      if (count === 1) socket.resetAndDestroy();
      else socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    });
    await bucketAt(server.origin).check();
  });

  test("retries once and no more", async () => {
    let connections = 0;
    await using server = await rawServer((socket, count) => {
      connections = count;
      socket.resetAndDestroy();
    });
    expect((await refusalOf(bucketAt(server.origin).check())).reason).toBe("object_store.unreachable");
    expect(connections).toBe(2);
  });

  test("a request to a busy store is retried once, and a refused request is not", async () => {
    await using server = createS3Server();
    server.instead = () => new Response("<Error><Code>SlowDown</Code></Error>", { status: 503 });
    const { reason, logged } = await refusalOf(bucketAt(server.origin).list({ prefix: "" }));
    expect([reason, server.seen.length]).toEqual(["object_store.unreachable", 2]);
    expect(logged).toContain("status 503 SlowDown");
    server.instead = () => new Response("<Error><Code>AccessDenied</Code></Error>", { status: 403 });
    expect((await refusalOf(bucketAt(server.origin).list({ prefix: "" }))).reason).toBe(
      "object_store.refused",
    );
    expect(server.seen.length).toBe(3);
  });

  test("a streaming upload is not retried", async () => {
    await using server = createS3Server();
    server.instead = () => new Response(null, { status: 503 });
    const bytes = new TextEncoder().encode("hello");
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const upload = { key: "k", sha256, sizeBytes: 5, contentType: "application/gzip" };
    await refusalOf(bucketAt(server.origin).put(upload, new Blob([bytes]).stream()));
    expect(server.seen.length).toBe(1);
  });

  test("a truncated object is not accepted as whole", async () => {
    await using server = await rawServer((socket) => {
      socket.end("HTTP/1.1 200 OK\r\nETag: 1\r\nContent-Length: 500\r\n\r\nhello");
    });
    const bytes = await bucketAt(server.origin).read("k");
    expect((await refusalOf(Array.fromAsync(bytes ?? []))).reason).toBe("object_store.unreachable");
  });

  test("the caller's signal ends a call with its own reason", async () => {
    await using server = await rawServer(() => {});
    const reading = bucketAt(server.origin).read("k", { signal: AbortSignal.timeout(50) });
    await expect(reading).rejects.toThrow("timed out");
  });
});

describe("a store that responds wrongly", () => {
  test("SES-59: a redirect is not followed", async () => {
    await using elsewhere = createS3Server();
    await using server = createS3Server();
    server.instead = () => Response.redirect(`${elsewhere.origin}/sessions`, 307);
    expect((await refusalOf(bucketAt(server.origin).check())).reason).toBe("object_store.invalid");
    expect(elsewhere.seen).toEqual([]);
  });

  test("an unrequested content coding is refused", async () => {
    await using server = createS3Server();
    server.instead = (request) => {
      expect(request.headers.get("accept-encoding")).toBe("identity");
      return new Response(Bun.gzipSync("hello"), { headers: { "content-encoding": "gzip" } });
    };
    expect((await refusalOf(bucketAt(server.origin).read("k"))).reason).toBe("object_store.invalid");
  });

  test.each([
    ["a page of a captive portal", "<html><body>Sign in</body></html>"],
    ["an entry without a size", "<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>"],
    ["a page without end", "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"],
    [
      "an unrequested key",
      "<ListBucketResult><Contents><Key>b</Key><Size>1</Size><LastModified>2026-01-01T00:00:00Z</LastModified></Contents></ListBucketResult>",
    ],
  ])("a list that is %s is refused", async (_, body) => {
    await using server = createS3Server();
    server.instead = () => new Response(body);
    expect((await refusalOf(bucketAt(server.origin).list({ prefix: "a" }))).reason).toBe(
      "object_store.invalid",
    );
  });

  test("a list may have the maximum number of bytes, and no more", async () => {
    await using server = createS3Server();
    const [head, tail] = ["<ListBucketResult>", "</ListBucketResult>"];
    const sized = (bytes: number) => head + " ".repeat(bytes - head.length - tail.length) + tail;
    const listOf = (bytes: number) => {
      server.instead = () => new Response(sized(bytes));
      return bucketAt(server.origin).list({ prefix: "" });
    };
    expect((await listOf(RESPONSE_BYTES_MAX - 1)).objects).toEqual([]);
    expect((await listOf(RESPONSE_BYTES_MAX)).objects).toEqual([]);
    expect((await refusalOf(listOf(RESPONSE_BYTES_MAX + 1))).reason).toBe("object_store.invalid");
  });

  test("a multipart digest is not the digest of the object", async () => {
    await using server = createS3Server();
    const answered = (checksum: string) => {
      const headers = { "content-length": "5", etag: "1", "x-amz-checksum-sha256": checksum };
      server.instead = () => new Response(null, { headers });
      return bucketAt(server.origin).head("k");
    };
    const digest = createHash("sha256").update("hello").digest("base64");
    expect((await answered(digest))?.sha256).toBe(Buffer.from(digest, "base64").toString("hex"));
    for (const checksum of [`${digest}-2`, "AAAA", "?"])
      expect(await answered(checksum)).toEqual({ sizeBytes: 5, sha256: undefined });
  });

  test("an error contains no text, address, bucket or key id of the store", async () => {
    await using server = createS3Server();
    const wrong = () => credentialsOf({ ...TEST_KEYS, secretAccessKey: "wrong" });
    const shown = await Promise.all([
      refusalOf(bucketAt(server.origin, { credentials: wrong }).list({ prefix: "" })),
      refusalOf(bucketAt("http://127.0.0.1:1").read("sessions/k")),
      refusalOf(bucketAt("http://store.invalid").check()),
    ]);
    for (const { message, logged } of shown) {
      expect(message).not.toMatch(SECRETS);
      expect(logged).not.toMatch(SECRETS);
    }
    expect(shown.map(({ logged }) => logged).join("\n")).toContain("SignatureDoesNotMatch");
  });
});

describe("documents of the store", () => {
  test("an error code is a word, whatever else the document contains", () => {
    expect(errorCodeIn("<Error><Code>NoSuchBucket</Code><Message>x</Message></Error>")).toBe("NoSuchBucket");
    expect(errorCodeIn("<Error><Code>evil &amp; text</Code></Error>")).toBeUndefined();
    expect(errorCodeIn(`<Code>${"a".repeat(64)}</Code>`)).toHaveLength(64);
    expect(errorCodeIn(`<Code>${"a".repeat(65)}</Code>`)).toBeUndefined();
  });

  test("a key from a store that does not encode keys stays unchanged", () => {
    const entry = "<Key>100%</Key><Size>0</Size><LastModified>2026-01-01T00:00:00Z</LastModified>";
    const { objects } = parseListing(`<ListBucketResult><Contents>${entry}</Contents></ListBucketResult>`);
    expect(objects).toEqual([{ key: "100%", sizeBytes: 0, modifiedAtMs: Date.UTC(2026, 0) }]);
  });
});

describe("the network path to the store", () => {
  test("SES-35: only a private CA that the operator configured is trusted", async () => {
    const { cert, key, ca } = await certify();
    const other = await certify();
    await using server = createS3Server({ tls: { cert, key } });
    await bucketAt(server.origin, { ca }).check();
    for (const trusted of [undefined, other.ca])
      expect((await refusalOf(bucketAt(server.origin, { ca: trusted }).check())).reason).toBe(
        "object_store.unreachable",
      );
    const elsewhere = server.origin.replace("localhost", "127.0.0.1");
    expect((await refusalOf(bucketAt(elsewhere, { ca }).check())).reason).toBe("object_store.unreachable");
  });

  test("SES-35: uses the proxy of the environment, bypasses it for NO_PROXY hosts, and always verifies certificates", async () => {
    const { cert, key, ca } = await certify();
    await using server = createS3Server({ tls: { cert, key } });
    await using proxy = await createConnectProxy(server.port);
    const checkWith = async (env: Record<string, string>) => {
      const script = join(import.meta.dir, "../../support/object-store/check-child.ts");
      const child = Bun.spawn([process.execPath, script], {
        env: { HTTPS_PROXY: proxy.origin, NODE_TLS_REJECT_UNAUTHORIZED: "0", STORE: server.origin, ...env },
        stdout: "pipe",
        stderr: "inherit",
      });
      return (await new Response(child.stdout).text()).trim();
    };
    expect(await checkWith({ CA: ca })).toBe("answered");
    expect(proxy.requests).toEqual([`CONNECT localhost:${server.port} HTTP/1.1`]);
    expect(await checkWith({ CA: ca, NO_PROXY: "localhost" })).toBe("answered");
    expect(await checkWith({ NO_PROXY: "localhost" })).toBe("object_store.unreachable");
    expect(proxy.requests).toHaveLength(1);
  });
});
