// The executable alone: an empty folder, without Bun, Node or any other program on PATH. Runs the main tasks over HTTP.
// airgap.test.ts runs it, also without a network.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCli } from "../support/cli/cli.ts";
import { builtExecutable } from "../support/cli/executable.ts";
import { CLIENT, deviceLogin } from "../support/device-login.ts";
import { type RunningService, startService } from "../support/running-service.ts";

const BARE = { PATH: "/nonexistent" };
const EMAIL = "admin@example.com";

let directory: string;
let command: readonly string[];
let service: RunningService;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "quartermaster-test-"));
  command = [builtExecutable()];
  service = await startService({ args: ["--data-dir", "data"], env: BARE, command, cwd: directory });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

const cli = (...args: string[]) =>
  runCli([...args, "--data-dir", "data"], { command, cwd: directory, env: BARE });

const form = (path: string, fields: Record<string, string>): Promise<Response> =>
  fetch(`${service.baseUrl}${path}`, { method: "POST", body: new URLSearchParams(fields) });

const login = () => deviceLogin(service.baseUrl, { email: EMAIL, password: service.password() });

const catalog = (token: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${service.baseUrl}/admin/package-catalog`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
  });

describe("the executable in an empty folder", () => {
  test("holds its pages and its API document", async () => {
    const page = await (await fetch(`${service.baseUrl}/login`)).text();
    expect(page).toContain("<h1>Sign in</h1>");
    const styleSheet = /href="(\/assets\/[^"]+\.css)"/.exec(page)?.[1] ?? "";
    expect((await fetch(service.baseUrl + styleSheet)).headers.get("content-type")).toContain("text/css");
    const document = await (await fetch(`${service.baseUrl}/openapi.json`)).json();
    expect(Object.keys(document.paths)).toContain("/admin/package-catalog");
  });

  test("serves a change by the command line in its next response", async () => {
    const { access_token: token } = await login();
    const empty = await catalog(token);
    expect(await empty.text()).toBe("[]");
    const entry = {
      id: "tool",
      version: "1",
      source_ref: "https://example.com/tool.tar.gz",
      sha256: "a".repeat(64),
    };
    writeFileSync(join(directory, "catalog.json"), JSON.stringify([entry]));
    expect(await cli("catalog", "seed", "catalog.json")).toMatchObject({ exitCode: 0 });
    const filled = await catalog(token);
    expect(await filled.json()).toEqual([{ ...entry, settings: {}, adapters: {} }]);
    const etag = filled.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[0-9a-f]{32}"$/);
    expect((await catalog(token, { "if-none-match": etag })).status).toBe(304);
    expect((await cli("catalog", "seed", "catalog.json")).stdout).toContain("unchanged");
    expect((await catalog(token, { "if-none-match": etag })).status).toBe(304);
  });

  test("refuses a credential in the first request after the command line revoked it", async () => {
    const { access_token: token, refresh_token: refreshToken } = await login();
    expect((await catalog(token)).status).toBe(200);
    expect((await catalog(`${token.slice(0, -3)}AAA`)).status).toBe(401);
    expect(await cli("logins", "revoke", "--user", EMAIL, "--yes")).toMatchObject({ exitCode: 0 });
    expect((await catalog(token)).status).toBe(401);
    const refresh = { grant_type: "refresh_token", refresh_token: refreshToken, client_id: CLIENT };
    expect(await (await form("/api/auth/oauth2/token", refresh)).json()).toMatchObject({
      error: "invalid_grant",
    });
  });

  test("writes only to its data directory and its log, and exits cleanly", async () => {
    service.signal("SIGTERM");
    expect(await service.ended()).toBe(0);
    const [, next = ""] = /\n {2}next {6}(.+ catalog list --data-dir \S+)\n$/.exec(service.stdout()) ?? [];
    const { stdout, exitCode } = Bun.spawnSync(["/bin/sh", "-c", next], { cwd: "/", env: BARE });
    expect([exitCode, stdout.toString()]).toEqual([0, expect.stringContaining("tool")]);
    const lines = service.stderr().trimEnd().split("\n");
    expect(lines.filter((line) => !/^\S+Z INFO {4}\w+\.\w+/.test(line))).toEqual([]);
    expect(readdirSync(directory).toSorted()).toEqual(["catalog.json", "data"]);
  });
});
