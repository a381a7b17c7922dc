// SES-35, SES-36, SES-48 and SES-59: the store of an installation, its credentials after a reload, its destinations and its metrics.
import { afterAll, expect, test } from "bun:test";
import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Registry } from "prom-client";
import { bucketFindings } from "../../../src/app/doctor/buckets.ts";
import { allDestinationsOf } from "../../../src/app/installation/destinations.ts";
import { probeExternalServices } from "../../../src/app/installation/outside-services.ts";
import { Buckets, STORE_CREDENTIALS, storeDestinations } from "../../../src/app/object-store/buckets.ts";
import { RELOADABLE_SETTINGS } from "../../../src/app/service/configuration/settings-reload.ts";
import { watchObjectStore } from "../../../src/app/service/metrics/outside-observers.ts";
import { type Config, loadConfig } from "../../../src/platform/config/config.ts";
import { createLog } from "../../../src/platform/observe/log.ts";
import { createOutbound } from "../../../src/platform/outbound/outbound.ts";
import { certify } from "../../support/network/private-ca.ts";
import { refusalOf } from "../../support/object-store/refusal.ts";
import { createS3Server, TEST_KEYS } from "../../support/object-store/s3-server.ts";

const folder = mkdtempDisposableSync(join(tmpdir(), "quartermaster-buckets-"));
afterAll(() => folder[Symbol.dispose]());
const KEY_FILES = { id: join(folder.path, "id"), secret: join(folder.path, "secret") };
const clock = { nowMs: Date.now };

function configOf(endpoint: string, flags: Record<string, string> = {}): Config {
  writeFileSync(KEY_FILES.id, TEST_KEYS.accessKeyId, { mode: 0o600 });
  writeFileSync(KEY_FILES.secret, TEST_KEYS.secretAccessKey, { mode: 0o600 });
  const keys = { blobsS3AccessKeyIdFile: KEY_FILES.id, blobsS3SecretAccessKeyFile: KEY_FILES.secret };
  return loadConfig({
    flags: { blobsS3Endpoint: endpoint, blobsS3Bucket: "sessions", dataDir: folder.path, ...keys, ...flags },
    env: {},
    cwd: folder.path,
  });
}

const bucketsOf = (config: Config, observe?: ConstructorParameters<typeof Buckets>[1]["observe"]) =>
  new Buckets(config, { clock, outbound: createOutbound({ allowed: storeDestinations(config) }), observe });

test("SES-36: credentials in files are read again with a reload", async () => {
  await using server = createS3Server();
  const config = configOf(server.origin);
  const buckets = bucketsOf(config);
  await buckets.sessions?.check();
  server.keys = { ...TEST_KEYS, secretAccessKey: "rotated" };
  await refusalOf(buckets.sessions?.check() ?? Promise.resolve());
  writeFileSync(KEY_FILES.secret, "rotated");
  buckets.useCredentials(config.reloadedFrom({ problems: [] }));
  await buckets.sessions?.check();
  for (const name of STORE_CREDENTIALS) expect(RELOADABLE_SETTINGS).toContain(name);
});

test("a reload without credentials keeps the current ones", async () => {
  await using server = createS3Server();
  const buckets = bucketsOf(configOf(server.origin));
  buckets.useCredentials(loadConfig({ flags: {}, env: {}, cwd: folder.path }));
  await buckets.sessions?.check();
});

test("has no bucket and no destination if there is no endpoint", () => {
  const config = loadConfig({ flags: {}, env: {}, cwd: folder.path });
  const buckets = bucketsOf(config);
  expect([buckets.sessions, buckets.packages, storeDestinations(config)]).toEqual([undefined, undefined, []]);
});

