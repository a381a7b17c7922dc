// The settings of gateway mode: one switch, all missing settings reported together, and sections of another service that are still
// accepted.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Config, loadConfig } from "../../../src/platform/config/config.ts";
import { PROXY_TOKEN_LENGTH_MIN } from "../../../src/platform/config/settings/gateway.ts";
import { KEY_BUDGET } from "../../../src/platform/config/settings/provisioner.ts";
import { settingOf } from "../../../src/platform/config/table.ts";
import { problemsOf as refusalOf } from "./problems.ts";

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "config-gateway-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

type Env = Record<string, string>;

function load(yaml: string, env: Env = {}): Config {
  const path = join(cwd, "quartermaster.yaml");
  writeFileSync(path, yaml, { mode: 0o600 });
  return loadConfig({ flags: { config: path }, env, cwd });
}

const problemsOf = (yaml: string, env?: Env) => refusalOf(() => load(yaml, env));

const BUILTIN = `
gateway:
  type: litellm
  url: https://gateway.example.org
  inference_proxy_url: https://proxy.example.org
  provisioner: {type: builtin-litellm, admin_key: sk-admin}
`;
const EXECUTABLE = `
gateway:
  type: litellm
  url: https://gateway.example.org
  inference_proxy_url: https://proxy.example.org
  provisioner:
    type: our-own
    executable_path: /opt/provisioner
    executable_sha256: ${"a".repeat(64)}
    policy_revision: rev-1
`;

test("both kinds of provisioner are complete with what they need", () => {
  expect(load(BUILTIN).get("gateway.provisioner.admin_key")?.reveal()).toBe("sk-admin");
  expect(load(EXECUTABLE).get("gateway.provisioner.executable_path")).toBe("/opt/provisioner");
});

test("reports all missing gateway settings together, by name", () => {
  expect(problemsOf("gateway: {type: litellm}\n")).toEqual([
    "gateway.url: missing; gateway mode needs it",
    "gateway.provisioner.type: missing; gateway mode needs it",
    "gateway.provisioner.admin_key: missing; gateway mode needs it: set gateway.provisioner.admin_key_file",
  ]);
});

test("reports missing settings together with invalid ones", () => {
  const yaml = "log: {level: loud}\ngateway: {type: litellm, url: http://example.org}\n";
  expect(problemsOf(yaml).map((detail) => detail.split(":")[0])).toEqual([
    "log.level",
    "gateway.url",
    "gateway.provisioner.type",
    "gateway.provisioner.admin_key",
  ]);
});

test("an executable needs its digest and a policy revision, and no admin key", () => {
  const both = "gateway.provisioner.executable_path and gateway.provisioner.executable_sha256";
  expect(problemsOf(EXECUTABLE.replace(/ {4}executable_sha256.*\n {4}policy_revision.*\n/, ""))).toEqual([
    "gateway.provisioner.policy_revision: missing; gateway mode needs it",
    `gateway.provisioner.executable_sha256: missing; ${both} are given together or not at all`,
  ]);
  expect(problemsOf(EXECUTABLE.replace(/ {4}executable_path.*\n/, ""))).toEqual([
    `gateway.provisioner.executable_path: missing; ${both} are given together or not at all`,
  ]);
});

test("a type that is not built in needs an executable", () => {
  expect(problemsOf(BUILTIN.replace("builtin-litellm", "our-own"))).toEqual([
    "gateway.provisioner.type: must be builtin-litellm, or gateway.provisioner.executable_path must be set",
  ]);
});

test("variables for the executable come from the service's environment, and an unset one is reported", () => {
  const yaml = EXECUTABLE.replace("type: our-own", "type: our-own\n    executable_environment: [ONE, TWO]");
  expect(problemsOf(yaml, { ONE: "1" })).toEqual([
    "gateway.provisioner.executable_environment: names TWO, which is not set",
  ]);
  const config = load(yaml, { ONE: "1", TWO: "2" });
  expect(["ONE", "TWO", "THREE"].map((name) => config.variable(name))).toEqual(["1", "2", undefined]);
});

test("turns gateway mode off without a type, and one warning names the settings without effect", () => {
  const yaml = BUILTIN.replace("  type: litellm\n", "");
  expect(load(yaml).warnings).toEqual([
    "gateway.type is not set, so gateway mode is off and these do nothing: gateway.url, " +
      "gateway.inference_proxy_url, gateway.provisioner.type, gateway.provisioner.admin_key",
  ]);
});

