// How the settings turn on gateway mode: settings of the area, destinations, provisioner, and the digest of the configuration.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { destinationsOf } from "../../../src/app/installation/destinations.ts";
import { assertExecutableUsable, gatewayModeOf } from "../../../src/app/installation/gateway-mode.ts";
import { gatewaySettingsOf } from "../../../src/app/installation/gateway-settings.ts";
import { configurationDigest } from "../../../src/domain/gateway/keys/configuration-digest.ts";
import type { ProvisionerSettings } from "../../../src/domain/gateway/settings.ts";
import { type Config, loadConfig } from "../../../src/platform/config/config.ts";
import { openDataDirectory } from "../../../src/platform/data-directory/data-directory.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { sha256Hex } from "../../../src/platform/ids.ts";
import { createOutbound } from "../../../src/platform/outbound/outbound.ts";
import { heldClock } from "../../support/world.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "quartermaster-test-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const SCRIPT = "#!/bin/sh\n";
const DIGEST = sha256Hex(SCRIPT);

function configOf(gateway: object | undefined, env: Record<string, string> = {}): Config {
  const path = join(folder, "quartermaster.yaml");
  writeFileSync(path, JSON.stringify({ gateway }), { mode: 0o600 });
  return loadConfig({ flags: { config: path }, env, cwd: folder });
}

const SHARED = {
  type: "litellm",
  url: "https://gateway.example.org",
  inference_proxy_url: "https://inference.example.org",
};
const BUILTIN = { ...SHARED, provisioner: { type: "builtin-litellm", admin_key: "sk-admin" } };

function executable(script = SCRIPT) {
  const executable_path = join(folder, "provisioner");
  writeFileSync(executable_path, script, { mode: 0o700 });
  chmodSync(executable_path, 0o700);
  const pin = { executable_path, executable_sha256: DIGEST, policy_revision: "rev-1" };
  return { ...SHARED, provisioner: { type: "our-own", ...pin } };
}

const settingsOf = (gateway: object | undefined, env?: Record<string, string>) =>
  gatewaySettingsOf(configOf(gateway, env), () => "https://control.example.org");

test("gateway mode without a type is off and contacts no host", () => {
  expect(settingsOf(undefined)).toBeUndefined();
  expect(destinationsOf(configOf(undefined))).toEqual([]);
});

test("omitted settings get defaults: the base URL issues tokens, and the proxy is checked at its public URL", () => {
  expect(settingsOf(BUILTIN)).toMatchObject({
    inferenceProxyHealthUrl: "https://inference.example.org",
    proxyToken: undefined,
    inferenceJwt: {
      issuer: "https://control.example.org",
      audience: "blue-inference-proxy",
      tokenTtlSeconds: 43_200,
      rotationDays: 30,
    },
    provisioner: {
      executable: undefined,
      policyRevision: undefined,
      policy: { models: [], teamScoped: false },
    },
  });
});

test("every setting reaches its component", () => {
  const policy = {
    models: ["model-a", "model-b"],
    max_budget: 12.5,
    budget_duration: "30d",
    rpm_limit: 1,
    tpm_limit: 2,
    max_parallel_requests: 3,
    duration: "90d",
    team_scoped: true,
  };
  const settings = settingsOf({
    ...SHARED,
    inference_proxy_health_url: "http://proxy:8081",
    proxy_token: "t".repeat(32),
    inference_jwt: { issuer: "https://i", audience: "a", token_ttl_seconds: 60, rotation_days: 7 },
    provisioner: {
      type: "builtin-litellm",
      admin_key: "sk-admin",
      reconcile_ttl_seconds: 60,
      timeout_seconds: 5,
      max_concurrency: 2,
      policy_revision: "rev-2",
      policy,
    },
  });
  expect(settings?.proxyToken?.reveal()).toBe("t".repeat(32));
  expect(settings?.provisioner.adminKey?.reveal()).toBe("sk-admin");
  expect(settings).toMatchObject({
    type: "litellm",
    url: "https://gateway.example.org",
    inferenceProxyUrl: "https://inference.example.org",
    inferenceProxyHealthUrl: "http://proxy:8081",
    inferenceJwt: { issuer: "https://i", audience: "a", tokenTtlSeconds: 60, rotationDays: 7 },
    provisioner: {
      type: "builtin-litellm",
      reconcileTtlSeconds: 60,
      timeoutSeconds: 5,
      maxConcurrency: 2,
      policyRevision: "rev-2",
      policy: {
        models: ["model-a", "model-b"],
        maxBudget: 12.5,
        budgetDuration: "30d",
        rpmLimit: 1,
        tpmLimit: 2,
        maxParallelRequests: 3,
        duration: "90d",
        teamScoped: true,
      },
    },
  });
});

