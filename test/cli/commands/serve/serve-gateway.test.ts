// `serve` with gateway mode and a real gateway: creates keys on the first request, reconciles them in a job, and reports metrics.
// Also tests every reason to refuse the start.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SLOTS_VARIABLE } from "../../../../src/platform/outbound/request-slots.ts";
import { factsOf } from "../../../../src/platform/programs/process-facts.ts";
import { runCli } from "../../../support/cli/cli.ts";
import { ADMIN_KEY, LitellmGateway } from "../../../support/gateway/litellm-gateway.ts";
import {
  ADMIN_EMAIL,
  ADMIN_PASSWORD,
  prepareInstallation,
} from "../../../support/installed/prepared-installation.ts";
import { receiveNotifications } from "../../../support/network/notify-receiver.ts";
import { type RunningService, startService } from "../../../support/running-service.ts";

const START_LIMIT_MS = 30_000;

let folder: string;
let upstream: LitellmGateway;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "quartermaster-test-"));
  upstream = await LitellmGateway.start();
  upstream.addUser(ADMIN_EMAIL);
});
afterAll(async () => {
  await upstream.stop();
  rmSync(folder, { recursive: true });
});

function configFile(gateway: object): string {
  const path = join(folder, `${crypto.randomUUID()}.yaml`);
  writeFileSync(path, JSON.stringify({ gateway }), { mode: 0o600 });
  return path;
}

/** @returns a data directory with an installation */
async function installed(name: string): Promise<string> {
  const path = join(folder, name);
  await prepareInstallation(path);
  return path;
}

const builtin = (provisioner: object = {}) => ({
  type: "litellm",
  url: upstream.origin,
  inference_proxy_url: "https://inference.example.org",
  provisioner: { type: "builtin-litellm", admin_key: ADMIN_KEY, ...provisioner },
});