test("accepts detail settings without a type and reads no secret", () => {
  const yaml =
    "gateway: {url: http://example.org, provisioner: {admin_key_file: /nowhere, timeout_seconds: x}}\n";
  expect(load(yaml).warnings).toHaveLength(1);
  expect(load("").warnings).toEqual([]);
});

test("refuses an unknown type and reports the other missing settings with it", () => {
  expect(problemsOf("gateway: {type: bedrock}\n")).toContain("gateway.type: must be one of litellm");
});

test("keys of a reference deployment without effect are accepted, each with a warning that names its replacement", () => {
  const yaml = BUILTIN.replace(
    "  provisioner: {",
    [
      "  internal_allowed_client_id: a",
      "  inference_jwt: {issuer: i, audience: u, private_key_file: os.environ/GONE}",
      "  secret_encryption: {provider: aws-kms, key_id: k}",
      "  provisioner: {",
    ].join("\n"),
  );
  const config = load(yaml);
  expect(config.warnings).toEqual([
    "gateway.internal_allowed_client_id has no effect: gateway.proxy_token replaces it",
    "gateway.inference_jwt.private_key_file has no effect: signing keys are created and rotated in data_dir; see gateway.inference_jwt.rotation_days",
    "gateway.secret_encryption.provider has no effect: gateway keys are sealed locally; keys.sealing_key replaces it",
    "gateway.secret_encryption.key_id has no effect: gateway keys are sealed locally; keys.sealing_key replaces it",
  ]);
  expect(config.get("gateway.inference_jwt.issuer")).toBe("i");
});

test("secrets come from separate files", () => {
  writeFileSync(join(cwd, "token"), `${"t".repeat(40)}\n`, { mode: 0o600 });
  writeFileSync(join(cwd, "admin"), "sk-1\n", { mode: 0o600 });
  const yaml = BUILTIN.replace("admin_key: sk-admin", "admin_key_file: admin").replace(
    "  url:",
    "  proxy_token_file: token\n  url:",
  );
  const config = load(yaml);
  expect(config.get("gateway.proxy_token")?.reveal()).toBe("t".repeat(40));
  expect(config.get("gateway.provisioner.admin_key")?.reveal()).toBe("sk-1");
});

test("the environment overrides the file, under the name of the key path", () => {
  const env = { QUARTERMASTER_GATEWAY_PROVISIONER_POLICY_MODELS: "one,two" };
  expect(load(BUILTIN, env).get("gateway.provisioner.policy.models")).toEqual(["one", "two"]);
});

const accepts = (name: Parameters<typeof settingOf>[0], raw: unknown): boolean =>
  !("wrong" in settingOf(name).type.read(raw, cwd));

test("the proxy's token has a minimum length", () => {
  const lengths = [PROXY_TOKEN_LENGTH_MIN - 1, PROXY_TOKEN_LENGTH_MIN, PROXY_TOKEN_LENGTH_MIN + 1];
  const taken = lengths.map((length) => accepts("gateway.proxy_token", "t".repeat(length)));
  expect(taken).toEqual([false, true, true]);
});

test("budgets, durations, digests and variable names must match their formats", () => {
  const budgets = [KEY_BUDGET.max - 0.5, KEY_BUDGET.max, KEY_BUDGET.max + 0.5];
  expect(budgets.map((raw) => accepts("gateway.provisioner.policy.max_budget", raw))).toEqual([
    true,
    true,
    false,
  ]);
  const durations = ["30d", "1mo", "90s", "12h", "5m", "0d", "30", "d", "1y", "-1d"];
  expect(durations.filter((raw) => accepts("gateway.provisioner.policy.duration", raw))).toEqual([
    "30d",
    "1mo",
    "90s",
    "12h",
    "5m",
  ]);
  const digests = [63, 64, 65].map((length) => "a".repeat(length));
  expect(digests.map((raw) => accepts("gateway.provisioner.executable_sha256", raw))).toEqual([
    false,
    true,
    false,
  ]);
  expect(accepts("gateway.provisioner.executable_sha256", "A".repeat(64))).toBe(false);
  const names = ["HTTPS_PROXY", "_x1", "1X", "A B", "A=B"];
  expect(names.filter((raw) => accepts("gateway.provisioner.executable_environment", [raw]))).toEqual([
    "HTTPS_PROXY",
    "_x1",
  ]);
});
