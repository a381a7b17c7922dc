// Rules for every command of the tree, including new ones: golden texts, exit codes of refusals, JSON errors, and no secrets in
// arguments (requirements CLI-2, CLI-3, CLI-6, CLI-10).
import { afterAll, describe, expect, test } from "bun:test";
import { appendFileSync, cpSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { CliCommand } from "../../cli/command.ts";
import { processContext } from "../../cli/context.ts";
import { Interrupted } from "../../cli/exit.ts";
import { programFor } from "../../cli/program.ts";
import { createInstallation, runHere } from "../support/in-process.ts";
import { temporaryDirectory } from "../support/world.ts";

const EXAMPLE = join(import.meta.dir, "../../src/domain/catalog/example");
const cwd = temporaryDirectory();
afterAll(() => rmSync(cwd, { recursive: true }));

const treeOf = (command: Command): CliCommand[] => [
  ...(command instanceof CliCommand ? [command] : []),
  ...command.commands.flatMap(treeOf),
];
const tree = treeOf(programFor(processContext()));
const leaves = tree.filter(({ commands }) => commands.length === 0);
const wordsOf = (command: CliCommand): string[] => command.path().split(" ").slice(1);
const takes = (command: CliCommand, option: string): boolean =>
  command.options.some(({ long }) => long === option);

/** Commands without --json: their output is for a shell, man(1), the journal or a person. */
const WITHOUT_JSON = ["serve", "completion", "__complete", "manual"];

/** Required arguments of commands; most accept any text. */
const REQUIRED: Readonly<Record<string, string>> = {
  "users create": "x@example.org --role member",
  "users invite": "x@example.org --role member",
  "users change": "suspend x",
  "keys change": "revoke x",
  "identities create": "x --subject s",
  "policy explain": "--user x --harness codex",
  "gateway models assign": "codex x",
  "audit resend": "--after 0",
  "artifacts create": "--connection x --repository x/x --ref x",
  "packages update": "--from x",
  "gateway logs export": "--jsonl --out .",
};

const lineOf = (command: CliCommand): string[] => [
  ...wordsOf(command),
  ...(REQUIRED[wordsOf(command).join(" ")]?.split(" ") ?? command.registeredArguments.map(() => "x")),
];

describe("CLI-3 golden texts", () => {
  const folder = join(import.meta.dir, "golden");
  const steps = readdirSync(folder)
    .flatMap((file) => readFileSync(join(folder, file), "utf8").split(/^\$ quartermaster /m))
    .map((step) => ({
      line: `${step.slice(0, step.indexOf("\n"))} `,
      isDone: !/^\[exit \d+\]$/m.test(step),
    }));

  test("exist for the successful output of every command, as text and as JSON", () => {
    const missing = leaves
      .map((command) => wordsOf(command).join(" "))
      .filter((path) => !WITHOUT_JSON.includes(path))
      .flatMap((path) => {
        const done = steps.filter(({ line, isDone }) => isDone && line.startsWith(`${path} `));
        const kinds = [
          { kind: "text", isThere: done.some(({ line }) => !line.includes(" --json ")) },
          { kind: "JSON", isThere: done.some(({ line }) => line.includes(" --json ")) },
        ];
        return kinds.filter(({ isThere }) => !isThere).map(({ kind }) => `${path}: ${kind}`);
      });
    expect(missing).toEqual([]);
  });

  test("lists the commands without --json, which have no golden text", () => {
    const without = leaves.filter((command) => !takes(command, "--json"));
    expect(without.map((command) => wordsOf(command).join(" ")).toSorted()).toEqual(WITHOUT_JSON.toSorted());
  });
});

test.each(tree.map((command) => [command.path(), command] as const))(
  "CLI-2 %s rejects an unknown option with exit code 2, only on stderr",
  async (_, command) => {
    const { stdout, stderr, exitCode } = await runHere([...lineOf(command), "--bogus"], { cwd });
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
    expect(stderr).toStartWith("error: unknown option '--bogus'\nhint:  ");
  },
);

/** Commands that create an installation, or need none. */
const BEGINNERS = [
  "serve",
  "setup",
  "demo",
  "config show",
  "config check",
  "config explain",
  "backup list",
  "backup restore",
  "harnesses list",
  "takeover",
  "unit",
];

describe("data directory without an installation", () => {
  const needy = leaves.filter(
    (command) => takes(command, "--data-dir") && !BEGINNERS.includes(wordsOf(command).join(" ")),
  );

  test.each(needy.map((command) => [wordsOf(command).join(" "), command] as const))(
    "%s is refused with code 3 and a JSON error, and creates nothing",
    async (path, command) => {
      const data = join(cwd, path);
      const args = [...lineOf(command), "--json", "--data-dir", data];
      const { stdout, stderr, exitCode } = await runHere(args, { cwd });
      expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 3 });
      expect(JSON.parse(stderr.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({ exit_code: 3 });
      expect(existsSync(data)).toBe(false);
    },
  );
});

test.each([
  "catalog seed catalog.yaml",
  "catalog verify",
  "catalog upload review-guide-1.2.0.tar.gz",
  "audit verify",
  "audit export --out audit.jsonl",
  "backup create backup.qmb",
])("CLI-13 %s leaves no files behind and exits with 130 when interrupted", async (line) => {
  using workspace = await createInstallation();
  cpSync(EXAMPLE, workspace.folder, { recursive: true });
  await workspace.json("catalog seed catalog.yaml");
  appendFileSync(join(workspace.folder, "catalog.yaml"), "\n"); // differs from the file that was read last
  const files = () => readdirSync(workspace.folder, { recursive: true, encoding: "utf8" }).toSorted();
  const before = files();
  const { stdout, stderr, exitCode } = await workspace.run(line, {
    signal: AbortSignal.abort(new Interrupted("SIGINT")),
  });
  expect({ stdout, stderr, exitCode }).toEqual({
    stdout: "",
    stderr: "error: interrupted\nrun:   <run>\n",
    exitCode: 130,
  });
  expect(files()).toEqual(before);
});

describe("CLI-10 secrets", () => {
  const SECRET = /password|passphrase|token|secret|credential|(?:sealing|signing|admin)-key/;

  test("takes a secret in an option only as a file", () => {
    const suspects = tree.flatMap((command) =>
      command.options
        .filter(({ long, required, optional }) => (required || optional) && SECRET.test(long ?? ""))
        .map(({ flags }) => `${command.path()} ${flags}`),
    );
    expect(suspects).toContain("quartermaster users create --password-file <path>");
    // An option with fixed values, such as the name of a header, holds no secret.
    expect(suspects.filter((option) => !/-file <path>$|<number>$|<[^>]+\|[^>]+>$/.test(option))).toEqual([]);
  });

  test("takes no secret as an argument", () => {
    const named = tree.flatMap((command) =>
      command.registeredArguments.map((argument) => `${command.path()} <${argument.name()}>`),
    );
    // This argument is the label or id of a token.
    expect(named.filter((argument) => SECRET.test(argument.slice(argument.lastIndexOf(" "))))).toEqual([
      "quartermaster scim tokens revoke <token>",
    ]);
  });
});
