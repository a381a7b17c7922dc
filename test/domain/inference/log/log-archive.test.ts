// INF-48: exported days in an object store, and stores that fail or lie. `bun run test:s3` runs the cases with a real one.
import { describe, expect, test } from "bun:test";
import { LogArchive } from "../../../../src/domain/inference/log/log-archive.ts";
import { RESPONSE_TIMEOUT_MS } from "../../../../src/platform/object-store/requests.ts";
import { ARCHIVE_CASES, putLines } from "../../../support/object-store/archive-cases.ts";
import { refusalOf } from "../../../support/object-store/refusal.ts";
import { createS3Server, type S3ServerOptions, TEST_KEYS } from "../../../support/object-store/s3-server.ts";
import { bucketAt } from "../../../support/object-store/test-bucket.ts";

const NAME = "requests-2027-06-01.jsonl";
const KEY = `captured/request-logs/${NAME}`;

/** For stores that may not respond. */
const IMPATIENT_MS = 300;

function siteOf(options: S3ServerOptions = {}, responseTimeoutMs: number = IMPATIENT_MS) {
  const store = createS3Server(options);
  const bucket = bucketAt(store.origin, { responseTimeoutMs });
  const archive = new LogArchive({ bucket, name: "sessions", prefix: "captured/" });
  const kept = () => store.buckets.get("sessions");
  return { store, archive, kept, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

async function* lines(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("hello\n");
}

describe.each(["checked", "unkept", "ignored"] as const)("INF-48 a store whose digests are %s", (digests) => {
  test.each(ARCHIVE_CASES)("$name", async ({ run }) => {
    await using site = siteOf({ digests }, RESPONSE_TIMEOUT_MS);
    await run(site.archive);
  });
});

test("INF-48 an exported day has its type, and a key below the prefix", async () => {
  await using site = siteOf();
  await putLines(site.archive, NAME, lines);
  expect(site.archive.url).toBe("s3://sessions/captured/request-logs");
  expect([...(site.kept() ?? [])]).toMatchObject([[KEY, { contentType: "application/x-ndjson" }]]);
});

test.each(["unkept", "ignored"] as const)(
  "INF-48 a store that keeps other bytes is detected, and they are removed: digests %s",
  async (digests) => {
    await using site = siteOf({ digests });
    site.store.instead = ({ method }) => {
      const object = site.kept()?.get(KEY);
      if (method === "HEAD" && object) object.bytes = new Uint8Array(Buffer.from("other\n"));
      return undefined;
    };
    expect(await refusalOf(putLines(site.archive, NAME, lines))).toMatchObject({
      reason: "object_store.damaged",
    });
    expect(site.kept()?.has(KEY)).toBe(false);
  },
);

test("INF-48 a refusal contains the store's error code, but no address, bucket or key id", async () => {
  await using site = siteOf();
  site.store.keys = { ...TEST_KEYS, secretAccessKey: "another" };
  const { reason, message } = await refusalOf(putLines(site.archive, NAME, lines));
  expect([reason, message]).toEqual([
    "object_store.refused",
    "the object store refused the request: status 403 SignatureDoesNotMatch",
  ]);
});

test("INF-48 an export to a store that stalls is aborted", async () => {
  await using site = siteOf();
  site.store.instead = () => new Promise(() => {});
  expect((await refusalOf(putLines(site.archive, NAME, lines))).reason).toBe("object_store.unreachable");
});

test("INF-48 an interrupted export stores nothing", async () => {
  await using site = siteOf();
  const stop = new AbortController();
  async function* interrupted() {
    stop.abort(new Error("interrupted"));
    yield* lines();
  }
  const made = [lines, interrupted];
  const content = () => (made.shift() ?? lines)();
  const contentType = "application/x-ndjson";
  const attempt = site.archive.put(NAME, content, { contentType, signal: stop.signal });
  await expect(attempt).rejects.toThrow("interrupted");
  expect(site.kept()?.size).toBe(0);
});
