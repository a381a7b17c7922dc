// The tests of airgap.test.ts that run in a network namespace with nothing but loopback: the executable runs the tasks of an
// isolated site in their order, and then the kernel's counters show whether any packet was meant for another host (AIR-2, AIR-3,
// AIR-6).
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { sha256Hex } from "../../src/platform/ids.ts";
import { FormBrowser, formTo, passkeyOptionsIn } from "../support/browser/form-browser.ts";
import { runCli } from "../support/cli/cli.ts";
import { builtExecutable } from "../support/cli/executable.ts";
import { tarFile, tarGzOf } from "../support/content/tar.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import { createAuthenticator } from "../support/second-factor/software-authenticator.ts";

const BARE = { PATH: "/nonexistent" };
const EMAIL = "admin@example.com";
const CLIENT = "blue-cli";
const command = [builtExecutable()];

let directory: string;
let service: RunningService;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "quartermaster-test-"));
  service = await startService({ args: ["--data-dir", "data"], env: BARE, command, cwd: directory });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

/** Runs a command line that must succeed. @returns its output */
async function cli(line: string, dataDir = "data"): Promise<string> {
  const args = [...line.split(" "), ...(dataDir === "" ? [] : ["--data-dir", dataDir])];
  const { stdout, stderr, exitCode } = await runCli(args, { command, cwd: directory, env: BARE });
  if (exitCode !== 0) throw new Error(`${line}: exit code ${exitCode}\n${stderr}`);
  return stdout;
}

const cliJson = async (line: string, dataDir?: string) => JSON.parse(await cli(`${line} --json`, dataDir));

interface Sent {
  method?: string;
  headers?: Record<string, string>;
  json?: object;
  form?: Record<string, string>;
}

const ask = (path: string, { json, form, headers, ...more }: Sent = {}): Promise<Response> =>
  fetch(new URL(path, service.baseUrl), {
    redirect: "manual",
    ...more,
    ...((json ?? form) && { method: more.method ?? "POST" }),
    headers: { ...(json && { "content-type": "application/json" }), ...headers },
    ...(json && { body: JSON.stringify(json) }),
    ...(form && { body: new URLSearchParams(form) }),
  });

/** @returns an access token of a workstation whose login the administrator approved in the browser */
async function logIn(): Promise<string> {
  const signIn = await ask("/api/auth/sign-in/email", {
    json: { email: EMAIL, password: service.password() },
  });
  const cookie = signIn.headers.get("set-cookie")?.split(";")[0] ?? "";
  const request = { client_id: CLIENT, resource: service.baseUrl };
  const scope = "offline_access governance:read client-status:write";
  const { device_code, verification_uri_complete: link } = await (
    await ask("/api/auth/device/code", { form: { ...request, scope } })
  ).json();
  const page = `/api${new URL(link).pathname}`;
  expect((await ask(page, { headers: { cookie } })).status).toBe(200);
  expect((await ask(page, { json: { action: "approve" }, headers: { cookie } })).status).toBe(200);
  const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
  const response = await ask("/api/auth/oauth2/token", { form: { ...request, grant_type, device_code } });
  return (await response.json()).access_token;
}

/** @returns how often the kernel was asked for a missing route: name lookups count, too */
function waysOut(): number {
  const [names = "", counts = ""] = readFileSync("/proc/net/snmp", "utf8")
    .split("\n")
    .filter((line) => line.startsWith("Ip: "));
  const place = names.split(" ").indexOf("OutNoRoutes");
  const six = /^Ip6OutNoRoutes\s+(\d+)$/m.exec(readFileSync("/proc/net/snmp6", "utf8"))?.[1];
  return Number(counts.split(" ")[place]) + Number(six);
}

const NEGOTIATION = {
  "x-blue-contract-version": "3",
  "x-blue-capabilities":
    "adapter_intervals,compiled_harness_registry,gateway_inference_jwt,transactional_reconcile,unverified_harness_versions,versioned_state",
};

const GUIDE = tarGzOf(tarFile("skills/guide/SKILL.md", "how to"));
const SHA256 = sha256Hex(GUIDE);

