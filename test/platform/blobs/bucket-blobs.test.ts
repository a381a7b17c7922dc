// SES-33: package archives in the data directory and in a bucket.
import { afterAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtempDisposableSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBlobs, parseDigest } from "../../../src/platform/blobs/blobs.ts";
import { keepInBucket } from "../../../src/platform/blobs/bucket-blobs.ts";
import { refusalOf } from "../../support/object-store/refusal.ts";
import { createS3Server } from "../../support/object-store/s3-server.ts";
import { bucketAt } from "../../support/object-store/test-bucket.ts";

const resources = new AsyncDisposableStack();
afterAll(() => resources.disposeAsync());

const BYTES = new TextEncoder().encode("an archive");
const DIGEST = parseDigest(createHash("sha256").update(BYTES).digest("hex"));
const KEY = `sha256/${DIGEST.slice(0, 2)}/${DIGEST}`;

async function* archive(): AsyncGenerator<Uint8Array> {
  yield BYTES;
}

async function world(maxBytes = 1_000) {
  const folder = resources.use(mkdtempDisposableSync(join(tmpdir(), "quartermaster-archives-")));
  const server = resources.use(createS3Server({ buckets: ["packages"] }));
  const local = await openBlobs(folder.path);
  const bucket = bucketAt(server.origin, { place: { bucket: "packages" } });
  const blobs = keepInBucket(local, { bucket, maxBytes });
  const lose = () => rmSync(local.path(DIGEST));
  return { server, local, blobs, lose, objects: server.buckets.get("packages") };
}

const contentOf = async (bytes: AsyncIterable<Uint8Array>): Promise<string> =>
  Buffer.concat(await Array.fromAsync(bytes)).toString();

test("SES-33: an archive is stored in the data directory and, once, in the bucket", async () => {
  const { server, local, blobs, objects } = await world();
  for (const isNew of [true, false])
    expect(await blobs.put(archive(), { maxBytes: 100 })).toEqual({ digest: DIGEST, sizeBytes: 10, isNew });
  expect([await local.has(DIGEST), [...(objects?.keys() ?? [])]]).toEqual([true, [KEY]]);
  expect(server.seen.filter((line) => line.startsWith("PUT"))).toHaveLength(1);
});

test("SES-33: a finished archive that is moved to the data directory is also stored in the bucket", async () => {
  const { server, local, blobs, objects } = await world();
  const { path } = resources.use(mkdtempDisposableSync(join(tmpdir(), "quartermaster-finished-")));
  for (const _ of [1, 2]) {
    writeFileSync(join(path, "archive"), BYTES);
    await blobs.adopt(join(path, "archive"), DIGEST);
  }
  expect([await local.verify(DIGEST), [...(objects?.keys() ?? [])]]).toEqual(["intact", [KEY]]);
  expect(server.seen.filter((line) => line.startsWith("PUT"))).toHaveLength(1);
});

test.each([
  ["asked for", (blobs: Awaited<ReturnType<typeof world>>["blobs"]) => blobs.has(DIGEST), true],
  ["read", (blobs) => contentOf(blobs.read(DIGEST)), "an archive"],
  ["verified", (blobs) => blobs.verify(DIGEST), "intact"],
] as [string, (blobs: Awaited<ReturnType<typeof world>>["blobs"]) => Promise<unknown>, unknown][])(
  "SES-33: an archive that the data directory lost is restored when it is %s",
  async (_, ask, expected) => {
    const { blobs, local, lose } = await world();
    await blobs.put(archive(), { maxBytes: 100 });
    lose();
    expect(await ask(blobs)).toBe(expected);
    expect(await local.verify(DIGEST)).toBe("intact");
  },
);

test("an archive in neither of them is missing", async () => {
  const { blobs } = await world();
  expect([await blobs.has(DIGEST), await blobs.verify(DIGEST)]).toEqual([false, "missing"]);
});

test("other bytes of the bucket are not restored", async () => {
  const { blobs, objects } = await world();
  const bytes = new TextEncoder().encode("an archivE");
  objects?.set(KEY, { contentType: "a/b", modifiedAtMs: 0, checksum: undefined, bytes });
  expect((await refusalOf(blobs.has(DIGEST))).reason).toBe("artifact.digest_mismatch");
});

test("an archive from the bucket may not exceed the maximum size of archives", async () => {
  const found = async (maxBytes: number) => {
    const { blobs, objects } = await world(maxBytes);
    objects?.set(KEY, { contentType: "a/b", modifiedAtMs: 0, checksum: undefined, bytes: BYTES });
    return await blobs.has(DIGEST);
  };
  expect([await found(11), await found(10)]).toEqual([true, true]);
  expect((await refusalOf(found(9))).reason).toBe("artifact.too_large");
});

test("a damaged archive stays damaged until it is added again, and the bucket keeps an intact one", async () => {
  const { blobs, local, objects } = await world();
  await blobs.put(archive(), { maxBytes: 100 });
  writeFileSync(local.path(DIGEST), "x");
  expect([await blobs.verify(DIGEST), objects?.has(KEY)]).toEqual(["damaged", true]);
});

test("an archive is removed from both", async () => {
  const { blobs, local, objects } = await world();
  await blobs.put(archive(), { maxBytes: 100 });
  expect([await blobs.remove(DIGEST), await local.has(DIGEST), objects?.size]).toEqual([true, false, 0]);
});

test("archives in the data directory are delivered while the store is down, and none are added", async () => {
  const { server, blobs } = await world();
  await blobs.put(archive(), { maxBytes: 100 });
  server.instead = () => new Response(null, { status: 503 });
  expect([await blobs.has(DIGEST), await contentOf(blobs.read(DIGEST))]).toEqual([true, "an archive"]);
  expect((await refusalOf(blobs.put(archive(), { maxBytes: 100 }))).reason).toBe("object_store.unreachable");
});
