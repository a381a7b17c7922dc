// Completion: candidates from the command tree, names from a data directory, and the scripts in real shells.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { placeAt } from "../../../../cli/commands/completion/candidates.ts";
import { SCRIPTS } from "../../../../cli/commands/completion/scripts.ts";
import { processContext } from "../../../../cli/context.ts";
import { programFor } from "../../../../cli/program.ts";
import { NAMES_MAX, type NameKind, namesIn } from "../../../../src/app/installation/known-names.ts";
import { programSchema } from "../../../../src/platform/database/schema/schema.ts";
import { runCli, runOnTerminal } from "../../../support/cli/cli.ts";
import { productCommand } from "../../../support/cli/executable.ts";
import { createInstallation, runHere, type Workspace } from "../../../support/in-process.ts";
import { reportOn } from "../../../support/installed/installed-clients.ts";
import { gatewayConfiguration } from "../../../support/installed/installed-gateway.ts";
import { runJobsOn } from "../../../support/installed/installed-jobs.ts";
import { logInOn } from "../../../support/installed/installed-login.ts";
import { beginPolicyOn, conflictOn } from "../../../support/installed/installed-policy.ts";
import { provisionOn } from "../../../support/installed/installed-provisioning.ts";
import { captureOn } from "../../../support/installed/installed-sessions.ts";

const program = programFor(processContext());
const valuesAt = (line: string): string[] =>
  placeAt(program, line.split(" ")).candidates.map(({ value }) => value);
const wantedAt = (line: string) => placeAt(program, line.split(" ")).wants;

describe("candidates from the command tree", () => {
  test("offers the nouns, then the verbs of a noun, without hidden commands", () => {
    expect(valuesAt("")).toContain("catalog");
    expect(valuesAt("")).not.toContain("__complete");
    expect(valuesAt("logins ")).toEqual(["list", "show", "revoke"]);
  });

  test("offers the options of a verb and its parents, without those already given", () => {
    expect(valuesAt("logins list --user ana -")).toContain("--kind");
    expect(valuesAt("logins list --user ana -")).toContain("--no-color");
    expect(valuesAt("logins list --user ana -")).not.toContain("--user");
  });

  test("offers the choices of an option, even after an equals sign", () => {
    expect(valuesAt("clients list --health ")).toContain("attention");
    expect(placeAt(program, ["clients", "list", "--health=att"])).toMatchObject({
      typed: "att",
      before: "--health=",
    });
    expect(valuesAt("config show --log-level ")).toEqual(["debug", "info", "warning", "error"]);
  });

  test("depend on the kind of the argument, after options and their values", () => {
    expect(wantedAt("users show --data-dir x ")).toBe("user");
    expect(wantedAt("policy diff 1 ")).toBe("revision");
    expect(wantedAt("logins show ")).toBe("login");
    expect(wantedAt("identities remove ana@example.org --issuer ")).toBe("issuer");
    expect(wantedAt("catalog show -- -")).toBe("package");
    expect(wantedAt("catalog seed ")).toBe("files");
    expect(wantedAt("gateway models acknowledge ")).toBe("model");
    expect(wantedAt("gateway models assign codex a ")).toBe("model");
    expect(wantedAt("gateway models assign codex a --default ")).toBe("model");
    expect(wantedAt("users show ana@example.org ")).toBeUndefined();
  });

  test("offers all commands and topics after help", () => {
    expect(valuesAt("help ")).toContain("exit-codes");
    expect(valuesAt("help policy ")).toContain("rollback");
    expect(valuesAt("help policy ")).not.toContain("exit-codes");
  });

  test("offers nothing after an unknown command", () => {
    expect(placeAt(program, ["usres", ""])).toMatchObject({ candidates: [] });
    expect(valuesAt("usres --")).toEqual([]);
  });

  test("come with the given options, by the attribute name of commander", () => {
    expect(placeAt(program, ["users", "show", "--data-dir", "a", "--config=b=c", ""]).given).toEqual({
      dataDir: "a",
      config: "b=c",
    });
  });
});

/** Arguments without completions, because only the operator knows the value. */
const FREE = ["email", "entry", "label", "new-name", "packages", "url", "words"];

const wholeTree = (command: Command): Command[] => [command, ...command.commands.flatMap(wholeTree)];
const wordsOf = (command: Command): string[] =>
  command.parent === null ? [] : [...wordsOf(command.parent), command.name()];

test("every command completes its first argument, or is listed as free text", () => {
  const takers = wholeTree(program).filter(({ registeredArguments }) => registeredArguments.length > 0);
  const unknown = takers.filter((command) => {
    const { candidates, wants } = placeAt(program, [...wordsOf(command), ""]);
    const isFree = FREE.includes(command.registeredArguments[0]?.name() ?? "");
    return !isFree && candidates.length === 0 && wants === undefined;
  });
  expect(unknown.map((command) => wordsOf(command).join(" "))).toEqual([]);
});

