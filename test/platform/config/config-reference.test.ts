// The keys `control_api.*` of a reference deployment: read as settings of the service, or accepted with a warning.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Config, loadConfig } from "../../../src/platform/config/config.ts";
import { KEYS_WITHOUT_EFFECT, MAPPED_KEYS } from "../../../src/platform/config/reference-keys.ts";
import { DomainError } from "../../../src/platform/errors.ts";

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "config-reference-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

interface Given {
  flags?: Record<string, string>;
  env?: Record<string, string>;
  mode?: number;
}

function load(yaml: string, { flags, env = {}, mode = 0o600 }: Given = {}): Config {
  const path = join(cwd, "quartermaster.yaml");
  writeFileSync(path, yaml, { mode });
  return loadConfig({ flags: { config: path, ...flags }, env, cwd });
}

function problemsOf(yaml: string, given: Given = {}) {
  try {
    load(yaml, given);
  } catch (error) {
    if (error instanceof DomainError) return error.problems;
    throw error;
  }
  throw new Error("the configuration was accepted");
}

const MAPPED = `control_api:
  listen: 0.0.0.0:9000
  bootstrap:
    organization_name: Acme
    admin_email: ana@example.org
    organization_slug: acme
  auth:
    audience: https://control.example.org
  identity:
    mode: oidc
    scim_bearer_token: os.environ/TOKEN
    group_role_mappings: '{"Admins":"admin"}'
  blob_storage:
    bucket: sessions
    region: eu-central-1
    endpoint: https://store.example.org
    public_endpoint: https://files.example.org
    force_path_style: false
    presign_ttl_seconds: 600
    retention_days: 60
  package_artifacts:
    bucket: packages
  gateway_request_logs:
    retention_days: 14
`;
const keys = {
  QUARTERMASTER_BLOBS_S3_ACCESS_KEY_ID: "id",
  QUARTERMASTER_BLOBS_S3_SECRET_ACCESS_KEY: "secret",
};
const given = { env: { TOKEN: "sesame", ...keys } };

test("SES-47 reads reference keys as the matching settings, with line and key as origin", () => {
  const config = load(MAPPED, given);
  const names = [
    "server.listen",
    "server.public_url",
    "bootstrap.organization_name",
    "bootstrap.admin_email",
    "bootstrap.organization_slug",
    "identity.mode",
    "scim.token",
    "scim.group_role_mappings",
    "blobs.s3.bucket",
    "blobs.s3.region",
    "blobs.s3.endpoint",
    "blobs.s3.public_endpoint",
    "blobs.s3.path_style",
    "sessions.url_ttl_seconds",
    "sessions.retention_days",
    "blobs.s3.package_bucket",
    "gateway.request_logs.retention_days",
  ] as const;
  expect(names.map((name) => [config.rowOf(name).value, config.rowOf(name).origin])).toEqual([
    ["0.0.0.0:9000", "file:2 (control_api.listen)"],
    ["https://control.example.org", "file:8 (control_api.auth.audience)"],
    ["Acme", "file:4 (control_api.bootstrap.organization_name)"],
    ["ana@example.org", "file:5 (control_api.bootstrap.admin_email)"],
    ["acme", "file:6 (control_api.bootstrap.organization_slug)"],
    ["oidc", "file:10 (control_api.identity.mode)"],
    ["set", "file:11 (control_api.identity.scim_bearer_token)"],
    ['{"Admins":"admin"}', "file:12 (control_api.identity.group_role_mappings)"],
    ["sessions", "file:14 (control_api.blob_storage.bucket)"],
    ["eu-central-1", "file:15 (control_api.blob_storage.region)"],
    ["https://store.example.org", "file:16 (control_api.blob_storage.endpoint)"],
    ["https://files.example.org", "file:17 (control_api.blob_storage.public_endpoint)"],
    ["false", "file:18 (control_api.blob_storage.force_path_style)"],
    ["600", "file:19 (control_api.blob_storage.presign_ttl_seconds)"],
    ["60", "file:20 (control_api.blob_storage.retention_days)"],
    ["packages", "file:22 (control_api.package_artifacts.bucket)"],
    ["14", "file:24 (control_api.gateway_request_logs.retention_days)"],
  ]);
  expect(config.get("scim.token")?.reveal()).toBe("sesame");
  expect(names).toHaveLength(MAPPED_KEYS.length);
  const read = config.warnings.find((warning) => warning.includes("are read as settings"));
  expect(read).toContain(
    `${config.file} are read as settings: control_api.listen (line 2) as server.listen, `,
  );
  for (const key of MAPPED_KEYS) expect(read).toContain(`${key} (line `);
});

