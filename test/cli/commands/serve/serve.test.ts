// `serve`: the first start, later starts, every reason to refuse the start, reload and stop.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HOUR_MS, systemClock } from "../../../../src/platform/clock.ts";
import { runCli } from "../../../support/cli/cli.ts";
import { runHere } from "../../../support/in-process.ts";
import { makeOlder, OLDER_SCHEMA } from "../../../support/installed/older-installation.ts";
import {
  ADMIN_EMAIL,
  ADMIN_PASSWORD,
  prepareInstallation,
} from "../../../support/installed/prepared-installation.ts";
import { type RunningService, startService } from "../../../support/running-service.ts";

const EXAMPLE = join(import.meta.dir, "../../../../src/domain/catalog/example/catalog.yaml");

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "quartermaster-test-"));
  chmodSync(directory, 0o755); // another user reads it below
});
afterAll(() => rmSync(directory, { recursive: true }));

const folder = (name: string): string => join(directory, name);

/** @returns an existing data directory, for tests that do not need the slower first start */
async function installed(name: string): Promise<string> {
  await prepareInstallation(folder(name));
  return folder(name);
}

/** @returns the catalog, requested with the administrator's password */
async function catalogAs(service: RunningService, password: string): Promise<Response> {
  const signIn = await fetch(`${service.baseUrl}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: ADMIN_EMAIL, password }),
  });
  const cookie = signIn.headers.get("set-cookie")?.split(";")[0] ?? "";
  return await fetch(`${service.baseUrl}/admin/package-catalog`, { headers: { cookie } });
}

describe("the first start on an empty directory", () => {
  test("creates the installation, prints the password once, and serves the seeded catalog to the administrator", async () => {
    const dataDir = folder("first");
    await using service = await startService({ args: ["--data-dir", dataDir, "--catalog", EXAMPLE] });
    expect(service.stdout()).toMatch(
      /^First administrator: admin@example\.com\nPassword, shown this once: \S{24,}\n/,
    );
    expect(service.stdout()).toContain("catalog   3 added");
    const listed = await catalogAs(service, service.password());
    expect(listed.status).toBe(200);
    expect((await listed.json()).map(({ id }: { id: string }) => id)).toEqual([
      "review-guide",
      "ticket-cli",
      "audit-hooks",
    ]);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    service.signal("SIGTERM");
    await service.logged("service.stopped");
    expect(await service.ended()).toBe(0);

    await using second = await startService({ args: ["--data-dir", dataDir, "--catalog", EXAMPLE] });
    expect(second.stdout()).toContain("catalog   unchanged (3 packages)");
    expect(second.stdout()).not.toContain("assword");
    expect((await catalogAs(second, service.password())).status).toBe(200);
    second.signal("SIGINT");
    expect(await second.ended()).toBe(0);
  });

  test("reads the password from a file or the environment, and prints none", async () => {
    const file = folder("password");
    writeFileSync(file, "correct horse battery\n", { mode: 0o600 });
    await using fromFile = await startService({
      args: ["--data-dir", folder("p1"), "--bootstrap-admin-password-file", file],
    });
    expect(fromFile.stdout()).not.toContain("assword");
    expect(fromFile.stderr()).not.toMatch(/bootstrap\.\w+_unused/);
    expect((await catalogAs(fromFile, "correct horse battery")).status).toBe(200);
    await using fromEnvironment = await startService({
      args: ["--data-dir", folder("p2")],
      env: { QUARTERMASTER_BOOTSTRAP_ADMIN_PASSWORD: "correct horse battery" },
    });
    expect((await catalogAs(fromEnvironment, "correct horse battery")).status).toBe(200);
  });
});

describe("a failed start", () => {
  const refusals: { name: string; args(): string[]; exitCode: number; stderr: RegExp; left?: string[] }[] = [
    {
      name: "the data directory is a file",
      args: () => {
        writeFileSync(folder("file"), "");
        return ["--data-dir", folder("file")];
      },
      exitCode: 2,
      stderr: /^error: data_dir: \S+ is not a folder\nhint: {2}set data_dir to a folder/,
    },
    {
      name: "server.public_url is missing, but the service listens on all addresses",
      args: () => ["--data-dir", folder("wide"), "--server-listen", "0.0.0.0:0"],
      exitCode: 2,
      stderr: /^error: server\.public_url is required/,
    },
    {
      name: "the catalog file is invalid",
      args: () => {
        writeFileSync(folder("bad.yaml"), "- id: UPPER\n  version: '1'\n");
        return ["--data-dir", folder("bad"), "--catalog", folder("bad.yaml")];
      },
      exitCode: 2,
      stderr: /bad\.yaml has 3 problems\n.*bad\.yaml:1:3: \/0\/id: "UPPER" must be/,
    },
    {
      name: "the catalog file is missing",
      args: () => ["--data-dir", folder("nofile"), "--catalog", folder("nowhere.yaml")],
      exitCode: 3,
      stderr: /^error: there is no file \S+nowhere\.yaml/,
    },
    {
      name: "the TLS files are missing",
      args: () => [
        "--data-dir",
        folder("tls"),
        "--server-tls-cert",
        folder("c.pem"),
        "--server-tls-key",
        folder("k.pem"),
      ],
      exitCode: 2,
      stderr: /^error: the TLS files \S+c\.pem and \S+k\.pem cannot be read/,
    },
  ];
  for (const { name, args, exitCode, stderr } of refusals) {
    test(`prints one message with the reason: ${name}`, async () => {
      const where = args().includes("--server-listen") ? [] : ["--server-listen", "127.0.0.1:0"];
      const result = await runHere(["serve", ...args(), ...where], { cwd: directory });
      expect(result.stderr).toMatch(stderr);
      expect(result.stderr).not.toMatch(/\n\s+at /);
      expect(result.exitCode).toBe(exitCode);
    });
  }

  test("creates nothing if the port is in use", async () => {
    const taken = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
    const { stderr, exitCode } = await runCli([
      ...["serve", "--data-dir", folder("port")],
      ...["--server-listen", `127.0.0.1:${taken.port}`],
    ]);
    await taken.stop();
    expect(stderr).toContain("is in use by another program");
    expect(exitCode).toBe(6);
    expect(existsSync(folder("port"))).toBe(false);
  });

  test("keeps the administrator that setup named, and creates no other", async () => {
    const args = ["--data-dir", folder("named")];
    const named = ["--bootstrap-admin-email", "root@example.org"];
    expect((await runHere(["setup", ...args, ...named], { cwd: directory })).exitCode).toBe(0);
    await using service = await startService({ args });
    expect(service.stdout()).toContain("  sign in   root@example.org at ");
    expect(service.stdout()).not.toContain("First administrator");
  });

  test("names the first server if a second one starts on the directory", async () => {
    await using first = await startService({ args: ["--data-dir", await installed("twice")] });
    const { stderr, exitCode } = await runCli([
      ...["serve", "--data-dir", folder("twice")],
      ...["--server-listen", "127.0.0.1:0"],
    ]);
    expect(stderr).toContain(`is in use by another server (process ${first.pid},`);
    expect(exitCode).toBe(4);
  });

  test("does not change a database of a newer version, and prints a remedy", async () => {
    const dataDir = await installed("newer");
    const database = new Database(join(dataDir, "quartermaster.db"));
    database.run("INSERT INTO schema_migrations VALUES (999, 'later', 'x', 1, '9.9.9')");
    database.close();
    const args = ["serve", "--data-dir", dataDir, "--server-listen", "127.0.0.1:0"];
    const { stderr, exitCode } = await runHere(args, { cwd: directory });
    expect(stderr).toMatch(/^error: the database has schema 999 \(made by version 9\.9\.9\)/);
    expect(stderr).toContain("hint:  start version 9.9.9 or newer again");
    expect(exitCode).toBe(4);
  });

  test("SVC-10: reports lost sealing keys, and creates no replacement", async () => {
    const data = await installed("keyless");
    const here = { cwd: directory };
    rmSync(join(data, "keys"), { recursive: true });
    const listen = ["--server-listen", "127.0.0.1:0"];
    const { stderr, exitCode } = await runHere(["serve", "--data-dir", data, ...listen], here);
    expect(stderr).toMatch(
      /^error: the signing key cannot be opened: the sealing key \w+ is missing\nhint: {2}put/,
    );
    expect(exitCode).toBe(4);
    expect(existsSync(join(data, "keys"))).toBe(false);
  });

  test("switches from root to the owner of the directory, so that no file in it belongs to root", async () => {
    if (process.getuid?.() !== 0) return expect(process.getuid?.()).toBeGreaterThan(0); // only root can change to another user
    const dataDir = folder("nobody");
    mkdirSync(dataDir, { mode: 0o700 });
    chownSync(dataDir, 65_534, 65_534);
    await using _service = await startService({ args: ["--data-dir", dataDir] });
    expect(statSync(join(dataDir, "quartermaster.db")).uid).toBe(65_534);
  });
});

describe("a running service", () => {
  test("loads a valid catalog at SIGHUP; keeps the old one if it is invalid, and logs every problem", async () => {
    const file = folder("reload.yaml");
    writeFileSync(file, "[]");
    const args = ["--data-dir", await installed("reload"), "--catalog", file];
    await using service = await startService({ args });
    writeFileSync(file, entry("tool-a"));
    service.signal("SIGHUP");
    await service.logged("catalog.reloaded");
    const before = await (await catalogAs(service, ADMIN_PASSWORD)).text();
    expect(before).toContain('"id":"tool-a"');
    writeFileSync(file, "- id: NO\n- id: NEITHER\n");
    service.signal("SIGHUP");
    await service.logged("catalog.problem", 8);
    expect(await (await catalogAs(service, ADMIN_PASSWORD)).text()).toBe(before);
  });

  test("starts to check for newer commits at the SIGHUP that adds the first connection to watch, and continues at later ones", async () => {
    const file = folder("watched.yaml");
    const dataDir = await installed("watched");
    const connection = (hours: number) =>
      `{ id: forge, provider: gitea, api_base_url: "https://forge.example", token: a-token, organizations: { dev: [acme] }, watch_every_hours: ${hours} }`;
    writeFileSync(file, "log: { level: info }\n", { mode: 0o600 });
    await using service = await startService({ args: ["--data-dir", dataDir, "--config", file] });
    const isPlanned = () => {
      using database = new Database(join(dataDir, "quartermaster.db"), { readonly: true });
      return database.query("SELECT 1 FROM jobs WHERE name = 'source-watch'").get() !== null;
    };
    expect(isPlanned()).toBe(false);
    for (const hours of [1, 2]) {
      writeFileSync(file, `package_sources: { connections: [${connection(hours)}] }\n`, { mode: 0o600 });
      service.signal("SIGHUP");
      while (!isPlanned()) await Bun.sleep(20);
    }
    expect((await fetch(`${service.baseUrl}/ready`)).status).toBe(200);
  });

  test("loads another mapping of groups to roles at SIGHUP, and keeps the old one if it is invalid", async () => {
    const file = folder("mapping.yaml");
    const dataDir = await installed("mapping");
    const token = "a-token-of-32-characters-at-least";
    const configure = (mapping: string) =>
      writeFileSync(file, `scim:\n  token: ${token}\n  group_role_mappings: ${mapping}\n`, { mode: 0o600 });
    configure("{}");
    await using service = await startService({ args: ["--data-dir", dataDir, "--config", file] });
    const headers = { authorization: `Bearer ${token}` };
    const provision = async (path: string, resource: object): Promise<{ id: string }> => {
      const body = JSON.stringify(resource);
      return Object(
        await (await fetch(`${service.baseUrl}/scim/v2/${path}`, { method: "POST", headers, body })).json(),
      );
    };
    const { id } = await provision("Users", { userName: "ada@example.com" });
    await provision("Groups", { displayName: "Platform", members: [id] });
    const roleNow = () => {
      using database = new Database(join(dataDir, "quartermaster.db"), { readonly: true });
      return database.query("SELECT role FROM users WHERE id = ?").get(id);
    };
    expect(roleNow()).toEqual({ role: "member" });
    configure("{ Platform: admin }");
    service.signal("SIGHUP");
    await service.logged("scim.mapping_applied");
    expect(roleNow()).toEqual({ role: "admin" });
    configure("{ Platform: owner }");
    service.signal("SIGHUP");
    await service.logged("scim.mapping_problem");
    expect(roleNow()).toEqual({ role: "admin" });
    const { id: second } = await provision("Users", { userName: "bob@example.com" });
    await provision("Groups", { displayName: "Others", members: [second] });
    configure("{ Others: admin }");
    service.signal("SIGHUP");
    await service.logged("scim.mapping_applied", 2);
    expect(roleNow()).toEqual({ role: "member" });
  });

  test("listens on a Unix socket that only its owner and group can use, and removes it when it stops", async () => {
    const socket = folder("qm.sock");
    await using service = await startService({
      args: [
        "--data-dir",
        await installed("unix"),
        "--server-listen",
        `unix:${socket}`,
        "--server-public-url",
        "https://qm.example.org",
      ],
    });
    expect(service.stdout()).toContain(` listens on unix:${socket}\n  public    https://qm.example.org\n`);
    expect(statSync(socket).mode & 0o777).toBe(0o660);
    const health = await fetch("http://qm/health", { unix: socket });
    expect(await health.text()).toBe("ok");
    expect(health.headers.get("strict-transport-security")).toBe("max-age=31536000");
    service.signal("SIGTERM");
    expect(await service.ended()).toBe(0);
    expect(existsSync(socket)).toBe(false);
  });

  test("doctor reports a service whose Unix socket is missing or belongs to another program", async () => {
    const [data, socket] = [await installed("socket-gone"), folder("gone.sock")];
    const settings = ["--data-dir", data, "--server-listen", `unix:${socket}`];
    await using _service = await startService({
      args: [...settings, "--server-public-url", "https://qm.example.org"],
    });
    const config = folder("socket-gone.yaml");
    writeFileSync(
      config,
      `data_dir: ${data}\nserver: { listen: "unix:${socket}", public_url: https://qm.example.org }\n`,
    );
    const serviceFinding = async () => {
      const { stdout } = await runCli(["doctor", "--config", config, "--json"]);
      return JSON.parse(stdout).checks.find(({ check }: { check: string }) => check === "service");
    };
    expect(await serviceFinding()).toMatchObject({ result: "ok" });
    rmSync(socket);
    const failed = { result: "failed", detail: expect.stringContaining(socket) };
    expect(await serviceFinding()).toMatchObject(failed);
    using _other = Bun.listen({
      unix: socket,
      socket: { data: (peer) => void peer.end("HTTP/1.1 404 Not Found\r\n\r\n") },
    });
    expect(await serviceFinding()).toMatchObject(failed);
  });

  test("rejects a data directory whose database is a symbolic link, and does not change the target", async () => {
    mkdirSync(folder("linked"));
    writeFileSync(folder("target"), "");
    symlinkSync(folder("target"), join(folder("linked"), "quartermaster.db"));
    const { exitCode, stderr } = await runHere(["serve", "--data-dir", folder("linked")], { cwd: directory });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 5,
      stderr: expect.stringContaining("is a symbolic link"),
    });
    expect(statSync(folder("target")).size).toBe(0);
  });

  test("logs a warning about a data directory that other users can access", async () => {
    const dataDir = await installed("open");
    chmodSync(dataDir, 0o777);
    await using service = await startService({ args: ["--data-dir", dataDir] });
    await service.logged("data_dir.exposed");
    expect(service.stderr()).toContain("mode=0777");
  });

  test("logs that it ignores a bootstrap password and an organization name", async () => {
    const argumentsFor = (name: string) => {
      writeFileSync(folder("bootstrap-password"), `a password of the ${name.toLowerCase()}`, { mode: 0o600 });
      const password = ["--bootstrap-admin-password-file", folder("bootstrap-password")];
      return ["--data-dir", folder("unused"), "--bootstrap-organization-name", name, ...password];
    };
    await runHere(["setup", ...argumentsFor("First")], { cwd: directory });
    for (const name of ["First", "Second"]) {
      await using service = await startService({ args: argumentsFor(name) });
      await service.logged("service.started");
      const told = service.stderr().match(/bootstrap\.\w+_unused/g);
      expect(told).toEqual(
        name === "First" ? null : ["bootstrap.organization_name_unused", "bootstrap.admin_password_unused"],
      );
      expect(service.stderr()).not.toContain("a password of the");
    }
  });

  test("DAT-6 logs an upgrade and the path of the copy made before it", async () => {
    makeOlder(folder("older"), systemClock);
    await using service = await startService({ args: ["--data-dir", folder("older")] });
    const [copy] = readdirSync(join(folder("older"), "backups"));
    await service.logged(`schema.upgraded from=${OLDER_SCHEMA} to=${OLDER_SCHEMA + 1} copy=`);
    await service.logged(String(copy));
  });

  test("replaces the socket file of a killed service", async () => {
    const args = [
      "--data-dir",
      await installed("killed"),
      "--server-listen",
      `unix:${folder("killed.sock")}`,
    ];
    const start = () => startService({ args: [...args, "--server-public-url", "https://qm.example.org"] });
    const first = await start();
    await first[Symbol.asyncDispose](); // SIGKILL
    expect(existsSync(folder("killed.sock"))).toBe(true);
    await using _second = await start();
    expect((await fetch("http://localhost/ready", { unix: folder("killed.sock") })).status).toBe(200);
  });

  test("immediately takes over the job leases of a killed service", async () => {
    const args = ["--data-dir", await installed("leases")];
    const first = await startService({ args });
    await first[Symbol.asyncDispose](); // SIGKILL
    const database = new Database(join(folder("leases"), "quartermaster.db"));
    const inAnHourMs = systemClock.nowMs() + HOUR_MS;
    const sql =
      "INSERT OR REPLACE INTO jobs (name, next_run_at_ms, lease_owner, lease_until_ms) VALUES (?, 0, 'dead', ?)";
    database.run(sql, ["sealing-rewrap", inAnHourMs]);
    database.close();
    await using second = await startService({ args });
    await second.logged('scheduler.leases_taken_over jobs=["sealing-rewrap"]');
  });

  test("serves TLS with a certificate from files", async () => {
    const fixtures = join(import.meta.dir, "../../fixtures");
    const key = folder("localhost.key"); // a checkout does not keep permissions
    writeFileSync(key, readFileSync(join(fixtures, "localhost.key")), { mode: 0o600 });
    await using service = await startService({
      args: [
        ...["--data-dir", await installed("https")],
        ...["--server-tls-cert", join(fixtures, "localhost.crt"), "--server-tls-key", key],
      ],
    });
    expect(service.baseUrl).toStartWith("https://127.0.0.1:");
    const tls = { ca: readFileSync(join(fixtures, "localhost.crt"), "utf8") };
    expect(await (await fetch(`${service.baseUrl}/health`, { tls })).text()).toBe("ok");
  });
});

const entry = (id: string): string =>
  `- { id: ${id}, version: "1", source_ref: "https://example.com/${id}.tar.gz", sha256: "${"a".repeat(64)}" }\n`;