describe("names of a data directory", () => {
  let workspace: Workspace;
  const clock = { nowMs: () => 0 };
  const read = (kind: NameKind, prefix = "", from = workspace.data): string[] =>
    namesIn(from, { kind, prefix, clock, deadlineMs: 0 }).map(({ name }) => name);

  /** A model as a refresh stores it, and the configuration with which `gateway models list` shows it. */
  function listModel(): void {
    const configuration = gatewayConfiguration({ origin: "http://127.0.0.1:9" });
    writeFileSync(join(workspace.folder, "gateway.yaml"), configuration, { mode: 0o600 });
    using database = new Database(join(workspace.data, "quartermaster.db"));
    database.run(
      "INSERT INTO gateway_models SELECT id, 'model-a', NULL, NULL, 'f', 'f', 0, 0, NULL, NULL FROM organizations",
    );
  }

  beforeAll(async () => {
    workspace = await createInstallation();
    await workspace.json("users create dora@example.org --role member");
    await workspace.json("users create gone@example.org --role member");
    await workspace.json("users remove gone@example.org --yes");
    await workspace.json(
      "users invite carl@example.org --role member --server-public-url https://qm.example.org",
    );
    await workspace.json("scim tokens create okta");
    await provisionOn(workspace);
    await logInOn(workspace);
    await beginPolicyOn(workspace);
    await reportOn(workspace, [
      { instance_id: "i-1", hostname: "lab-1" },
      { instance_id: "i-2", hostname: null },
    ]);
    await runJobsOn(workspace, ["access-sweep"]);
    await captureOn(workspace, "a session");
    writeFileSync(
      join(workspace.folder, "one.yaml"),
      `- {id: one, version: '2', source_ref: https://example.com/one.tar.gz, sha256: ${"a".repeat(64)}}\n`,
    );
    await workspace.json("catalog seed one.yaml");
    listModel();
    await workspace.json(
      "identities create root@example.org --subject s --issuer https://id.example.org --yes",
    );
  });
  afterAll(() => workspace[Symbol.dispose]());

  test.each([
    ["user", "users list", "email"],
    ["group", "groups list", "display_name"],
    ["invitation", "invitations list", "id"],
    ["login", "logins list", "id"],
    ["issuer", "identities list", "issuer"],
    ["package", "catalog list", "id"],
    ["token", "scim tokens list", "label"],
    ["session", "sessions list", "id"],
    ["job", "jobs list", "name"],
    ["model", "gateway models list --config gateway.yaml", "id"],
  ] as const)("completes names of the kind %s as `%s` lists them", async (kind, line, member) => {
    const { items } = await workspace.json(line);
    const listed = (Array.isArray(items) ? items : [])
      .filter(({ status }) => status !== "removed")
      .map((item) => String(item[member]));
    expect(listed).not.toEqual([]);
    expect(read(kind).toSorted()).toEqual(listed.toSorted());
  });

  test("completes clients by host name or id, and revisions by number", async () => {
    const { items } = await workspace.json("clients list --q i-2");
    expect(read("client").toSorted()).toEqual([Object(items)[0].id, "lab-1"].toSorted());
    expect(read("revision")).toContain("1");
  });

  test("completes places where the policy does not follow the configuration file", async () => {
    await conflictOn(workspace);
    expect(read("conflict", "/ttl")).toEqual(["/ttl_seconds"]);
  });

  test("leaves out names that look like options or contain line breaks", async () => {
    using database = new Database(join(workspace.data, "quartermaster.db"));
    const rename = database.query("UPDATE client_reports SET hostname = ? WHERE instance_id = 'i-2'");
    const seen = async (name: string | null) => {
      rename.run(name);
      const env = { QUARTERMASTER_DATA_DIR: workspace.data };
      const { stdout } = await runHere(["__complete", "--", "clients", "show", ""], {
        cwd: workspace.folder,
        env,
      });
      return stdout;
    };
    expect(await seen("lab-2")).toContain("lab-2\troot@example.org\n");
    for (const name of ["--yes", "lab\n2", "lab\u001b[2J"])
      expect(await seen(name)).toBe("lab-1\troot@example.org\n");
    rename.run(null);
  });

  test("must start with the typed prefix, and are limited in number", async () => {
    expect(read("user", "do")).toEqual(["dora@example.org"]);
    const database = new Database(join(workspace.data, "quartermaster.db"));
    const insert = database.prepare("INSERT INTO jobs (name, next_run_at_ms) VALUES (?, 0)");
    for (let index = 0; index < NAMES_MAX + 1; index++) insert.run(`many-${index}`);
    expect(read("job", "many-")).toHaveLength(NAMES_MAX);
    database.run("DELETE FROM jobs WHERE name IN ('many-0', 'many-1')");
    expect(read("job", "many-")).toHaveLength(NAMES_MAX - 1);
    database.run("DELETE FROM jobs WHERE name LIKE 'many-%'");
    database.close();
  });

  test("offers no names after the time limit", () => {
    let nowMs = 0;
    const running = { nowMs: () => nowMs++ };
    expect(namesIn(workspace.data, { kind: "user", prefix: "", clock: running, deadlineMs: 0 })).toEqual([]);
  });

  test("offers no names if there is no installation, and creates nothing", () => {
    const nowhere = join(workspace.folder, "nowhere");
    expect(read("user", "", nowhere)).toEqual([]);
    expect(existsSync(nowhere)).toBe(false);
  });

  test("offers no names from an older schema and does not upgrade it", () => {
    using database = new Database(join(workspace.data, "quartermaster.db"));
    const last =
      "DELETE FROM schema_migrations WHERE id = (SELECT max(id) FROM schema_migrations) RETURNING *";
    const row = Object.values(Object(database.query(last).get())).map(String);
    expect(read("user")).toEqual([]);
    expect(database.query("SELECT count(*) AS rows FROM schema_migrations").get()).toEqual({
      rows: programSchema() - 1,
    });
    database.query("INSERT INTO schema_migrations VALUES (?, ?, ?, ?, ?)").run(...row);
  });

  test("offers no names, without an error, while another process locks the database", async () => {
    const locked = join(workspace.folder, "locked"); // a copy, because this process may still have the original open
    cpSync(workspace.data, locked, { recursive: true });
    using database = new Database(join(locked, "quartermaster.db"));
    database.run("PRAGMA locking_mode=EXCLUSIVE; BEGIN IMMEDIATE; COMMIT");
    const args = ["__complete", "--", "users", "show", "--data-dir", locked, ""];
    expect(await runCli(args)).toEqual({ stdout: "", stderr: "", exitCode: 0 });
  });
});