async function signedIn({ baseUrl }: RunningService) {
  const response = await fetch(`${baseUrl}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: ADMIN_EMAIL, password: ADMIN_PASSWORD }),
  });
  const cookie = response.headers.get("set-cookie")?.split(";")[0] ?? "";
  return async (method: string, path: string) =>
    await fetch(`${baseUrl}${path}`, { method, headers: { cookie, origin: baseUrl } });
}

test(
  "INF-50 creates a key at the first request, reconciles it and lists models after a restart, and counts each step",
  async () => {
    const data = ["--data-dir", await installed("data")];
    {
      await using service = await startService({ args: [...data, "--config", configFile(builtin())] });
      const ask = await signedIn(service);
      expect(await (await ask("POST", "/gateway/key/ensure")).json()).toMatchObject({ status: "ready" });
      const { keys } = await (await fetch(`${service.baseUrl}/gateway/jwks`)).json();
      expect(keys).toHaveLength(1);
      const page = await (await fetch(`${service.baseUrl}/metrics`)).text();
      expect(page).toContain('quartermaster_gateway_keys{state="ready"} 1');
      expect(page).toContain('provisioner_calls_total{operation="provision",outcome="succeeded"} 1');
      service.signal("SIGTERM");
      expect(await service.ended()).toBe(0);
    }
    const another = Promise.withResolvers<void>();
    upstream.models = ["model-after-restart"];
    upstream.fail("POST /key/update", { kind: "late-hang-up", times: 1, onHit: () => another.resolve() });
    const changed = configFile(builtin({ policy: { models: ["model-a"] } }));
    await using service = await startService({ args: [...data, "--config", changed] });
    await service.logged("gateway.configuration_changed");
    await another.promise; // without a request: the job noticed it
    expect(upstream.keys[0]).toMatchObject({ models: ["model-a"] });
    await service.logged("gateway.call_failed");
    const ask = await signedIn(service);
    const isListed = async () => {
      const { models } = await (await ask("GET", "/admin/gateway/models")).json();
      return models.some(({ id }: { id: string }) => id === "model-after-restart");
    };
    while (!(await isListed())) await Bun.sleep(50);
    service.signal("SIGTERM");
    expect(await service.ended()).toBe(0);
  },
  START_LIMIT_MS,
);

/** @returns the number that the runtime reads at its start; undefined for the default */
const slotsOf = ({ pid }: RunningService): string | undefined => factsOf(pid)?.environment[SLOTS_VARIABLE];

test(
  "INF-61 starts with a slot for each inference request, and keeps its process id, signals and service manager",
  async () => {
    using receiver = receiveNotifications(join(folder, "notify"));
    const config = configFile({ ...builtin(), proxy: { max_in_flight: 300 } });
    await using service = await startService({
      args: ["--data-dir", await installed("slots"), "--config", config, "--log-format", "text"],
      env: { NOTIFY_SOCKET: receiver.address, WATCHDOG_USEC: "30000000" },
    });
    expect(slotsOf(service)).toBe("556");
    expect((await receiver.next("READY")).READY).toBe("1");
    service.signal("SIGHUP");
    await service.logged("config.reloaded");
    service.signal("SIGTERM");
    expect(await service.ended()).toBe(0);
    expect(service.stderr().match(/service\.started/g)).toHaveLength(1);
  },
  START_LIMIT_MS,
);

test(
  "INF-61 the same holds for a start from source",
  async () => {
    await using service = await startService({
      command: [process.execPath, join(import.meta.dir, "../../../../src/main.ts")],
      args: ["--data-dir", await installed("source"), "--config", configFile(builtin())],
      env: { PATH: process.env.PATH ?? "" },
    });
    expect(slotsOf(service)).toBe("2256");
    expect((await fetch(`${service.baseUrl}/inference/health`)).status).toBe(200);
  },
  START_LIMIT_MS,
);

test(
  "a new service immediately retries the attempt of a killed service",
  async () => {
    const args = ["--data-dir", await installed("killed"), "--config", configFile(builtin())];
    const reached = Promise.withResolvers<void>();
    upstream.fail("POST /key/generate", { kind: "never", times: 1, onHit: () => reached.resolve() });
    {
      await using first = await startService({ args });
      const ask = await signedIn(first);
      void ask("POST", "/gateway/key/ensure").catch(() => {});
      await reached.promise;
    } // SIGKILL
    await using second = await startService({ args });
    await second.logged("gateway.attempts_taken_over keys=1");
    const ask = await signedIn(second);
    expect(await (await ask("POST", "/gateway/key/ensure")).json()).toMatchObject({ status: "ready" });
  },
  START_LIMIT_MS,
);

test(
  "AIR-6 an unreachable gateway prevents neither start nor sign-in, and is reported as one degraded component",
  async () => {
    const gone = { type: "litellm", url: "http://127.0.0.1:1", inference_proxy_url: "http://127.0.0.1:1" };
    const config = configFile({ ...builtin(), ...gone });
    await using service = await startService({
      args: ["--data-dir", await installed("down"), "--config", config],
    });
    expect((await fetch(`${service.baseUrl}/ready`)).status).toBe(200);
    const ask = await signedIn(service);
    expect((await ask("GET", "/admin/users")).status).toBe(200);
    expect((await ask("POST", "/gateway/key/ensure")).status).toBe(502);
  },
  START_LIMIT_MS,
);

test("reports all incomplete settings together, and creates nothing", async () => {
  const config = configFile({ type: "litellm" });
  const data = join(folder, "none");
  const { exitCode, stderr } = await runCli(["serve", "--config", config, "--data-dir", data]);
  expect(exitCode).not.toBe(0);
  const missing = ["url", "provisioner.type", "provisioner.admin_key"];
  for (const name of missing) expect(stderr).toContain(`gateway.${name}: missing`);
});

test("rejects an executable with another digest before it listens", async () => {
  const path = join(folder, "provisioner");
  writeFileSync(path, "#!/bin/sh\n", { mode: 0o700 });
  const pin = { executable_path: path, executable_sha256: "0".repeat(64), policy_revision: "1" };
  const config = configFile({ ...builtin(), provisioner: { type: "our-own", ...pin } });
  const { exitCode, stderr } = await runCli([
    "serve",
    "--config",
    config,
    "--data-dir",
    join(folder, "none"),
  ]);
  expect(exitCode).not.toBe(0);
  expect(stderr).toContain("/gateway/provisioner/executable_sha256");
});

test("lists the outgoing connections", async () => {
  const { stdout } = await runCli([
    "config",
    "show",
    "--outgoing",
    "--json",
    "--config",
    configFile(builtin()),
  ]);
  expect(stdout).toContain(upstream.origin);
  expect(stdout).toContain("https://inference.example.org");
});

test("warns about settings that have no effect while gateway mode is off", async () => {
  const { type: _, ...rest } = builtin();
  const { stderr, exitCode } = await runCli(["config", "check", "--config", configFile(rest)]);
  expect(exitCode).toBe(0);
  expect(stderr).toContain("gateway.type is not set, so gateway mode is off");
});
