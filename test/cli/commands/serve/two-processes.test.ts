// A service divided between two real processes: one without inference, one with inference only. Changes in one take
// effect in the other immediately, and each continues without the other.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { logIn, openBeside } from "../../../bench/tools/installation.ts";
import { runCli } from "../../../support/cli/cli.ts";
import { ADMIN_KEY, LitellmGateway } from "../../../support/gateway/litellm-gateway.ts";
import { createInstallation, runHere } from "../../../support/in-process.ts";
import {
  EVENT_STREAM,
  ScriptedUpstream,
  type UpstreamExchange,
} from "../../../support/inference/upstream.ts";
import { prepareInstallation } from "../../../support/installed/prepared-installation.ts";
import { type RunningService, startService } from "../../../support/running-service.ts";
import { temporaryDirectory } from "../../../support/world.ts";

const LIMIT_MS = 60_000;
const directory = temporaryDirectory();
const [DATA, CONFIG] = [join(directory, "data"), join(directory, "config.yaml")];

let admin: LitellmGateway;
let upstream: ScriptedUpstream;
let control: RunningService;
let proxy: RunningService;
let [ana, ben, cid]: string[] = [];

const keyIn = (exchange: UpstreamExchange): string =>
  (exchange.header("authorization") ?? "").replace("Bearer ", "");

const startControl = (listen = "127.0.0.1:0") =>
  startService({ args: ["--config", CONFIG, "--only", "control", "--server-listen", listen] });
const startProxy = (listen: string) =>
  startService({
    args: ["--config", CONFIG, "--only", "proxy", "--server-listen", listen],
    ready: /forwards inference on (\S+)\n/,
  });
const portOf = ({ baseUrl }: RunningService) => `127.0.0.1:${new URL(baseUrl).port}`;

beforeAll(async () => {
  admin = await LitellmGateway.start();
  admin.addUser("admin@example.com");
  upstream = await ScriptedUpstream.start(async (exchange) => {
    const body = await exchange.body();
    if (!exchange.target.includes("/chat/completions")) {
      const { method } = exchange;
      const headers = { authorization: exchange.header("authorization") ?? "" };
      const sent = method === "GET" ? {} : { body: body.toString() };
      const response = await fetch(`${admin.origin}${exchange.target}`, { method, headers, ...sent });
      return await exchange.answer(response.status, await response.text());
    }
    if (!admin.accepts(keyIn(exchange)))
      return await exchange.answer(401, '{"error":{"type":"token_not_found_in_db"}}');
    if (!body.includes('"stream":true'))
      return await exchange.answer(200, '{"usage":{"prompt_tokens":10,"completion_tokens":5}}');
    await exchange.head(200, EVENT_STREAM);
    await exchange.chunk("data: {}\n\n");
  });
  const gateway = {
    type: "litellm",
    url: upstream.origin,
    inference_proxy_url: "http://127.0.0.1:1",
    proxy: { listen: "127.0.0.1:0" },
    provisioner: { type: "builtin-litellm", admin_key: ADMIN_KEY },
  };
  const settings = { data_dir: DATA, gateway };
  writeFileSync(CONFIG, JSON.stringify(settings), { mode: 0o600 });
  await prepareInstallation(DATA);
  control = await startControl();
  proxy = await startProxy(portOf(control));
  [ana, ben, cid] = await workstations(3);
}, LIMIT_MS);
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await control[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
  await admin.stop();
  rmSync(directory, { recursive: true });
});

/** @returns access tokens of the administrator's workstations */
async function workstations(count: number): Promise<string[]> {
  const installation = await openBeside(DATA, Number(new URL(control.baseUrl).port));
  try {
    return (await logIn(installation, count)).map(({ access_token }) => access_token);
  } finally {
    await installation.close();
  }
}

const post = (path: string, token = "") =>
  fetch(`${control.baseUrl}${path}`, { method: "POST", headers: { authorization: `Bearer ${token}` } });

async function inferenceToken(accessToken = ""): Promise<string> {
  expect(await (await post("/gateway/key/ensure", accessToken)).json()).toMatchObject({ status: "ready" });
  return (await (await post("/gateway/token", accessToken)).json()).token;
}