test("SES-59: every origin of the store is in the list of outgoing connections", () => {
  const flags = {
    blobsS3PublicEndpoint: "https://files.example.org",
    blobsS3PackageBucket: "packages",
    blobsS3PathStyle: "no",
  };
  const origins = allDestinationsOf(configOf("https://s3.example.org", flags)).map(({ name, origin }) => [
    name,
    origin,
  ]);
  expect(origins).toEqual([
    ["object-store", "https://sessions.s3.example.org"],
    ["object-store-packages", "https://packages.s3.example.org"],
    ["object-store-public", "https://sessions.files.example.org"],
  ]);
  const [only, ...others] = allDestinationsOf(configOf("https://s3.example.org"));
  expect([only?.origin, others]).toEqual(["https://s3.example.org", []]);
});

test("SES-35: a file with certificates is trusted, and must be readable", async () => {
  const { cert, key, ca } = await certify();
  await using server = createS3Server({ tls: { cert, key } });
  const blobsS3CaFile = join(folder.path, "ca.pem");
  expect(() =>
    bucketsOf(configOf(server.origin, { blobsS3CaFile: join(folder.path, "absent.pem") })),
  ).toThrow("the settings of the object store cannot be used");
  writeFileSync(blobsS3CaFile, ca);
  const config = configOf(server.origin, { blobsS3CaFile });
  await bucketsOf(config).sessions?.check();
  const [service] = await probeExternalServices(config);
  expect(service).toMatchObject({ name: "object-store", state: "reachable" });
});

test("SES-55 doctor tests both buckets that the settings name, and none without a store", async () => {
  await using server = createS3Server({ buckets: ["sessions", "packages"] });
  server.publicBuckets.add("packages");
  const config = configOf(server.origin, { blobsS3PackageBucket: "packages" });
  const found = await bucketFindings(config, clock);
  expect(found.map(({ check, result }) => [check, result])).toEqual([
    ["session_bucket", "ok"],
    ["package_bucket", "failed"],
  ]);
  expect(await bucketFindings(loadConfig({ flags: {}, env: {}, cwd: folder.path }), clock)).toEqual([]);
});

test("SES-17 doctor tests the public endpoint, and names the fault of a proxy in front of the store", async () => {
  await using server = createS3Server();
  await using proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => fetch(request.url.replace(/:\d+/, `:${server.port}`), { redirect: "manual" }),
  });
  const config = configOf(server.origin, { blobsS3PublicEndpoint: `http://localhost:${proxy.port}` });
  const [found] = await bucketFindings(config, clock);
  expect(found?.detail).toBe("the public endpoint answers a signed address with 403 instead of the object");
});

test("a store that does not answer is an unreachable service", async () => {
  const [service] = await probeExternalServices(configOf("http://127.0.0.1:1"));
  expect(service).toMatchObject({
    name: "object-store",
    state: "unreachable",
    affects: "captured sessions are not uploaded, downloaded or removed; everything else keeps working",
  });
});

test("SES-48: requests are counted by operation and outcome, and failures are logged without names", async () => {
  await using server = createS3Server();
  const metrics = new Registry();
  const lines: string[] = [];
  const log = createLog({ level: "info", format: "json", write: (line) => void lines.push(line), clock });
  const { sessions } = bucketsOf(configOf(server.origin), watchObjectStore({ metrics, log }));
  await sessions?.check();
  await sessions?.head("secret-key");
  server.keys = { ...TEST_KEYS, secretAccessKey: "another" };
  await refusalOf(sessions?.list({ prefix: "secret-prefix/" }) ?? Promise.resolve());
  const text = await metrics.metrics();
  expect([...text.matchAll(/requests_total(\{.*\}) [1-9]/g)].map(([, labels]) => labels)).toEqual([
    '{operation="head",outcome="missing"}',
    '{operation="list",outcome="refused"}',
    '{operation="head_bucket",outcome="answered"}',
  ]);
  expect(text).toContain('request_duration_seconds_count{operation="head"} 1');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain("object_store.request_failed");
  expect(lines[0]).toContain("status 403 SignatureDoesNotMatch");
  expect(lines.join() + text).not.toMatch(/secret-|sessions|AKIA|127\.0\.0\.1/);
});
