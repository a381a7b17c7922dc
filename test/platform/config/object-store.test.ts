// SES-33, SES-36 and SES-47: the settings of the object store in combination, and the keys of a reference deployment for it.
import { expect, test } from "bun:test";
import { type Config, loadConfig } from "../../../src/platform/config/config.ts";
import { problemsOf as refusalOf } from "./problems.ts";

const STORE = { blobsS3Endpoint: "https://s3.example.org", blobsS3Bucket: "sessions" };
const KEYS = {
  QUARTERMASTER_BLOBS_S3_ACCESS_KEY_ID: "AKIA",
  QUARTERMASTER_BLOBS_S3_SECRET_ACCESS_KEY: "secret",
};

const load = (flags: Record<string, string>, env: Record<string, string> = KEYS): Config =>
  loadConfig({ flags, env, cwd: "/" });

const problemsOf = (flags: Record<string, string>, env?: Record<string, string>) =>
  refusalOf(() => load(flags, env));

/** Without the sentences about secrets in the environment. */
const warningsOf = (flags: Record<string, string>): string[] =>
  load(flags).warnings.filter(
    (warning) => warning.includes("blobs.s3.endpoint") || warning.includes("http,"),
  );

test("SES-47: a store needs an endpoint, a bucket and credentials", () => {
  expect(problemsOf({ blobsStore: "s3" })).toEqual([
    "blobs.s3.endpoint: missing; blobs.store s3 needs it",
    "blobs.s3.bucket: missing; blobs.store s3 needs it",
  ]);
  expect(problemsOf(STORE, {})).toEqual([
    "blobs.s3.access_key_id: missing; blobs.s3.endpoint needs it: set blobs.s3.access_key_id_file",
    "blobs.s3.secret_access_key: missing; blobs.s3.endpoint needs it: set blobs.s3.secret_access_key_file",
  ]);
  expect(problemsOf({ ...STORE, blobsStore: "s3" })).toEqual([]);
});

test("SES-33: package archives are never in the bucket of sessions", () => {
  expect(problemsOf({ ...STORE, blobsS3PackageBucket: "sessions" })).toEqual([
    "blobs.s3.package_bucket: must differ from blobs.s3.bucket",
  ]);
  expect(problemsOf({ ...STORE, blobsS3PackageBucket: "packages" })).toEqual([]);
});

test("settings without an endpoint have no effect, and a warning says so", () => {
  expect(warningsOf({ blobsS3Bucket: "sessions" })[0]).toBe(
    "blobs.s3.endpoint is not set, so these do nothing: blobs.s3.bucket, blobs.s3.access_key_id, blobs.s3.secret_access_key",
  );
  expect(warningsOf(STORE)).toEqual([]);
});

test.each([
  ["http://store.internal:9000", 1],
  ["http://127.0.0.1:9000", 0],
  ["https://store.internal", 0],
])("a warning for %s: %d", (blobsS3Endpoint, total) => {
  expect(warningsOf({ ...STORE, blobsS3Endpoint })).toHaveLength(total);
});

test.each([
  ["blobsS3Bucket", ["abc", "a".repeat(63), "a.b-c"], ["ab", "a".repeat(64), "Abc", "a_b", "-ab"]],
  [
    "blobsS3Prefix",
    ["captured/", "a/b.c/", `${"a".repeat(199)}/`],
    ["", "/", "a", "../", "a//", `${"a".repeat(200)}/`, "a b/"],
  ],
  ["blobsS3Region", ["r", "eu-central-1", "a".repeat(64)], ["a".repeat(65), "EU", "a/b"]],
  ["blobsS3Endpoint", ["https://h", "http://h:9000"], ["https://h/path", "h", "s3://h"]],
  ["blobsS3Sse", ["AES256", "aws:kms"], ["none"]],
])("%s takes %j and refuses %j", (name, right, wrong) => {
  for (const value of right) expect(problemsOf({ ...STORE, [name]: value })).toEqual([]);
  for (const value of wrong) expect(problemsOf({ ...STORE, [name]: value }).length).toBeGreaterThan(0);
});
