// The build and the bare executable: one file that needs no other file and reads no configuration from its surroundings.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "../../src/app/release/build.ts";
import { runCli } from "../support/cli/cli.ts";
import { builtExecutable } from "../support/cli/executable.ts";
import { prepareInstallation } from "../support/installed/prepared-installation.ts";
import { receiveNotifications } from "../support/network/notify-receiver.ts";
import { startService } from "../support/running-service.ts";

const SOURCES = join(import.meta.dir, "../../src");
const MAIN = join(SOURCES, "main.ts");
const PICTURES = "handbook/chapters/pictures";

/** Records the mode that Elysia sees: Elysia creates this symbol in the statement in which it reads the mode. */
const PRINT_MODE = `
  globalThis.Symbol = new Proxy(Symbol, {
    apply(target, self, args) {
      if (args[0] === "ElysiaErrorCode")
        require("node:fs").writeFileSync(import.meta.path + ".mode", Reflect.get(Bun.env, "NODE_ENV"));
      return Reflect.apply(target, self, args);
    },
  });
`;

let directory: string;
let command: readonly string[];

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "quartermaster-test-"));
  command = [builtExecutable()];
});

afterAll(() => rmSync(directory, { recursive: true }));

describe("the executable", () => {
  test("prints its version in an empty folder with an empty environment and creates no files", async () => {
    const { stdout, stderr, exitCode } = await runCli(["version", "--json"], { command, cwd: directory });
    expect(stderr).toBe("");
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      commit: expect.stringMatching(/^([0-9a-f]{40}(-modified)?|unknown)$/),
      runtime: `bun ${Bun.version}`,
      api_contract: 3,
    });
    expect(readdirSync(directory)).toEqual([]);
  });

  test("contains the example archive, and no picture of the handbook", () => {
    const bytes = readFileSync(builtExecutable());
    const has = (path: string) => bytes.includes(readFileSync(join(SOURCES, path)));
    const pictures = readdirSync(join(SOURCES, PICTURES)).map((name) => join(PICTURES, name));
    expect(has("domain/catalog/example/review-guide-1.2.0.tar.gz")).toBe(true);
    expect(pictures.filter(has)).toEqual([]);
    expect(pictures).not.toEqual([]);
  });

  test("reads neither `.env` nor `bunfig.toml` of the current folder", async () => {
    const hostile = mkdtempSync(join(directory, "hostile-"));
    writeFileSync(join(hostile, ".env"), "QUARTERMASTER_LOG_LEVEL=debug\n");
    writeFileSync(join(hostile, "bunfig.toml"), 'preload = ["./preload.ts"]\n');
    writeFileSync(join(hostile, "preload.ts"), 'require("node:fs").writeFileSync("preloaded", "");\n');
    const { stdout, exitCode } = await runCli(["config", "show", "--json"], { command, cwd: hostile });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout).items).toContainEqual({ key: "log.level", value: "info", origin: "default" });
    expect(existsSync(join(hostile, "preloaded"))).toBe(false);
  });

  test.each([
    ["the executable", () => command],
    ["the sources", () => [process.execPath, MAIN]],
  ])(
    "%s: production mode is set when the framework loads, regardless of the environment",
    async (_what, product) => {
      const folder = mkdtempSync(join(directory, "mode-"));
      const preload = join(folder, "preload.ts");
      writeFileSync(preload, PRINT_MODE);
      const env = { NODE_ENV: "development", ENV: "development", BUN_OPTIONS: `--preload=${preload}` };
      const args = ["--data-dir", join(folder, "data")];
      await prepareInstallation(join(folder, "data"));
      await using service = await startService({ args, command: product(), env });
      service.signal("SIGTERM");
      expect(await service.ended()).toBe(0);
      expect(readFileSync(`${preload}.mode`, "utf8")).toBe("production");
    },
  );

  test("SVC-2: notifies the service manager when it is ready and when it stops", async () => {
    const manager = `@quartermaster-binary-${process.pid}`;
    using receiver = receiveNotifications(manager);
    const args = ["--data-dir", join(directory, "notifying")];
    await prepareInstallation(join(directory, "notifying"));
    await using service = await startService({ args, command, env: { NOTIFY_SOCKET: manager } });
    expect((await receiver.next("READY")).STATUS).toMatch(/^version \d/);
    service.signal("SIGTERM");
    expect(await receiver.next("STOPPING")).toMatchObject({ STOPPING: "1" });
    expect(await service.ended()).toBe(0);
  });

  test("refuses wrong usage like a run from source", async () => {
    const { stderr, exitCode } = await runCli(["config", "shwo"], { command });
    expect(stderr).toBe("error: unknown command 'shwo'\nhint:  did you mean show?\nrun:   <run>\n");
    expect(exitCode).toBe(2);
  });
});

test("a build that fails leaves the folder unchanged", () => {
  const folder = join(directory, "kept");
  mkdirSync(folder);
  writeFileSync(join(folder, "quartermaster"), "former");
  expect(() => build({ directory: folder, targets: ["bun-nowhere"] })).toThrow("failed");
  expect(readdirSync(folder)).toEqual(["quartermaster"]);
  expect(readFileSync(join(folder, "quartermaster"), "utf8")).toBe("former");
});
