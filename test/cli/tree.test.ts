// The command tree: help, usage errors, suggestions, and the commands that need no data directory.
import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { CliCommand, HELP_WIDTH } from "../../cli/command.ts";
import { TOPICS } from "../../cli/commands/help/topics.ts";
import { manualPage } from "../../cli/commands/manual/manual-page.ts";
import { processContext } from "../../cli/context.ts";
import { programFor } from "../../cli/program.ts";
import { CHAPTERS } from "../../src/handbook/contents.ts";
import { flagOf, SETTING_NAMES, variableOf } from "../../src/platform/config/table.ts";
import { runOnTerminal } from "../support/cli/cli.ts";
import { runHere } from "../support/in-process.ts";

const CONFIG_HELP = `Shows and checks the settings.

Usage: quartermaster config [options] [command]

Examples:
  quartermaster config show
  quartermaster config check --config quartermaster.yaml

Options:
  -h, --help                   show this help

Global Options:
  --version                    print the version
  --no-color                   print without color
  --debug                      add stack traces to errors

Commands:
  show [options]               Shows the value and origin of every setting;
                               secrets only as set or unset.
  check [options]              Runs the checks that the service makes before it
                               starts, and reports all problems at once.
  explain [options] <setting>  Explains one setting: its value and origin, its
                               spellings, and when changes take effect.
`;

const runCli = (args: readonly string[], { env = {} }: { env?: Record<string, string> } = {}) =>
  runHere(args, { cwd: tmpdir(), env });

const wholeTree = (command: Command): Command[] => [command, ...command.commands.flatMap(wholeTree)];