test("flags and the environment override them as they override the file", () => {
  const env = { ...given.env, QUARTERMASTER_IDENTITY_MODE: "password" };
  const config = load(MAPPED, { flags: { serverListen: "localhost:1" }, env });
  expect([config.rowOf("server.listen").origin, config.rowOf("identity.mode").origin]).toEqual([
    "flag",
    "environment",
  ]);
});

test("reports an invalid value under the key that has it", () => {
  expect(problemsOf("control_api:\n  identity: {mode: ldap}\n")).toEqual([
    {
      pointer: "/control_api/identity/mode",
      detail: "control_api.identity.mode: must be one of password, oidc",
      line: 2,
    },
  ]);
});

test("refuses a secret among them in a file that everyone can read", () => {
  const yaml = "control_api:\n  identity: {scim_bearer_token: sesame}\n";
  const [problem] = problemsOf(yaml, { mode: 0o644 });
  expect(problem?.detail).toContain("everyone on this machine can read this secret");
});

test("accepts a native key with the same value, and refuses a different value with both names", () => {
  const both = (listen: string) => `${MAPPED}server:\n  listen: ${listen}\n`;
  expect(load(both("0.0.0.0:9000"), given).rowOf("server.listen").origin).toBe("file:26");
  expect(problemsOf(both("127.0.0.1:8080"), given)).toEqual([
    {
      pointer: "/server/listen",
      detail: "server.listen contradicts control_api.listen in line 2; remove one of them",
      line: 26,
    },
  ]);
});

test("compares secrets without showing them, in the file and in a separate file", () => {
  writeFileSync(join(cwd, "same"), "sesame\n", { mode: 0o600 });
  writeFileSync(join(cwd, "other"), "simsim\n", { mode: 0o600 });
  const both = (setting: string) => `${MAPPED}scim: {${setting}}\n`;
  for (const same of ["token: sesame", "token_file: same"])
    expect(load(both(same), given).get("scim.token")?.reveal()).toBe("sesame");
  for (const other of ["token: simsim", "token_file: other"]) {
    const problems = problemsOf(both(other), given);
    expect(problems.map(({ detail }) => detail)).toEqual([
      `scim.${other.split(":")[0]} contradicts control_api.identity.scim_bearer_token in line 11; remove one of them`,
    ]);
  }
});

test("warns once about each key without effect and never shows its value", () => {
  for (const key of KEYS_WITHOUT_EFFECT.filter((name) => name.startsWith("control_api."))) {
    const nested = key.split(".").reduceRight<unknown>((below, part) => ({ [part]: below }), "sesame");
    const { warnings } = load(JSON.stringify(nested));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toStartWith(`${key} has no effect: `);
    expect(warnings[0]).not.toContain("sesame");
  }
});

test("allows any members in the mappings among them", () => {
  const { warnings } = load(
    "control_api:\n  database: {url: b, pool: 3}\n  known_versions: {enabled: true}\n",
  );
  expect(warnings).toEqual([
    "control_api.database has no effect: the database is a file in data_dir and needs no connections",
    "control_api.known_versions has no effect: certified versions come with each release; a signed file named by harnesses.file extends them",
  ]);
});

test("refuses an unknown key and suggests the nearest reference key", () => {
  expect(problemsOf("control_api:\n  lisen: x\n  auth: {audiance: y}\n").map(({ detail }) => detail)).toEqual(
    [
      "control_api.lisen: no such key; the nearest is control_api.listen",
      "control_api.auth.audiance: no such key; the nearest is control_api.auth.audience",
    ],
  );
});
