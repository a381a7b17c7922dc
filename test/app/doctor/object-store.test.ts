// SES-55 and the probe of `doctor`: findings about stores that verify digests, lie, refuse, are public or have a wrong
// clock.
import { expect, test } from "bun:test";
import { checkOf } from "../../../src/app/doctor/finding.ts";
import { CLOCK_OFFSET_MAX_MS, checkBucket, type ProbeOptions } from "../../../src/app/doctor/object-store.ts";
import {
  createS3Server,
  type S3Server,
  type S3ServerOptions,
  TEST_KEYS,
} from "../../support/object-store/s3-server.ts";
import { bucketAt } from "../../support/object-store/test-bucket.ts";

const fetchBytes = async (url: string) => {
  const response = await fetch(url);
  return { status: response.status, bytes: new Uint8Array(await response.arrayBuffer()) };
};

async function findings(
  server: S3Server,
  rest: Partial<ProbeOptions> = {},
  place: Parameters<typeof bucketAt>[1] = {},
): Promise<string[]> {
  const bucket = bucketAt(server.origin, place);
  const found = await checkBucket(checkOf("session_bucket"), {
    bucket,
    prefix: "p/",
    ask: fetchBytes,
    ...rest,
  });
  return found.map(({ result, detail }) => `${result}: ${detail}`);
}

const FINE = "ok: accepts, checks, returns and removes an object, and serves it only with a signature";

test("a store that checks uploads passes, and no object is left there", async () => {
  await using server = createS3Server();
  expect(await findings(server)).toEqual([FINE]);
  expect(server.buckets.get("sessions")?.size).toBe(0);
});

test("the probe removes its object from a store that fails after the upload", async () => {
  await using server = createS3Server();
  server.instead = ({ method }) => (method === "HEAD" ? new Response(null, { status: 403 }) : undefined);
  expect(await findings(server)).toEqual(["failed: the object store refused the request: status 403"]);
  expect(server.buckets.get("sessions")?.size).toBe(0);
});

test.each<[string, S3ServerOptions, string]>([
  ["ignores digests", { digests: "ignored" }, "failed: accepts bytes with a wrong digest"],
  ["keeps no digests", { digests: "unkept" }, "warning: reports no SHA-256 for an object"],
])("a store that %s is found", async (_, options, finding) => {
  await using server = createS3Server(options);
  expect((await findings(server)).some((text) => text.startsWith(finding))).toBe(true);
  expect(server.buckets.get("sessions")?.size).toBe(0);
});

test("a store that answers success to everything is found", async () => {
  await using server = createS3Server();
  server.instead = () => new Response(null, { headers: { "content-length": "0" } });
  expect(await findings(server)).toEqual([
    "failed: the object store sent an invalid response: the response has no ETag",
  ]);
  server.instead = () => new Response(null, { headers: { "content-length": "0", etag: '"1"' } });
  expect(await findings(server)).toEqual([
    "failed: accepts bytes with a wrong digest",
    "failed: reports a wrong size or digest for an object",
    "failed: returns other bytes than it accepted",
    "failed: is public: it serves objects without a signature",
    "failed: still has an object that it reported as removed",
  ]);
});

test("SES-55: a public bucket is found", async () => {
  await using server = createS3Server();
  server.publicBuckets.add("sessions");
  expect(await findings(server)).toEqual(["failed: is public: it serves objects without a signature"]);
});

test.each([
  [
    { secretAccessKey: "another" },
    "failed: the object store refused the request: status 403 SignatureDoesNotMatch",
  ],
  [
    { accessKeyId: "AKIA9876543210" },
    "failed: the object store refused the request: status 403 InvalidAccessKeyId",
  ],
])("wrong credentials are named: %j", async (keys, finding) => {
  await using server = createS3Server({ keys: { ...TEST_KEYS, ...keys } });
  expect(await findings(server)).toEqual([finding]);
});

test("a missing bucket and a store that does not answer get different findings", async () => {
  await using server = createS3Server({ buckets: ["other"] });
  expect(await findings(server)).toEqual([
    "failed: the object store refused the request: status 404 NoSuchBucket",
  ]);
  server.instead = () => new Promise<Response>(() => {});
  expect(await findings(server, {}, { responseTimeoutMs: 100 })).toEqual([
    "failed: the object store is not available: no response (TimeoutError)",
  ]);
});

test.each([
  [CLOCK_OFFSET_MAX_MS - 2_000, [FINE]],
  [CLOCK_OFFSET_MAX_MS + 3_000, ["failed: the store's clock is 6"]],
  [-CLOCK_OFFSET_MAX_MS - 3_000, ["failed: the store's clock is 6"]],
])("a clock that differs by %d ms", async (offsetMs, expected) => {
  await using server = createS3Server({ nowMs: () => Date.now() + offsetMs });
  const found = await findings(server);
  expect(found.map((text, index) => text.startsWith(expected[index] ?? "none"))).toEqual([true]);
});

test("a clock that differs by an hour is named beside the refusal", async () => {
  await using server = createS3Server({ nowMs: () => Date.now() - 3_600_000 });
  const found = await findings(server);
  expect(found[0]).toBe("failed: the object store refused the request: status 403 RequestTimeTooSkewed");
  expect(found[1]).toMatch(/^failed: the store's clock is 3\d{3} s behind ours$/);
});

test("the public endpoint must lead to the same store, serve nothing unsigned, and have another host than ours", async () => {
  await using server = createS3Server();
  await using other = createS3Server();
  const publicEndpoint = server.origin.replace("127.0.0.1", "localhost");
  const place = { place: { publicEndpoint } };
  const origins = { publicEndpoint, own: "https://control.example.org" };
  const request = (rest: Partial<ProbeOptions>) =>
    findings(server, { askPublic: fetchBytes, origins, ...rest }, place);
  expect(await request({})).toEqual([FINE]);
  expect(await request({ origins: { publicEndpoint, own: publicEndpoint } })).toEqual([
    "failed: the public endpoint has the host of this service, so uploaded bytes would be served from there",
  ]);
  const elsewhere = (url: string) => fetchBytes(url.replace(publicEndpoint, other.origin));
  expect(await request({ askPublic: elsewhere })).toEqual([
    "failed: the public endpoint answers a signed address with 403 instead of the object",
  ]);
  expect(await request({ askPublic: async () => undefined })).toEqual([
    "warning: the public endpoint cannot be reached from here",
  ]);
  server.publicBuckets.add("sessions");
  expect(await request({})).toContain("failed: is public at the public endpoint");
});