/** Command lines before and after completion. */
const TYPED: readonly (readonly [string, string])[] = [
  ["users set-r", "users set-role"],
  ["clients list --health=att", "clients list --health=attention"],
  ["users show ana@ex", "users show ana@example.org"],
  ["catalog seed catalog.ya", "catalog seed catalog.yaml"],
];

const HOME_KEY = "\u0001";

/** Lets a shell complete a command line. */
const SHELLS = [
  { shell: "bash", command: ["bash", "--norc", "--noprofile", "-i"], prepare: ":" },
  { shell: "zsh", command: ["zsh", "-f", "-i"], prepare: "autoload -U compinit; compinit -D -u" },
] as const;

describe("a shell that has sourced the script", () => {
  let workspace: Workspace;
  let env: Record<string, string>;

  beforeAll(async () => {
    workspace = await createInstallation();
    await workspace.json("users create ana@example.org --role member");
    writeFileSync(join(workspace.folder, "catalog.yaml"), "[]");
    writeFileSync(
      join(workspace.folder, "quartermaster"),
      `#!/bin/sh\nexec ${productCommand().join(" ")} "$@"\n`,
      {
        mode: 0o755,
      },
    );
    const PATH = `${workspace.folder}:${process.env.PATH}`;
    env = { PATH, HOME: workspace.folder, TERM: "dumb", PS1: "$ ", QUARTERMASTER_DATA_DIR: workspace.data };
  });
  afterAll(() => workspace[Symbol.dispose]());

  // Shells other than bash are tested only where they are installed.
  const installed = SHELLS.filter(({ shell }) => Bun.which(shell) !== null);
  test.each(installed)("completes in $shell", async ({ shell, command, prepare }) => {
    const { screen } = await runOnTerminal([], {
      command,
      cwd: workspace.folder,
      env,
      columns: 200,
      answers: [
        `${prepare}; . <(quartermaster completion ${shell})\r`,
        ...TYPED.map(([line]) => `quartermaster ${line}\t${HOME_KEY}echo \r`),
        "exit\r",
      ].map((response) => ({ after: "$ ", answer: response })),
    });
    for (const [, completed] of TYPED)
      expect(screen).toMatch(new RegExp(`^quartermaster ${completed} ?$`, "m"));
  });

  test.each(["fish"].filter((shell) => Bun.which(shell) !== null))("completes in %s", async (shell) => {
    for (const [line, completed] of TYPED) {
      const request = `quartermaster completion ${shell} | source; complete -C 'quartermaster ${line}'`;
      const { stdout } = await runCli([], {
        command: [shell, "--no-config", "-c", request],
        cwd: workspace.folder,
        env,
      });
      expect(stdout.split("\t")[0]?.trim()).toBe(completed.split(" ").at(-1) ?? "");
    }
  });
});

test("prints the scripts, and rejects an unknown shell", async () => {
  const { stdout } = await runCli(["completion", "bash"]);
  expect(stdout).toBe(SCRIPTS.bash);
  expect((await runCli(["completion", "tcsh"])).exitCode).toBe(2);
});

test("prints the matching candidates with their descriptions", async () => {
  expect(await runCli(["__complete", "--", "jobs", "ru"])).toEqual({
    stdout: "run\tMakes a job due now; the running service starts it within two seconds.\n",
    stderr: "",
    exitCode: 0,
  });
});