describe("AIR-2: a host with loopback only", () => {
  test("has only the loopback interface and has sent nothing", () => {
    expect(Object.keys(networkInterfaces())).toEqual(["lo"]);
    expect(waysOut()).toBe(0);
  });

  test("AIR-3: pages contain no address of another host", async () => {
    for (const path of ["/login", "/device", "/nowhere"]) {
      const page = await (await ask(path, { headers: { accept: "text/html" } })).text();
      const links = [...page.matchAll(/(?:href|src|action)="([^"]*)"/g)].map(([, link = ""]) => link);
      for (const link of links) {
        expect(link).toMatch(/^(?:\/(?!\/)|#|data:)/);
        if (!/\.(?:css|svg|js)$/.test(link)) continue;
        const asset = await ask(link);
        expect(asset.status).toBe(200);
        expect(await asset.text()).not.toMatch(/@import|url\(["']?(?:https?:)?\/\//);
      }
    }
  });

  test("a passkey is set up and signs in", async () => {
    const origin = "https://control.example.org";
    const listen = "127.0.0.1:18080"; // no other process is in this namespace
    const flags = { "data-dir": "passkeys", "server-listen": listen, "server-public-url": origin };
    const settings = Object.entries({ ...flags, "identity-second-factor": "everyone" });
    const args = settings.flatMap(([name, value]) => [`--${name}`, value]);
    await using other = await startService({ args, env: BARE, command, cwd: directory });
    const authenticator = createAuthenticator(origin);
    const browse = () => new FormBrowser(`http://${listen}`, (request) => fetch(request));
    const credential = { email: EMAIL, password: other.password() };
    const first = browse();
    await first.signIn(await first.visit("/login"), credential);
    const setup = await first.visit("/login/second-factor/setup/passkey");
    const response = authenticator.create(passkeyOptionsIn(setup));
    const codes = await first.submit(formTo(setup, "/login/second-factor/setup/passkey"), {
      answer: response,
    });
    expect(codes.heading).toBe("Keep your recovery codes");
    const second = browse();
    const question = await second.signIn(await second.visit("/login"), credential);
    const proof = authenticator.get(passkeyOptionsIn(question));
    const page = await second.submit(formTo(question, "/login/second-factor"), { answer: proof });
    expect(page.heading).toBe("Overview");
  });

  test("a catalog arrives in a bundle", async () => {
    writeFileSync(join(directory, "guide.tar.gz"), GUIDE);
    const entry = { id: "guide", version: "1", source_ref: "guide.tar.gz", sha256: SHA256 };
    writeFileSync(
      join(directory, "catalog.json"),
      JSON.stringify([{ ...entry, adapters: { kimi: { skills_dir: "skills" } } }]),
    );
    await cli("setup", "elsewhere");
    await cli("catalog seed catalog.json", "elsewhere");
    writeFileSync(join(directory, "elsewhere.pub"), await cli("catalog bundle-key", "elsewhere"));
    await cli("catalog export --bundle spring.qmc", "elsewhere");
    expect(await cli("catalog import spring.qmc --trust elsewhere.pub --dry-run")).toContain("1 added");
    expect(await cli("catalog import spring.qmc --trust elsewhere.pub")).toContain("Imported: 1 added");
    expect(await cli("catalog import spring.qmc --trust elsewhere.pub")).toContain("unchanged");
    expect(await cli("catalog verify")).toContain("1 artifact intact");
  });

  test("a workstation signs in, follows the policy, fetches its package and reports", async () => {
    const authorization = `Bearer ${await logIn()}`;
    const [guide] = (await cliJson("catalog export -")).package_catalog.packages;
    const policy = { revision: "any", allowed_harnesses: ["kimi"], packages: [guide] };
    writeFileSync(join(directory, "policy.json"), JSON.stringify(policy));
    await cli("policy apply policy.json --yes");
    const fetched = await (
      await ask("/governance-config", { headers: { authorization, ...NEGOTIATION } })
    ).json();
    const [{ artifact_id }] = fetched.packages;
    const offer = await ask(`/package-artifacts/${artifact_id}/download`, {
      method: "POST",
      headers: { authorization },
    });
    const { url } = await offer.json();
    expect(sha256Hex(await (await fetch(url)).bytes())).toBe(SHA256);
    const report = {
      instance_id: crypto.randomUUID(),
      hostname: "lab-14",
      client_version: "0.1.0",
      platform: "linux",
      architecture: "x86_64",
      config_revision: fetched.revision,
      applied: true,
      files_ok: true,
      harnesses: [],
      packages: [],
      reconciliation_attempt: null,
      error: null,
    };
    expect((await ask("/client-status", { json: report, headers: { authorization } })).status).toBe(204);
    expect((await cliJson("clients list")).items).toMatchObject([{ hostname: "lab-14" }]);
    expect((await ask("/admin/package-catalog", { headers: { authorization } })).status).toBe(200);
    await cli("clients revoke lab-14 --yes");
    expect((await ask("/governance-config", { headers: { authorization, ...NEGOTIATION } })).status).toBe(
      401,
    );
  });

  test("people are invited, and an identity provider on the site pushes users and groups", async () => {
    const { invitation_url: link } = await cliJson(
      `users invite ada@example.com --role member --server-public-url ${service.baseUrl}`,
    );
    expect((await ask(link)).status).toBe(200);
    const { token } = await cliJson("scim tokens create site");
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/scim+json" };
    const scim = async (path: string, body: object) =>
      await (await ask(`/scim/v2${path}`, { method: "POST", json: body, headers })).json();
    const schema = "urn:ietf:params:scim:schemas:core:2.0";
    const emails = [{ value: "li@example.com", primary: true }];
    const { id } = await scim("/Users", { schemas: [`${schema}:User`], userName: "li@example.com", emails });
    await scim("/Groups", { schemas: [`${schema}:Group`], displayName: "Lab", members: [{ value: id }] });
    expect((await cliJson("groups list")).items).toMatchObject([{ display_name: "Lab" }]);
  });

  test("keys are rotated, jobs run, and the audit log verifies", async () => {
    await cli("signing-keys rotate --yes");
    await cli("sealing-keys rotate --yes");
    expect((await cliJson("jobs list")).items.length).toBeGreaterThan(1);
    await cli("jobs run access-sweep");
    expect(await cli("audit verify")).not.toBe("");
    expect(await cli("status")).not.toBe("");
    expect(await cli("doctor --deep")).not.toBe("");
  });

  test("a backup is made while the service runs, verified, and restored while it is stopped", async () => {
    await cli("backup create monday.qmb");
    await cli("backup verify monday.qmb", "");
    service.signal("SIGTERM");
    expect(await service.ended()).toBe(0);
    await cli("backup restore monday.qmb --revoke-logins --confirm data");
    service = await startService({ args: ["--data-dir", "data"], env: BARE, command, cwd: directory });
    expect((await ask("/ready")).status).toBe(200);
  });

  test("all help is in the executable", async () => {
    for (const line of [
      "help exit-codes",
      "manual",
      "unit",
      "completion bash",
      "completion zsh",
      "completion fish",
    ])
      expect((await cli(line, "")).length).toBeGreaterThan(100);
    expect(await cli("config show --outgoing")).not.toContain("http");
  });

  test("made no outgoing connection in any step", () => {
    expect(waysOut()).toBe(0);
  });

  test("AIR-6: an unreachable gateway does not delay the start, and `status` reports it", async () => {
    const gateway =
      "gateway: {type: litellm, url: 'https://192.0.2.1', inference_proxy_url: 'https://192.0.2.2', ";
    const text = `${gateway}provisioner: {type: builtin-litellm, admin_key_file: admin-key}}\n`;
    writeFileSync(join(directory, "gateway.yaml"), text);
    writeFileSync(join(directory, "admin-key"), "sk-admin\n", { mode: 0o600 });
    await service[Symbol.asyncDispose]();
    const args = ["--data-dir", "data", "--config", "gateway.yaml"];
    service = await startService({ args, env: BARE, command, cwd: directory });
    expect((await ask("/ready")).status).toBe(200);
    expect(await cli("status --config gateway.yaml")).toContain("192.0.2.1");
    expect(waysOut()).toBeGreaterThan(0); // proves that the kernel counts packets to other hosts
  });
});
