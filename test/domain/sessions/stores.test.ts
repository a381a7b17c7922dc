// SES-16, SES-33 and SES-35: the same cases with each kind of store. `bun run test:s3` runs them with a real one.
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalObjects } from "../../../src/domain/sessions/objects/local-objects.ts";
import { ObjectLinks } from "../../../src/domain/sessions/objects/object-links.ts";
import { createS3Objects, type ObjectStore } from "../../../src/domain/sessions/service.ts";
import { openBlobs } from "../../../src/platform/blobs/blobs.ts";
import { certify } from "../../support/network/private-ca.ts";
import { refusalOf } from "../../support/object-store/refusal.ts";
import { createS3Server } from "../../support/object-store/s3-server.ts";
import { ADDRESS_CASES, artifactOf, STORE_CASES } from "../../support/object-store/store-cases.ts";
import { bucketAt } from "../../support/object-store/test-bucket.ts";

const resources = new AsyncDisposableStack();
afterAll(() => resources.disposeAsync());

const clock = { nowMs: Date.now };
const objectsIn = (bucket: ReturnType<typeof bucketAt>): ObjectStore =>
  createS3Objects({ bucket, prefix: "captured/", clock });

async function local(): Promise<ObjectStore> {
  const folder = resources.use(mkdtempDisposableSync(join(tmpdir(), "quartermaster-stores-")));
  const sealing = { mac: () => "", isMac: () => false };
  const links = new ObjectLinks({ sealing, baseUrl: () => "https://control.example.org" });
  return createLocalObjects({ blobs: await openBlobs(folder.path), links });
}

const STORES: Readonly<Record<string, () => Promise<ObjectStore>>> = {
  "the data directory": local,
  "a store in path style": async () => objectsIn(bucketAt(resources.use(createS3Server()).origin)),
  "a store in host style": async () => {
    const { origin } = resources.use(createS3Server());
    return objectsIn(bucketAt(origin.replace("127.0.0.1", "localhost"), { place: { pathStyle: false } }));
  },
  "a store behind a private CA": async () => {
    const { cert, key, ca } = await certify();
    return objectsIn(bucketAt(resources.use(createS3Server({ tls: { cert, key } })).origin, { ca }));
  },
  "a store that keeps no digests": async () =>
    objectsIn(bucketAt(resources.use(createS3Server({ digests: "unkept" })).origin)),
  "a store that ignores digests": async () =>
    objectsIn(bucketAt(resources.use(createS3Server({ digests: "ignored" })).origin)),
};

for (const [name, open] of Object.entries(STORES)) {
  describe(`SES-35: ${name}`, () => {
    const store = open();
    for (const { name: sentence, run } of STORE_CASES) test(sentence, async () => await run(await store));
  });
}

describe("SES-16: addresses of a store", () => {
  const store = STORES["a store in path style"]?.();
  for (const { name, run } of ADDRESS_CASES)
    test(name, async () => {
      const opened = await store;
      if (opened) await run(opened);
    });
});

describe("SES-33: keys", () => {
  test("a key has our ids and nothing that the client sent", async () => {
    const store = objectsIn(bucketAt("http://127.0.0.1:1"));
    const artifact = artifactOf(store, "");
    const { organizationId, sessionId, id } = artifact;
    expect(artifact.place).toBe(`captured/${organizationId}/${sessionId}/${id}.tgz`);
  });

  test.each([
    ["application/x-ndjson", "jsonl"],
    ["application/X-NDJSON; charset=utf-8", "jsonl"],
    ["application/json", "json"],
    ["../../x", "json"],
  ])("a raw session of type %s is named %s", (contentType, extension) => {
    const store = objectsIn(bucketAt("http://127.0.0.1:1"));
    const artifact = { ...artifactOf(store, ""), artifactFormat: "legacy-raw", contentType } as const;
    expect(store.placeOf(artifact)).toEndWith(`${artifact.id}.${extension}`);
  });
});

describe("a bucket of another owner", () => {
  test("does not belong to this service before it is claimed, and the mark is not an object", async () => {
    await using server = createS3Server();
    const store = objectsIn(bucketAt(server.origin));
    expect(await store.isOurs()).toBe(false);
    await store.claim();
    expect([await store.isOurs(), await Array.fromAsync(store.list())]).toEqual([true, []]);
  });

  test("objects outside the prefix and of other software are not listed, and pages follow each other", async () => {
    await using server = createS3Server();
    const kept = {
      bytes: new Uint8Array(1),
      contentType: "a/b",
      modifiedAtMs: Date.now(),
      checksum: undefined,
    };
    const objects = server.buckets.get("sessions");
    const store = objectsIn(bucketAt(server.origin));
    const { place } = artifactOf(store, "");
    for (let index = 0; index < 2_001; index += 1)
      objects?.set(
        place.replace(/[^/]{36}(?=\.tgz)/, () => crypto.randomUUID()),
        kept,
      );
    for (const key of [
      place.replace("captured/", "elsewhere/"),
      place.replace("captured/", "captured/more/"),
      place.replace(".tgz", ".exe"),
      place.replace(".tgz", ".tgz.old"),
      "captured/report.json",
    ])
      objects?.set(key, kept);
    const listed = await Array.fromAsync(store.list());
    expect([listed.length, new Set(listed.map((found) => found.place)).size]).toEqual([2_001, 2_001]);
    expect(server.seen.length).toBe(3);
  });
});

describe("failures of the store", () => {
  test.each<[string, (store: ObjectStore) => Promise<unknown>]>([
    ["inspect", (store) => store.inspect("captured/k")],
    ["hash", (store) => store.hash("captured/k")],
    ["read", (store) => Array.fromAsync(store.read("captured/k"))],
    ["remove", (store) => store.remove("captured/k")],
    ["list", (store) => Array.fromAsync(store.list())],
    ["check", (store) => store.check()],
    ["claim", (store) => store.claim()],
  ])("%s reports only that the store does not respond", async (_, ask) => {
    await using server = createS3Server();
    server.keys = { ...server.keys, secretAccessKey: "another" };
    const { reason, message, logged } = await refusalOf(ask(objectsIn(bucketAt(server.origin))));
    expect([reason, message]).toEqual([
      "sessions.store_unavailable",
      "the store of captured sessions does not respond",
    ]);
    expect(logged).toContain("status 403");
    expect(logged).not.toMatch(/127\.0\.0\.1|AKIA|captured\/|X-Amz/);
  });
});
