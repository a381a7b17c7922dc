// Commands for gateway keys, jobs and sealing keys while a service runs on the same data directory in its own process. The gateway
// is a real server. golden/ has the exact output of each command.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CliResult, runCli } from "../../../support/cli/cli.ts";
import { LitellmGateway } from "../../../support/gateway/litellm-gateway.ts";
import { runHere } from "../../../support/in-process.ts";
import { gatewayConfiguration } from "../../../support/installed/installed-gateway.ts";
import {
  ADMIN_EMAIL,
  ADMIN_PASSWORD,
  prepareInstallation,
} from "../../../support/installed/prepared-installation.ts";
import { type RunningService, startService } from "../../../support/running-service.ts";
import { temporaryDirectory } from "../../../support/world.ts";

let folder: string;
let gateway: LitellmGateway;
let service: RunningService;
let cookie: string;

beforeAll(async () => {
  folder = temporaryDirectory();
  gateway = await LitellmGateway.start();
  writeFileSync(join(folder, "gateway.yaml"), gatewayConfiguration(gateway), { mode: 0o600 });
  await prepareInstallation(join(folder, "data"));
  service = await startService({ args: placed([]) });
  cookie = await signIn();
  gateway.addUser(ADMIN_EMAIL);
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await gateway.stop();
  rmSync(folder, { recursive: true });
});

const placed = (args: readonly string[]): string[] => [
  ...args,
  "--data-dir",
  join(folder, "data"),
  "--config",
  join(folder, "gateway.yaml"),
];

const argumentsOf = (line: string): string[] => placed([...line.split(" "), "--json"]);
const run = (line: string): Promise<CliResult> => runHere(argumentsOf(line), { cwd: folder });

async function command(line: string): Promise<Record<string, unknown>> {
  const { stdout, stderr, exitCode } = await run(line);
  expect({ line, stderr: exitCode === 0 ? "" : stderr, exitCode }).toEqual({ line, stderr: "", exitCode: 0 });
  return JSON.parse(stdout);
}

