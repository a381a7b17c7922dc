// The settings of the identity provider: what they require, and which combinations are refused or cause a warning.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ISSUER_LENGTH_MAX } from "../../../src/platform/config/addresses.ts";
import { type Config, loadConfig } from "../../../src/platform/config/config.ts";
import { problemsOf as refusalOf } from "./problems.ts";

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "config-provider-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const COMPLETE = { issuer: "https://id.example.org/realms/a/", client_id: "qm", client_secret: "s" };

function load(oidc: object, mode = "password"): Config {
  const path = join(cwd, "quartermaster.yaml");
  writeFileSync(path, JSON.stringify({ identity: { mode, oidc } }), { mode: 0o600 });
  return loadConfig({ flags: { config: path }, env: {}, cwd });
}

const problemsOf = (oidc: object) =>
  refusalOf(() => load(oidc)).map((detail) => detail.split(":", 1)[0] ?? "");

test("SSO-32 a provider needs a client id and a credential; the issuer keeps its trailing slash", () => {
  expect(load(COMPLETE).get("identity.oidc.issuer")).toBe(COMPLETE.issuer);
  expect(problemsOf({ issuer: COMPLETE.issuer })).toEqual([
    "identity.oidc.client_id",
    "identity.oidc.client_secret",
  ]);
  expect(problemsOf({ ...COMPLETE, client_auth: "private_key_jwt" })).toEqual(["identity.oidc.client_key"]);
});

test("SSO-32 a missing secret is reported under the setting that names its file", () => {
  expect(() => load({ issuer: COMPLETE.issuer, client_id: "qm" })).toThrow(
    expect.objectContaining({
      problems: [
        expect.objectContaining({
          detail: expect.stringMatching(/issuer needs it: set identity\.oidc\.client_secret_file$/),
        }),
      ],
    }),
  );
});

test("SSO-11 a pattern is not a domain, because domains are compared exactly", () => {
  for (const domain of ["*.example.com", "example.*", "ex*mple.com"])
    expect(problemsOf({ ...COMPLETE, allowed_domains: [domain] })).toEqual(["identity.oidc.allowed_domains"]);
  expect(
    load({ ...COMPLETE, allowed_domains: ["a-1.example.com"] }).get("identity.oidc.allowed_domains"),
  ).toEqual(["a-1.example.com"]);
});

describe("an issuer", () => {
  const PREFIX = "https://id.example.org/";
  const ofLength = (length: number) => PREFIX + "a".repeat(length - PREFIX.length);

  test.each([
    "https://id.example.org",
    "http://localhost:9000",
    "http://127.0.0.1:9000/a",
    "http://[::1]:9000",
    ofLength(ISSUER_LENGTH_MAX - 1),
    ofLength(ISSUER_LENGTH_MAX),
  ])("%# is accepted as it is", (issuer) => {
    expect(load({ ...COMPLETE, issuer }).get("identity.oidc.issuer")).toBe(issuer);
  });

  test.each([
    "http://id.example.org",
    "https://id.example.org?tenant=a",
    "https://id.example.org#a",
    "https://ana:secret@id.example.org",
    "https://id.example.org\\evil",
    "id.example.org",
    "ldap://id.example.org",
    ofLength(ISSUER_LENGTH_MAX + 1),
  ])("%# is refused", (issuer) => {
    expect(problemsOf({ ...COMPLETE, issuer })).toEqual(["identity.oidc.issuer"]);
  });
});

describe("SSO-2 jit", () => {
  const jit = { ...COMPLETE, provisioning: "jit" };

  test("is refused without a rule, because anyone could sign in", () => {
    expect(problemsOf(jit)).toEqual(["identity.oidc.provisioning"]);
  });

  test.each([
    ["allowed_domains", ["@example.com"]],
    ["allowed_groups", [""]],
    ["allowed_groups", 5],
    ["required_claims", []],
    ["required_claims", { tid: [1] }],
  ])("names the rule %s that is invalid: %j", (rule, value) => {
    expect(problemsOf({ ...jit, [rule]: value })).toEqual([`identity.oidc.${rule}`]);
  });

  test.each([
    { allowed_groups: ["agents"] },
    { allowed_domains: ["example.org"] },
    { required_claims: { tid: "one" } },
  ])("is accepted with %p", (rule) => {
    expect(load({ ...jit, ...rule }).get("identity.oidc.provisioning")).toBe("jit");
  });
});

const SHARED_TENANTS = ["common", "organizations", "Consumers", "9188040d-6c67-4c5b-b112-36a304b66dad"];
const escaped = (text: string) => text.replace(/./g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);

test.each([
  ...SHARED_TENANTS,
  ...SHARED_TENANTS.map(escaped),
  ...SHARED_TENANTS.map(escaped).map(escaped),
  ...["x/../common", "x/%2e%2e/common", `x${escaped("/common")}`, `%ff/${escaped("common")}`, "%zz/common"],
])("SSO-6 trust_email is refused for the shared tenant %s", (tenant) => {
  const issuer = `https://login.example.org/${tenant}/v2.0`;
  expect(problemsOf({ ...COMPLETE, issuer, trust_email: true })).toEqual(["identity.oidc.trust_email"]);
  expect(load({ ...COMPLETE, issuer }).get("identity.oidc.trust_email")).toBe(false);
});

test("settings without an issuer have no effect, and mode oidc without an issuer locks everyone out: both cause a warning", () => {
  expect(load({ client_id: "qm" }, "oidc").warnings).toEqual([
    "identity.oidc.issuer is not set, so these do nothing: identity.oidc.client_id",
    expect.stringContaining("only the first administrator can sign in"),
  ]);
  expect(load(COMPLETE, "oidc").warnings.join()).not.toContain("issuer");
});
