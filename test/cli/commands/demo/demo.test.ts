// `quartermaster demo` as a user runs it: in a separate process, ended by signals at different moments. It must leave no file, no
// process and no socket.
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HELD_COMMAND, runOnTerminal } from "../../../support/cli/cli.ts";
import { productCommand, SHORT_LIVED } from "../../../support/cli/executable.ts";
import { expectGolden } from "../../../support/cli/golden.ts";
import { runHere } from "../../../support/in-process.ts";
import { follow } from "../../../support/running-service.ts";
import { temporaryDirectory } from "../../../support/world.ts";

const FROM_SOURCE = [process.execPath, join(import.meta.dir, "../../../../src/main.ts")];
/** The length of the directory determines where lines break. */
const VARYING = new Map<string | RegExp, string>([
  [/ \\\n +/g, " "],
  [`bun@${Bun.version}`, "bun@<version>"],
  [/[^\s"]*\/quartermaster-demo-\w{6}/g, "<directory>"],
  [/127\.0\.0\.1:\d+/g, "127.0.0.1:<port>"],
  [/(password |"password":")[\w-]{32}/g, "$1<password>"],
  [/"at":"[^"]+"/g, '"at":"<time>"'],
  [/"user_code":"\w{8}"/g, '"user_code":"<code>"'],
  [/"revision":"[0-9a-f-]{36}"/g, '"revision":"<revision>"'],
]);

const folder = temporaryDirectory();
afterAll(() => rmSync(folder, { recursive: true }));

/** @returns a directory for one test, which becomes the temporary directory of its demo */
const createPlace = (): string => mkdtempSync(join(folder, "place-"));

const environmentAt = (place: string) => ({
  ...SHORT_LIVED,
  TMPDIR: place,
  PATH: process.env.PATH ?? "",
});

function startDemo(command: readonly string[], args: readonly string[]) {
  const place = createPlace();
  const child = Bun.spawn([...command, "demo", ...args], {
    env: environmentAt(place),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = [follow(child.stdout), follow(child.stderr)];
  return {
    place,
    stdout: stdout.text,
    says: (pattern: RegExp) => stdout.match(pattern, child.exited, stderr.text),
    async endBy(signal: NodeJS.Signals): Promise<number> {
      child.kill(signal);
      return await child.exited;
    },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/** @returns the ids of the processes that were started with this temporary directory */
const processesOf = (place: string): string[] =>
  readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/environ`, "utf8").includes(`TMPDIR=${place}`);
    } catch {
      return false; // it has ended, or belongs to another user
    }
  });

async function expectNothingLeft(place: string, output: string): Promise<void> {
  expect(readdirSync(place)).toEqual([]);
  expect(processesOf(place)).toEqual([]);
  const [origin] = /http:\/\/127\.0\.0\.1:\d+/.exec(output) ?? [];
  if (origin !== undefined) await expect(fetch(origin)).rejects.toThrow();
}

/** @returns the arguments of each command that the demo suggests */
function suggestedIn(stdout: string): string[][] {
  const joined = stdout.replaceAll(/ \\\n +/g, " ");
  const lines = [...joined.matchAll(/^ {2}npx -y bun@\S+ src\/main\.ts (.+)$/gm)];
  return lines.map(([, words = ""]) => words.split(" "));
}

test.concurrent("workstations sign in, fall behind when the suggested policy is published, and catch up; Ctrl-C leaves nothing", async () => {
  await using demo = startDemo(FROM_SOURCE, ["--workstations", "2"]);
  await demo.says(/^policy revision 2: 2 current$/m);
  const [log = ""] = /(?<=^The log of the service is ).*(?=\.$)/m.exec(demo.stdout()) ?? [];
  expect(statSync(log).mode & 0o777).toBe(0o600); // otherwise doctor reports a problem of the demo
  const suggested = suggestedIn(demo.stdout());
  expect(suggested.map(([noun, verb]) => `${noun} ${verb}`)).toEqual([
    "clients list",
    "policy apply",
    "clients show",
    "policy explain",
    "logins revoke",
    "audit list",
  ]);
  for (const args of suggested) {
    const { stdout, stderr, exitCode } = await runHere(args, { cwd: folder });
    expect([stderr, exitCode]).toEqual(["", 0]);
    if (args[0] === "policy" && args[1] === "apply") {
      await demo.says(/^policy revision 3: 2 outdated$/m);
      await demo.says(/^policy revision 3: 1 current, 1 attention$/m);
    }
    if (args[1] === "show") expect(stdout).toContain("claude: version 2.0.20 does not satisfy");
  }
  await demo.says(/^policy revision 3: .*\(\d signed out\)$/m);
  expect(await demo.endBy("SIGINT")).toBe(0);
  await expectNothingLeft(demo.place, demo.stdout());
  const [shown = ""] = /^.*?policy revision 2.*?\n/s.exec(demo.stdout()) ?? [];
  const [end = ""] = /^Removed .*\n/m.exec(demo.stdout()) ?? [];
  const step = { line: "demo --workstations 2 ", stdout: shown + end, stderr: "", exitCode: 0 };
  expectGolden("demo", [step], VARYING);
});

test.concurrent("CLI-3 --json prints each event as a line", async () => {
  await using demo = startDemo(productCommand(), ["--workstations", "1", "--json"]);
  await demo.says(/"event":"reported"/);
  expect(await demo.endBy("SIGTERM")).toBe(0);
  await expectNothingLeft(demo.place, demo.stdout());
  const lines = demo.stdout().trimEnd().split("\n");
  const kindOf = (line: string): string => JSON.parse(line).event;
  const firsts = [...Map.groupBy(lines, kindOf).values()].map(([first]) => `${first}\n`);
  const stdout = firsts.toSorted((left, right) => kindOf(left).localeCompare(kindOf(right))).join("");
  const step = { line: "demo --workstations 1 --json ", stdout, stderr: "", exitCode: 0 };
  expectGolden("demo-json", [step], VARYING);
});

describe("leaves nothing behind", () => {
  test.concurrent("leaves nothing behind when it is terminated while workstations sign in", async () => {
    await using demo = startDemo(productCommand(), ["--json"]);
    await demo.says(/"event":"user_code_shown"/);
    expect(await demo.endBy("SIGTERM")).toBe(0);
    await expectNothingLeft(demo.place, demo.stdout());
  });

  // One after another: while the runtime closes a terminal, it may lose the output of another child process that starts.
  test("leaves nothing behind when it is interrupted during the start", async () => {
    const place = createPlace();
    // The line after Ctrl-C lets the start continue.
    const answers = [{ after: "Starting", answer: "\u0003\n" }];
    const options = { command: HELD_COMMAND, env: environmentAt(place), answers };
    const { screen, exitCode } = await runOnTerminal(["demo"], options);
    expect(screen).toMatch(/error:\S* interrupted/);
    expect(exitCode).toBe(130);
    await expectNothingLeft(place, screen);
  });

  test("leaves nothing behind when Ctrl-C is pressed twice", async () => {
    const place = createPlace();
    // The address is always shown; workstations that are signing in are not, if all have signed in by then.
    const answers = [{ after: "http://127.0.0.1:", answer: "\u0003\u0003" }];
    const { screen, exitCode } = await runOnTerminal(["demo"], { env: environmentAt(place), answers });
    expect([0, 130]).toContain(exitCode); // the system may deliver both as one signal
    await expectNothingLeft(place, screen);
  });

  test("leaves nothing behind when its terminal is closed", async () => {
    const place = createPlace();
    let screen = "";
    const hasStarted = Promise.withResolvers<void>();
    const child = Bun.spawn([...productCommand(), "demo"], {
      env: environmentAt(place),
      terminal: {
        cols: 80,
        rows: 24,
        data: (_, bytes) => {
          screen += bytes.toString();
          if (screen.includes("http://127.0.0.1:")) hasStarted.resolve();
        },
      },
    });
    await hasStarted.promise;
    child.terminal?.close(); // not in its callback: the runtime may still be reading
    await child.exited;
    await expectNothingLeft(place, screen);
  });
});

describe("refuses", () => {
  const place = createPlace();
  const refused = (...args: string[]) => runHere(["demo", ...args], { cwd: place });

  test.each([
    ["--workstations", "0", "from 1 to 100"],
    ["--workstations", "101", "from 1 to 100"],
    ["--workstations", "many", "from 1 to 100"],
    ["--port", "65536", "from 0 to 65535"],
  ])("%s %s", async (option, value, range) => {
    const { stdout, stderr, exitCode } = await refused(option, value);
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
    expect(stderr).toStartWith(`error: ${option} must be a whole number ${range}\n`);
  });

  test("a port in use, and makes nothing", async () => {
    using other = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const { stdout, stderr, exitCode } = await refused("--port", String(other.port), "--data-dir", "new");
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 6 });
    expect(stderr).toContain(" is in use by another program\nhint:  choose another port with --port");
    expect(existsSync(join(place, "new"))).toBe(false);
  });

  test("a directory that is not empty, and changes nothing in it", async () => {
    writeFileSync(join(place, "file"), "mine");
    const { stdout, stderr, exitCode } = await refused("--data-dir", ".");
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 4 });
    expect(stderr).toStartWith(`error: ${place} is not empty\nhint:  the demo removes its directory`);
    expect(readdirSync(place)).toEqual(["file"]);
  });

  test.each(["file", "missing/new"])("%s as a directory", async (path) => {
    writeFileSync(join(place, "file"), "mine");
    const { stderr, exitCode } = await refused("--data-dir", path);
    expect(stderr).toStartWith(`error: ${join(place, path)} cannot be created or read as a directory\n`);
    expect(exitCode).toBe(2);
  });
});