async function signIn(): Promise<string> {
  const response = await fetch(`${service.baseUrl}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: ADMIN_EMAIL, password: ADMIN_PASSWORD }),
  });
  return response.headers.get("set-cookie")?.split(";")[0] ?? "";
}

/** @returns the administrator's own key, from the API of the service */
async function ask(method: "GET" | "POST", path: string): Promise<Record<string, unknown>> {
  const headers = { cookie, origin: service.baseUrl };
  return Object(await (await fetch(service.baseUrl + path, { method, headers })).json());
}

const keysOf = (email: string) => {
  const user = gateway.users.find(({ user_email }) => user_email === email);
  return gateway.keys.filter(({ user_id }) => user_id === user?.user_id).map(({ token }) => token);
};

const calls = (operation: string): number => gateway.calls.filter((call) => call === operation).length;

/** Makes a job due, and polls until it has finished a run that started afterwards. */
async function runJob(name: string): Promise<Record<string, unknown>> {
  const sinceMs = Date.now();
  await command(`jobs run ${name}`);
  for (;;) {
    const { items } = await command("jobs list");
    const job = Array.isArray(items) ? items.find((one) => one.name === name) : undefined;
    if (job?.state !== "running" && Date.parse(job?.started_at ?? "") >= sinceMs) return job;
    await Bun.sleep(20);
  }
}

const sealed = async (): Promise<[string, number][]> => {
  const { items } = await command("sealing-keys list");
  return Array.isArray(items) ? items.map(({ state, total }) => [state, total]) : [];
};

test("the service returns the key that a command created, and neither creates another", async () => {
  expect(await ask("GET", "/gateway/key")).toMatchObject({ enabled: true, status: "missing" });
  expect(await command(`keys ensure ${ADMIN_EMAIL}`)).toMatchObject({
    changed: true,
    key: { state: "ready" },
  });
  const [token] = keysOf(ADMIN_EMAIL);
  expect(await ask("GET", "/gateway/key")).toMatchObject({ status: "ready", external_id: token });
  expect(await ask("POST", "/gateway/key/ensure")).toMatchObject({ status: "ready", external_id: token });
  expect(await command(`keys ensure ${ADMIN_EMAIL}`)).toMatchObject({ changed: false });
  expect(calls("POST /key/generate")).toBe(1);
});

test("the next response has the rotated key, and the old key keeps working for some time", async () => {
  const [old] = keysOf(ADMIN_EMAIL);
  const { key } = await command(`keys rotate ${ADMIN_EMAIL} --yes`);
  const { external_id } = Object(key);
  expect(external_id).not.toBe(old);
  expect(await ask("GET", "/gateway/key")).toMatchObject({ status: "ready", external_id });
  await runJob("gateway-reconcile");
  expect(keysOf(ADMIN_EMAIL)).toEqual([old, external_id]);
});

test("concurrent processes create only one key for a user", async () => {
  const email = "bob@example.org";
  await command(`users create ${email} --role member`);
  gateway.addUser(email);
  const made = calls("POST /key/generate");
  const outcomes = await Promise.all(
    [1, 2, 3].map(() => runCli(argumentsOf(`keys ensure ${email}`), { cwd: folder })),
  );
  const [token, ...others] = keysOf(email);
  expect({ others, made: calls("POST /key/generate") - made }).toEqual({ others: [], made: 1 });
  for (const { stdout, stderr, exitCode } of outcomes) {
    if (exitCode === 0) expect(JSON.parse(stdout).key).toMatchObject({ state: "ready", external_id: token });
    else expect(JSON.parse(stderr)).toMatchObject({ reason: "gateway.attempt_running", exit_code: 6 });
  }
  expect(outcomes.map(({ exitCode }) => exitCode)).toContain(0);
});

test("a revoked key is missing from the next response, and soon from the gateway", async () => {
  await command(`keys revoke ${ADMIN_EMAIL} --yes`);
  expect(await ask("GET", "/gateway/key")).toMatchObject({ status: "missing", external_id: null });
  await runJob("gateway-reconcile");
  expect(keysOf(ADMIN_EMAIL)).toEqual([]);
  expect(await command(`keys show ${ADMIN_EMAIL}`)).toMatchObject({
    state: "missing",
    revocations_pending: 0,
  });
});

test("after an outage, `keys reconcile` repairs every key, lists failures, and succeeds once nothing fails", async () => {
  gateway.fail("*", { kind: "status", status: 503 });
  expect(await run("keys ensure bob@example.org")).toMatchObject({ exitCode: 0 });
  const failing = await run("keys reconcile");
  expect(failing.exitCode).toBe(8);
  expect(JSON.parse(failing.stdout)).toMatchObject({
    failing: [{ email: "bob@example.org", state: "ready", problem_code: "unavailable" }],
  });
  gateway.heal();
  expect(await command("keys reconcile")).toMatchObject({ failing: [], revocations_pending: 0 });
});

test("the service runs a job that was made due, but not a paused one", async () => {
  expect(await runJob("access-sweep")).toMatchObject({ outcome: "succeeded", error: null });
  await command("jobs pause access-sweep");
  expect(await run("jobs run access-sweep")).toMatchObject({ exitCode: 4 });
  expect(await command("jobs resume access-sweep")).toMatchObject({ changed: true });
});

test("the service uses a new sealing key immediately, and reseals all secrets with it", async () => {
  expect(await ask("POST", "/gateway/key/ensure")).toMatchObject({ status: "ready" });
  await command("sealing-keys rotate --yes");
  // sealed by the command under the new key, opened by the service that started with the old one
  const { key } = await command(`keys rotate ${ADMIN_EMAIL} --yes`);
  const { external_id } = Object(key);
  await service.logged("sealing.rewrapped");
  expect(await sealed()).toEqual([
    ["old", 0],
    ["active", 4],
  ]);
  expect(await ask("POST", "/gateway/key/validate")).toMatchObject({ status: "ready", external_id });
  expect(await command(`keys show ${ADMIN_EMAIL}`)).toMatchObject({ invalidation_reason: null, external_id });
});

test("the service works without the old key file once no secret uses it", async () => {
  renameSync(join(folder, "data/keys/0001.sealing-key"), join(folder, "kept-elsewhere"));
  service.signal("SIGTERM");
  expect(await service.ended()).toBe(0);
  service = await startService({ args: placed([]) });
  expect(await ask("GET", "/gateway/key")).toMatchObject({ status: "ready" });
  expect(await command(`keys rotate ${ADMIN_EMAIL} --yes`)).toMatchObject({ changed: true });
  expect(await sealed()).toEqual([["active", 4]]);
});

test("commands announce when their request will be carried out if no service runs", async () => {
  service.signal("SIGTERM");
  expect(await service.ended()).toBe(0);
  expect((await run("jobs run access-sweep")).stderr).toContain("no service runs on this data directory");
  expect((await run(`keys revoke ${ADMIN_EMAIL} --yes`)).stderr).toContain("carried out when a service runs");
  expect(keysOf(ADMIN_EMAIL)).not.toEqual([]);
  await command("keys reconcile");
  expect(keysOf(ADMIN_EMAIL)).toEqual([]);
});

test("rotating signing keys and reconciling gateway keys recovers from a lost sealing key", async () => {
  const [old] = keysOf("bob@example.org");
  rmSync(join(folder, "data/keys"), { recursive: true });
  const { stderr } = await runCli(placed(["serve", "--server-listen", "127.0.0.1:0"]));
  expect(stderr).toContain("rotate the signing keys");
  expect((await sealed())[0]).toEqual(["missing", 3]);
  expect(await run("sealing-keys rotate --yes")).toMatchObject({ exitCode: 4 });
  await command("signing-keys rotate --yes");
  await command("signing-keys rotate --inference --yes");
  expect(await command("keys reconcile")).toMatchObject({ failing: [] });
  expect(await sealed()).toEqual([["active", 3]]);
  service = await startService({ args: placed([]) });
  await runJob("gateway-reconcile");
  const { external_id } = await command("keys show bob@example.org");
  expect(external_id).not.toBe(old);
  expect(keysOf("bob@example.org")).toEqual([String(external_id)]);
});
