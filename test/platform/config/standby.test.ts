// The settings of the second machine, each alone and in combination.
import { expect, test } from "bun:test";
import { type Config, loadConfig } from "../../../src/platform/config/config.ts";
import { HOST_KEY_LENGTH_MAX } from "../../../src/platform/config/settings/standby.ts";
import { placeOf } from "../../../src/platform/config/standby/replica.ts";
import { problemsOf as refusalOf } from "./problems.ts";

const KEYS = {
  QUARTERMASTER_BLOBS_S3_ACCESS_KEY_ID: "AKIA",
  QUARTERMASTER_BLOBS_S3_SECRET_ACCESS_KEY: "secret",
};
const STORE = { blobsS3Endpoint: "https://s3.example.org" };
const REPLICATED = { databaseReplicated: "yes" };

const load = (flags: Record<string, string>, env: Record<string, string> = KEYS): Config =>
  loadConfig({ flags, env, cwd: "/" });

const problemsOf = (flags: Record<string, string>, env?: Record<string, string>) =>
  refusalOf(() => load(flags, env));

test.each([
  ["file:///mnt/replica/", { kind: "file", path: "/mnt/replica" }],
  ["s3://standby", { kind: "s3", bucket: "standby", prefix: "" }],
  ["s3://standby/a/b/", { kind: "s3", bucket: "standby", prefix: "a/b/" }],
  ["sftp://qm@nas:2222/replica", { kind: "sftp", user: "qm", host: "nas:2222", path: "/replica" }],
] as const)("STB-1 %s is a place for a replica", (url, place) => {
  const needs = { standbySftpKeyFile: "/key", standbySftpHostKey: hostKeyOf("ssh-ed25519", 36) };
  const value = load({ ...REPLICATED, ...STORE, ...needs, standbyReplica: url }).get("standby.replica");
  expect(placeOf(value ?? "")).toEqual(place);
});

test.each(["/mnt", "file://", "file:///", "file:///a/../b", "s3://B", "sftp://nas/replica", "http://x/y"])(
  "STB-1 %s is refused",
  (url) => {
    expect(problemsOf({ ...REPLICATED, standbyReplica: url })).toEqual([
      expect.stringContaining("must be file:///path, s3://bucket/path or sftp://user@host/path"),
    ]);
  },
);

const SFTP = { ...REPLICATED, standbyReplica: "sftp://qm@nas/replica", standbySftpKeyFile: "/key" };

/** @returns a line as in a `.pub` file, whose key has its type and this many further bytes */
function hostKeyOf(type: string, bytes: number, named = type): string {
  const key = Buffer.alloc(4 + type.length + bytes);
  key.writeUInt32BE(type.length);
  key.write(type, 4);
  return `${named} ${key.toString("base64")}`;
}

test.each([
  ["ssh-ed25519", 36],
  ["ecdsa-sha2-nistp256", 84],
  ["ecdsa-sha2-nistp384", 116],
  ["ecdsa-sha2-nistp521", 152],
  ["ssh-rsa", 2_056],
])("STB-1 a host key of %s with %i further bytes is accepted, also with a comment", (type, bytes) => {
  const key = hostKeyOf(type, bytes);
  expect(problemsOf({ ...SFTP, standbySftpHostKey: key })).toEqual([]);
  expect(problemsOf({ ...SFTP, standbySftpHostKey: `${key} root@nas` })).toEqual([]);
});

test.each([
  ["without a key", "ssh-ed25519", "must be a public key in one line"],
  ["without a type", "AAAA", "must be a public key in one line"],
  ["with other characters", "ssh-ed25519 A*AA", "must be a public key in one line"],
  ["that is a fingerprint", "SHA256:AAAA", "must be a public key in one line"],
  ["of an unknown type", hostKeyOf("ssh-ed448", 60), "must be a public key of one of the types ssh-ed25519,"],
  ["of another type", hostKeyOf("ssh-rsa", 60, "ssh-ed25519"), "must be a complete public key"],
  ["that ends in its type", hostKeyOf("ssh-ed25519", 0), "must be a complete public key"],
  ["of three bytes", "ssh-ed25519 AAAA", "must be a complete public key"],
])("STB-1 a host key %s is refused with its problem", (_, key, message) => {
  expect(problemsOf({ ...SFTP, standbySftpHostKey: key })).toEqual([expect.stringContaining(`: ${message}`)]);
});

test("STB-1 a host key has at most HOST_KEY_LENGTH_MAX characters", () => {
  const key = `${hostKeyOf("ssh-ed25519", 36)} `;
  const problemsAt = (length: number) => problemsOf({ ...SFTP, standbySftpHostKey: key.padEnd(length, "x") });
  expect(problemsAt(HOST_KEY_LENGTH_MAX - 1)).toEqual([]);
  expect(problemsAt(HOST_KEY_LENGTH_MAX)).toEqual([]);
  expect(problemsAt(HOST_KEY_LENGTH_MAX + 1)).toEqual([
    "--standby-sftp-host-key: must be a public key of at most 4096 characters",
  ]);
});

test("STB-1 a replica needs replication, and what its store needs", () => {
  expect(problemsOf({ standbyReplica: "file:///mnt" })).toEqual([
    "database.replicated: must be yes, because Litestream replicates the database",
  ]);
  expect(problemsOf({ ...REPLICATED, standbyReplica: "s3://standby" }, {})).toEqual([
    "blobs.s3.endpoint: missing; standby.replica needs it",
    "blobs.s3.access_key_id: missing; standby.replica needs it: set blobs.s3.access_key_id_file",
    "blobs.s3.secret_access_key: missing; standby.replica needs it: set blobs.s3.secret_access_key_file",
  ]);
  expect(problemsOf({ ...REPLICATED, standbyReplica: "sftp://a@b/c" })).toEqual([
    "standby.sftp_key_file: missing; standby.replica needs it",
    "standby.sftp_host_key: missing; standby.replica needs it",
  ]);
  const shared = { ...REPLICATED, ...STORE, standbyReplica: "s3://sessions", blobsS3Bucket: "sessions" };
  expect(problemsOf(shared)).toEqual(["standby.replica: must not be in the bucket of blobs.s3.bucket"]);
});

test("STB-4 a lease needs a replica at s3://", () => {
  expect(problemsOf({ standbyLease: "on" })).toEqual(["standby.replica: missing; standby.lease needs it"]);
  expect(problemsOf({ ...REPLICATED, standbyLease: "on", standbyReplica: "file:///mnt" })).toEqual([
    expect.stringContaining("standby.lease: needs a replica at s3://"),
  ]);
  expect(problemsOf({ ...REPLICATED, ...STORE, standbyLease: "on", standbyReplica: "s3://standby" })).toEqual(
    [],
  );
});

test("settings without a replica have no effect, and a warning says so", () => {
  expect(load({ standbyLitestream: "/x" }).warnings).toContain(
    "standby.replica is not set, so these do nothing: standby.litestream",
  );
});