test("an executable gets only the environment variables listed for it", () => {
  const gateway = executable();
  const named = { ...gateway.provisioner, executable_environment: ["ONE"] };
  const settings = settingsOf({ ...gateway, provisioner: named }, { ONE: "1", TWO: "2" });
  expect(settings?.provisioner.executable).toEqual({
    path: gateway.provisioner.executable_path,
    sha256: DIGEST,
    environment: { ONE: "1" },
  });
});

test("the gateway is a destination for keys, and for inference if this service forwards it; the proxy is a destination for health checks", () => {
  const names = (gateway: object) =>
    destinationsOf(configOf(gateway)).map(({ name, origin }) => [name, origin]);
  const proxy = ["inference-proxy", "https://inference.example.org"];
  const upstream = ["inference-upstream", "https://gateway.example.org"];
  expect(names(BUILTIN)).toEqual([["gateway", "https://gateway.example.org"], upstream, proxy]);
  expect(names(executable())).toEqual([upstream, proxy]);
  const external = { ...executable(), proxy_token: "t".repeat(32) };
  expect(names(external)).toEqual([proxy]);
  const apart = { ...external, inference_proxy_health_url: "http://10.0.0.7:8081" };
  expect(names(apart)).toEqual([["inference-proxy", "http://10.0.0.7:8081"]]);
});

test("the configured provisioner is used", () => {
  const modeOf = (gateway: object) => {
    const config = configOf(gateway);
    return gatewayModeOf({
      config,
      clock: heldClock(),
      directory: openDataDirectory(join(folder, "data")),
      outbound: createOutbound({ allowed: destinationsOf(config) }),
      baseUrl: () => "https://control.example.org",
    });
  };
  expect(modeOf(BUILTIN)?.provisioner.type).toBe("builtin-litellm");
  expect(modeOf(executable())?.provisioner.type).toBe("our-own");
});

test("an executable that differs from the pinned one is refused with all problems", () => {
  const refusal = (gateway: object): unknown => {
    try {
      assertExecutableUsable(configOf(gateway));
    } catch (error) {
      if (error instanceof DomainError) return error.problems.map(({ pointer }) => pointer);
      throw error;
    }
    return "accepted";
  };
  expect(refusal(BUILTIN)).toBe("accepted");
  expect(refusal(executable())).toBe("accepted");
  const changed = executable("#!/bin/sh\nexit 1\n");
  expect(refusal(changed)).toEqual(["/gateway/provisioner/executable_sha256"]);
  chmodSync(changed.provisioner.executable_path, 0o622);
  expect(refusal(changed)).toEqual([
    "/gateway/provisioner/executable_path",
    "/gateway/provisioner/executable_path",
    "/gateway/provisioner/executable_sha256",
  ]);
});

test("the digest changes with every setting that affects keys, and with no other", () => {
  const base = settingsOf(BUILTIN);
  if (!base) throw new Error("gateway mode is on");
  const digestWith = (changes: Partial<ProvisionerSettings>, url = base.url) =>
    configurationDigest({ url, provisioner: { ...base.provisioner, ...changes } });
  const pin = { path: "/p", sha256: DIGEST, environment: {} };
  const different = [
    digestWith({}),
    digestWith({}, "https://other.example.org"),
    digestWith({ type: "our-own" }),
    digestWith({ policyRevision: "rev-2" }),
    digestWith({ policy: { ...base.provisioner.policy, models: ["model-a"] } }),
    digestWith({ executable: pin }),
    digestWith({ executable: { ...pin, sha256: "0".repeat(64) } }),
  ];
  expect(new Set(different).size).toBe(different.length);
  const same = { timeoutSeconds: 3, maxConcurrency: 1, reconcileTtlSeconds: 5, adminKey: undefined };
  expect(digestWith(same)).toBe(digestWith({}));
  expect(digestWith({ executable: { ...pin, path: "/q" } })).toBe(digestWith({ executable: pin }));
});