const chat = (token: string, body: object = {}) =>
  fetch(`${proxy.baseUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ model: "example-model", messages: [], ...body }),
  });

/** @returns the status of a whole response */
async function statusOf(token: string, body: object = {}): Promise<number> {
  const response = await chat(token, body);
  await response.text();
  return response.status;
}

async function expectRefused(token: string): Promise<void> {
  const before = upstream.exchanges.length;
  const statuses = await Promise.all(Array.from({ length: 5 }, () => statusOf(token)));
  expect(statuses).toEqual([401, 401, 401, 401, 401]);
  expect(upstream.exchanges.length).toBe(before);
}

describe("INF-62 a service in two processes", () => {
  test("forwards only in the second one, and both report it", async () => {
    expect(await statusOf(await inferenceToken(ana))).toBe(200);
    expect((await fetch(`${control.baseUrl}/inference/health`)).status).toBe(404);
    expect(control.stdout()).toContain("inference by another process: quartermaster serve --only proxy\n");
    expect(proxy.stdout()).toContain("\n  public    http://127.0.0.1:1\n");
    const { stdout } = await runHere(["status", "--config", CONFIG, "--json"], { cwd: directory });
    const { service, inference } = JSON.parse(stdout);
    expect([service.process_id, inference.process_id]).toEqual([control.pid, proxy.pid]);
    expect(inference).toMatchObject({ running: true, is_own_process: true });
    const metrics = await (await fetch(`${proxy.baseUrl}/metrics`)).text();
    expect(metrics).toContain("quartermaster_inference_requests_total");
    expect((await fetch(`${proxy.baseUrl}/metrics`, { headers: { via: "1.1 proxy" } })).status).toBe(404);
  });

  test(
    "refuses a third process that would forward",
    async () => {
      const { exitCode, stderr } = await runCli(["serve", "--config", CONFIG, "--only", "proxy"]);
      expect([exitCode, stderr]).toEqual([4, expect.stringContaining(`process ${proxy.pid}, since`)]);
      expect(stderr).toContain(`another process forwards the inference of the data directory ${DATA}`);
    },
    LIMIT_MS,
  );

  test("refuses the next request after an action in the first one, and cuts the stream", async () => {
    const token = await inferenceToken(ana);
    const stream = await chat(token, { stream: true });
    expect((await post("/gateway/session/revoke", ana)).ok).toBe(true);
    await expectRefused(token);
    expect(await stream.text()).toContain("inference.session_revoked");
  });

  test("replaces a key that the gateway refuses, and answers the request that detected it", async () => {
    const token = await inferenceToken(ben);
    const [former] = admin.keys.splice(0);
    expect(await statusOf(token)).toBe(200);
    expect(admin.keys).toHaveLength(1);
    expect(admin.keys[0]?.token).not.toBe(former?.token);
    expect(await (await post("/gateway/key/ensure", ben)).json()).toMatchObject({ status: "ready" });
    expect(admin.keys).toHaveLength(1);
  });

  test(
    "the second one keeps working while the first is killed and started again",
    async () => {
      const token = await inferenceToken(ben);
      const listen = portOf(control);
      control.signal("SIGKILL");
      await control.ended();
      expect(await statusOf(token)).toBe(200);
      control = await startControl(listen);
      expect(await statusOf(token)).toBe(200);
      expect(await statusOf(await inferenceToken(ben))).toBe(200);
    },
    LIMIT_MS,
  );

  test(
    "the first one keeps working while the second is killed and started again",
    async () => {
      proxy.signal("SIGKILL");
      await proxy.ended();
      expect((await fetch(`${control.baseUrl}/ready`)).status).toBe(200);
      const { stdout } = await runHere(["doctor", "--config", CONFIG], { cwd: directory });
      expect(stdout).toContain("no other process forwards it");
      proxy = await startProxy(portOf(control));
      expect(await statusOf(await inferenceToken(ben))).toBe(200);
    },
    LIMIT_MS,
  );

  test(
    "refuses the next request after a command, and cuts the stream",
    async () => {
      const token = await inferenceToken(cid);
      const stream = await chat(token, { stream: true });
      for (const _ of [1, 2, 3]) expect(await statusOf(token, { model: "counted" })).toBe(200);
      const revoked = await runHere(["logins", "revoke", "--all", "--yes", "--config", CONFIG], {
        cwd: directory,
      });
      expect(revoked.exitCode).toBe(0);
      await expectRefused(token);
      expect(await stream.text()).toContain("inference.login_ended");
    },
    LIMIT_MS,
  );

  test(
    "counts rows and sums of the second one once, in any order of stopping",
    async () => {
      for (const process of [proxy, control]) {
        process.signal("SIGTERM");
        expect([await process.ended(), process.stderr()]).toEqual([
          0,
          expect.stringContaining("service.stopped"),
        ]);
      }
      using database = new Database(join(DATA, "quartermaster.db"), { readonly: true });
      const sums = database.query(
        "SELECT sum(requests) AS requests, sum(input_tokens) AS tokens FROM inference_usage WHERE model = 'counted'",
      );
      expect(sums.get()).toEqual({ requests: 3, tokens: 30 });
      using log = new Database(join(DATA, "request-logs.db"), { readonly: true });
      expect(log.query("SELECT count(*) AS rows FROM requests WHERE model = 'counted'").get()).toEqual({
        rows: 3,
      });
      expect(log.query("SELECT count(*) AS sums FROM usage_sums").get()).toEqual({ sums: 0 });
    },
    LIMIT_MS,
  );

  test(
    "the second one ends when its database is replaced",
    async () => {
      await using served = await startProxy("127.0.0.1:8080");
      renameSync(join(DATA, "quartermaster.db"), join(DATA, "moved.db"));
      expect(await served.ended()).toBe(6);
      expect(served.stderr()).toContain(
        `the database ${join(DATA, "quartermaster.db")} was moved or replaced`,
      );
      renameSync(join(DATA, "moved.db"), join(DATA, "quartermaster.db"));
    },
    LIMIT_MS,
  );
});

describe("INF-62 a process that only forwards does not start", () => {
  const NO_LISTENER = { QUARTERMASTER_GATEWAY_PROXY_LISTEN: undefined };
  const GATEWAY = {
    QUARTERMASTER_GATEWAY_TYPE: "litellm",
    QUARTERMASTER_GATEWAY_URL: "http://127.0.0.1:1",
    QUARTERMASTER_GATEWAY_INFERENCE_PROXY_URL: "http://127.0.0.1:1",
    QUARTERMASTER_GATEWAY_PROXY_LISTEN: "127.0.0.1:0",
    QUARTERMASTER_GATEWAY_PROVISIONER_TYPE: "builtin-litellm",
    QUARTERMASTER_GATEWAY_PROVISIONER_ADMIN_KEY: ADMIN_KEY,
    BUN_CONFIG_MAX_HTTP_REQUESTS: "65535",
  };
  const fail = async (data: string, env: Record<string, string | undefined>, only = "proxy") => {
    const args = ["serve", "--data-dir", data, "--only", only];
    const { exitCode, stderr } = await runHere(args, { cwd: directory, env });
    return [exitCode, stderr];
  };
  const refusal = (exitCode: number, text: string) => [exitCode, expect.stringContaining(text)];

  test.each(["proxy", "control"])(
    "refuses to start without forwarding, or with a single listener: %s",
    async (only) => {
      const none = join(directory, "none");
      expect(await fail(none, {}, only)).toEqual(
        refusal(2, `serve --only ${only} needs an installation that forwards`),
      );
      const shared = await fail(none, { ...GATEWAY, ...NO_LISTENER }, only);
      expect(shared).toEqual(refusal(2, `serve --only ${only} needs gateway.proxy.listen`));
    },
  );

  test("fails without an installation, and on a database of another schema, which it does not change", async () => {
    expect(await fail(join(directory, "none"), GATEWAY)).toEqual(refusal(3, "no Quartermaster data in"));
    const { stdout: unit } = await runHere(["unit", "--only", "proxy"], { cwd: directory });
    expect(unit).toContain("\nRestartPreventExitStatus=2 4 5 7\n"); // it tries again after 3 and 6
    using workspace = await createInstallation();
    const change = (sql: string) => {
      using database = new Database(join(workspace.data, "quartermaster.db"));
      database.run(sql);
    };
    change("DELETE FROM schema_migrations WHERE id = (SELECT max(id) FROM schema_migrations)");
    expect(await fail(workspace.data, GATEWAY)).toEqual(refusal(6, "the schema of the database is older"));
    change("INSERT INTO schema_migrations VALUES (9999, 'later', '', 0, '9.0.0')");
    expect(await fail(workspace.data, GATEWAY)).toEqual(refusal(4, "newer"));
  });

  test("refuses to start while the database is missing, with an exit code after which its unit tries again", async () => {
    using workspace = await createInstallation();
    const database = join(workspace.data, "quartermaster.db");
    renameSync(database, `${database}.moved`);
    expect(await fail(workspace.data, GATEWAY)).toEqual(refusal(6, "is missing or empty"));
  });
});