describe("CLI-14 help", () => {
  test("a noun without a verb lists its verbs on stdout with exit code 0", async () => {
    expect(await runCli(["config"])).toEqual({ stdout: CONFIG_HELP, stderr: "", exitCode: 0 });
  });

  test("`NOUN --help` and `help NOUN` print the same text", async () => {
    expect((await runCli(["config", "--help"])).stdout).toBe(CONFIG_HELP);
    expect((await runCli(["help", "config"])).stdout).toBe(CONFIG_HELP);
  });

  test("every command has a one-sentence description and examples before its options", () => {
    for (const command of wholeTree(programFor(processContext()))) {
      const help = command.helpInformation();
      expect(help).toMatch(/^[A-Z][^\n]+(?:\n[^\n]+){0,3}\.\n\nUsage: quartermaster/);
      expect(help.indexOf("Examples:\n  quartermaster")).toBeGreaterThan(0);
      expect(help.indexOf("Examples:")).toBeLessThan(help.indexOf("Options:"));
      expect(help.split("Options:")[0]?.match(/^ {2}quartermaster/gm)?.length).toBeWithin(2, 4);
    }
  });

  test("a command that takes every setting lists only those of its subject, and refers to the others", async () => {
    const { stdout: takeover } = await runCli(["takeover", "--help"]);
    expect(takeover).toContain("--old-machine-is-off");
    expect(takeover).toContain("\nSecond machine settings:\n");
    expect(takeover).not.toContain("--server-listen");
    expect(takeover).toEndWith("\nEvery setting is also an option: quartermaster serve --help lists them.\n");
    expect((await runCli(["serve", "--help"])).stdout).toContain("--server-listen");
    const unknown = await runCli(["sso", "show", "--server-listen", "nowhere"]);
    expect(unknown.stderr).toContain("--server-listen: must be");
  });

  test("every help fits 80 columns, except names, examples and usage", async () => {
    const program = programFor(processContext());
    for (const command of wholeTree(program)) {
      const [, ...listed] = command.helpInformation().split(/^(?:Arguments|Options|[A-Z][\w ]+ settings):$/m);
      const long = listed
        .join("")
        .split("\n")
        .filter((line) => line.length > 80 && !/^ {2}-/.test(line));
      expect({ command: command.name(), long }).toEqual({ command: command.name(), long: [] });
    }
  });

  test("the root groups its commands, and serve groups its settings", async () => {
    const root = (await runCli(["--help"])).stdout;
    const headings = (text: string) => text.match(/^[A-Z][^\n]*:$/gm);
    expect(headings(root)).toEqual([
      "Examples:",
      "Options:",
      "Service:",
      "Users and logins:",
      "Policy and workstations:",
      "Gateway and keys:",
      "Data and operation:",
      "Help and shell:",
      "Handbook chapters:",
      "Other help topics:",
    ]);
    const serve = (await runCli(["serve", "--help"])).stdout;
    expect(headings(serve)).toContain("Gateway settings:");
    expect(headings(serve)).not.toContain("Settings:"); // every setting has a group
    expect(serve.split("\n").filter((line) => line.length > HELP_WIDTH)).toEqual([]);
    expect(serve).toMatch(/--identity-oidc-client-auth <method>\s[^-]+\(choices:\s+"client_secret_basic"/);
  });

  test("options of fixed words list them and refuse others", async () => {
    const { stdout } = await runCli(["users", "list", "--help"]);
    expect(stdout).toMatch(/--status <status> .+\(choices:\s+"active",\s+"suspended",\s+"removed"\)/);
    const { stderr, exitCode } = await runCli(["users", "list", "--role", "root"]);
    expect(stderr).toContain("Allowed choices are admin, member.");
    expect(exitCode).toBe(2);
  });

  test("prints a handbook topic in lines of 80 characters, without escape sequences", async () => {
    const { stdout, exitCode } = await runCli(["help", "exit-codes"]);
    expect(stdout).toStartWith("Exit codes\n----------\n\n");
    expect(stdout).toContain("| `130` | interrupted (Ctrl-C), or");
    expect(stdout).not.toContain("\u001b");
    expect(stdout).not.toContain("<!--");
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    expect(exitCode).toBe(0);
  });

  test("lists chapters and topics below the commands, in lines that fit", async () => {
    const { stdout } = await runCli(["--help"]);
    for (const { name, about } of CHAPTERS)
      expect(stdout).toMatch(new RegExp(`^  ${name} +${RegExp.escape(about)}$`, "m"));
    expect(stdout).toContain("\nOther help topics:\n  environment, exit-codes, files, formatting, ");
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(HELP_WIDTH);
  });

  test("only the topics gateway and harnesses have the name of a command", () => {
    const names = programFor(processContext()).commands.map((command) => command.name());
    expect(TOPICS.map(({ name }) => name).filter((name) => names.includes(name))).toEqual([
      "gateway",
      "harnesses",
    ]);
  });

  test("prints every chapter and topic; JSON contains the Markdown", async () => {
    for (const { name } of TOPICS) {
      const [text, json] = [await runCli(["help", name]), await runCli(["help", name, "--json"])];
      expect([text.exitCode, text.stderr, json.exitCode, json.stderr]).toEqual([0, "", 0, ""]);
      expect(JSON.parse(json.stdout)).toEqual({ name, text: expect.stringMatching(/\S/) });
    }
  });

  test("shows a chapter in the pager on a terminal, unless PAGER is empty", async () => {
    const env = { PATH: process.env.PATH ?? "" };
    const paged = await runOnTerminal(["help", "commands"], { env: { ...env, PAGER: "sed s/^/paged:/" } });
    expect(paged.screen).toMatch(/^paged:\S*Commands/);
    expect(paged.exitCode).toBe(0);
    const plain = await runOnTerminal(["help", "commands"], { env: { ...env, PAGER: "", NO_COLOR: "1" } });
    expect(plain.screen).toStartWith("Commands\n========\n");
    expect(plain.screen).not.toContain("\u001b");
  });

  test("rejects an unknown topic and suggests the nearest one", async () => {
    const { stdout, stderr, exitCode } = await runCli(["help", "exit-cods"]);
    expect(stdout).toBe("");
    expect(stderr).toBe('error: no help for "exit-cods"\nhint:  did you mean exit-codes?\nrun:   <run>\n');
    expect(exitCode).toBe(3);
    expect((await runCli(["help", "upgrading"])).stderr).toContain("hint:  run: quartermaster --help\n");
  });
});

describe("the manual page", () => {
  const tree = programFor(processContext());
  const page = manualPage(tree, "1.2.3");
  const shown = page.replaceAll("\\(aq", "'").replaceAll("\\-", "-").replaceAll("\\%", "");

  test("contains every visible command with its examples, and every setting in three spellings", () => {
    const leaves = wholeTree(tree).filter(({ commands }) => commands.length === 0);
    const shownLeaves = leaves.filter((leaf) => leaf.name() !== "__complete");
    const wanted = [
      ...shownLeaves.flatMap((leaf) =>
        leaf instanceof CliCommand ? [`.SS ${leaf.path()}`, ...leaf.exampleLines()] : [],
      ),
      ...SETTING_NAMES.flatMap((key) => [key, flagOf(key), variableOf(key)]),
    ];
    expect(wanted.filter((text) => !shown.includes(text))).toEqual([]);
    expect(shown).not.toContain("__complete");
  });

  test("is valid for groff, and whatis finds its name", () => {
    expect(page).toMatch(/^\.SH NAME\nquartermaster \\- control service for .+[^.]$/m);
    const groff = Bun.which("groff") ?? "true"; // installed with man(1), which some machines lack
    const { stderr, exitCode } = Bun.spawnSync([groff, "-man", "-Tascii", "-ww", "-z"], {
      stdin: Buffer.from(page),
    });
    expect(`${stderr}`).toBe("");
    expect(exitCode).toBe(0);
  });

  test("is printed by the command", async () => {
    expect((await runCli(["manual"])).stdout).toBe(manualPage(tree, "development"));
  });
});

describe("wrong usage", () => {
  const cases: readonly [string, string[], string][] = [
    ["an unknown noun", ["confg"], "error: unknown command 'confg'\nhint:  did you mean config?"],
    ["an unknown verb", ["config", "shwo"], "error: unknown command 'shwo'\nhint:  did you mean show?"],
    [
      "an unknown option",
      ["config", "show", "--catlog"],
      "error: unknown option '--catlog'\nhint:  did you mean --catalog?",
    ],
    [
      "--yes where a name is needed",
      ["backup", "restore", "a.qmb", "--yes"],
      "error: unknown option '--yes'\nhint:  pass --confirm NAME instead, with the name of what is erased or replaced",
    ],
    [
      "an option without its value",
      ["config", "show", "--config"],
      "error: option '--config <path>' argument missing\nhint:  run: quartermaster config show --help",
    ],
    [
      "an option of a noun without a verb",
      ["config", "--bogus"],
      "error: unknown option '--bogus'\nhint:  run: quartermaster config --help",
    ],
    [
      "two spellings of one option",
      ["config", "show", "--catalog", "a", "--catalog-file", "b"],
      "error: option '--catalog <path>' cannot be used with option '--catalog-file <path>'\nhint:  run: quartermaster config show --help",
    ],
  ];

  test.each(cases)("%s is rejected with exit code 2, only on stderr", async (_, args, message) => {
    expect(await runCli(args)).toEqual({ stdout: "", stderr: `${message}\nrun:   <run>\n`, exitCode: 2 });
  });

  test("rejects a secret passed as a flag without echoing it", async () => {
    const { stderr, exitCode } = await runCli(["config", "show", "--scim-token=hunter2"]);
    expect(stderr).toBe(
      "error: unknown option '--scim-token'\nhint:  secrets cannot be passed as arguments; put the secret in a file and pass --scim-token-file PATH\nrun:   <run>\n",
    );
    expect(exitCode).toBe(2);
  });

  test("counts excess arguments without echoing them", async () => {
    const { stderr } = await runCli(["version", "hunter2"]);
    expect(stderr).toStartWith("error: too many arguments for 'version'. Expected 0 arguments but got 1\n");
  });

  test("--json prints the error as one JSON object on stderr", async () => {
    const { stdout, stderr } = await runCli(["config", "shwo", "--json"]);
    expect(stdout).toBe("");
    expect(JSON.parse(stderr)).toEqual({
      error: "unknown command 'shwo'",
      reason: "usage.unknown_command",
      hint: "did you mean show?",
      problems: [],
      exit_code: 2,
      run_id: "<run>",
    });
  });
});

describe("config", () => {
  test("CLI-11 shows every setting with its value and origin, but never the value of a secret", async () => {
    const env = { QUARTERMASTER_SCIM_TOKEN: "hunter2", QUARTERMASTER_LOG_LEVEL: "debug" };
    const { stdout, stderr, exitCode } = await runCli(
      ["config", "show", "--server-listen", "localhost:1", "--catalog", "/c.yaml"],
      { env },
    );
    expect(stdout).toMatch(/^SETTING +VALUE +ORIGIN\ndata_dir /);
    expect(stdout).toMatch(/^server.listen +localhost:1 +flag$/m);
    expect(stdout).toMatch(/^catalog.file +\/c.yaml +flag$/m);
    expect(stdout).toMatch(/^log.level +debug +environment$/m);
    expect(stdout).toMatch(/^scim.token +set +environment$/m);
    expect(stdout + stderr).not.toContain("hunter2");
    expect(stderr).toStartWith("warning: QUARTERMASTER_SCIM_TOKEN passes a secret in the environment");
    expect(exitCode).toBe(0);
  });

  test("--json prints the same facts as one document", async () => {
    const { stdout } = await runCli(["config", "show", "--json", "--log-level", "error"]);
    const { items, file } = JSON.parse(stdout);
    expect(items).toContainEqual({ key: "log.level", value: "error", origin: "flag" });
    expect(file).toBeNull();
  });

  test("CLI-11 CLI-12 check reports every problem with file, line and pointer", async () => {
    const directory = mkdtempSync(join(tmpdir(), "quartermaster-test-"));
    try {
      const file = join(directory, "q.yaml");
      await Bun.write(file, "server:\n  listen: nowhere\n  lisen: x\n");
      const env = { QUARTERMASTER_LOG_LEVEL: "loud" };
      const { stdout, stderr, exitCode } = await runCli(["config", "check", "--config", file], { env });
      expect(stdout).toBe("");
      expect(stderr.split("\n")).toEqual([
        `error: the configuration has 3 problems (file: ${file})`,
        `${file}:3: /server/lisen: server.lisen: no such key; the nearest is server.listen`,
        expect.stringMatching(new RegExp(`^${file}:2: /server/listen: server.listen: must be host:port`)),
        "/log/level: QUARTERMASTER_LOG_LEVEL: must be one of debug, info, warning, error",
        expect.stringMatching(/^hint: {2}correct each problem/),
        "run:   <run>",
        "",
      ]);
      expect(exitCode).toBe(2);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test("check answers in text and in JSON", async () => {
    expect(await runCli(["config", "check"])).toEqual({
      stdout: "The configuration is valid; no file is in use.\n",
      stderr: "",
      exitCode: 0,
    });
    expect(JSON.parse((await runCli(["config", "check", "--json"])).stdout)).toEqual({
      replica: null,
      valid: true,
      warnings: [],
      file: null,
    });
  });

  test("AIR-2 lists no outgoing connections without a configured destination", async () => {
    expect(await runCli(["config", "show", "--outgoing"])).toEqual({
      stdout: "",
      stderr: "no destinations: the service makes no outgoing connections\n",
      exitCode: 0,
    });
  });
});

describe("version", () => {
  test("CLI-18 --json has every fact", async () => {
    const { stdout, exitCode } = await runCli(["version", "--json"]);
    expect(JSON.parse(stdout)).toEqual({
      version: "development",
      commit: "development",
      build_time: null,
      runtime: `bun ${Bun.version}`,
      schema: expect.any(Number),
      api_contract: 3,
    });
    expect(exitCode).toBe(0);
  });

  test("--version prints one line", async () => {
    expect((await runCli(["--version"])).stdout).toBe("quartermaster development\n");
  });
});

describe("CLI-5 color", () => {
  const colored = async (args: string[], env: Record<string, string> = {}) =>
    (await runOnTerminal(["confg", ...args], { env })).screen.includes("\u001b[31m");

  test("an error is red on a terminal", async () => {
    expect(await colored([])).toBe(true);
  });

  test("--no-color, NO_COLOR and TERM=dumb each disable it", async () => {
    expect(await colored(["--no-color"])).toBe(false);
    expect(await colored([], { NO_COLOR: "1" })).toBe(false);
    expect(await colored([], { TERM: "dumb" })).toBe(false);
  });
});

test("builds the verbs of the nouns on the command line only", () => {
  const verbsOf = (args: readonly string[] | undefined, noun: string): number | undefined =>
    programFor(processContext(), args).commands.find((command) => command.name() === noun)?.commands.length;
  const all = verbsOf(undefined, "catalog");
  expect(all).toBeGreaterThan(0);
  expect(verbsOf(["catalog", "list"], "catalog")).toBe(all);
  expect(verbsOf(["--debug", "help", "catalog", "list"], "catalog")).toBe(all);
  expect(verbsOf(["users", "list"], "catalog")).toBe(0);
});
