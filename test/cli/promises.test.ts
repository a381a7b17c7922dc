// Rules for all commands (test/requirements/operator-experience.md): the same few verbs on every noun, a confirmation before
// destructive changes, and commands that can be repeated safely.
import { expect, test } from "bun:test";
import { copyFileSync, cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { processContext } from "../../cli/context.ts";
import { programFor } from "../../cli/program.ts";
import { createInstallation, type Workspace } from "../support/in-process.ts";
import { publishOn, reportOn } from "../support/installed/installed-clients.ts";

const EXAMPLE = join(import.meta.dir, "../../src/domain/catalog/example");

const leavesOf = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
const { commands } = programFor(processContext());
const nouns = commands.filter((command) => command.commands.length > 0);
const verbs = nouns.flatMap(leavesOf);
const takes = (command: Command, option: string): boolean =>
  command.options.some(({ long }) => long === option);

/** Nouns that are singular, or have no plural. */
const SINGULAR = [
  "audit",
  "backup",
  "branding",
  "catalog",
  "config",
  "gateway",
  "migrate",
  "organization",
  "policy",
  "replica",
  "scim",
  "sso",
];

test("CLI-1 nouns are plural if several items can exist", () => {
  const singular = nouns.map((noun) => noun.name()).filter((name) => !name.endsWith("s"));
  expect(singular.toSorted()).toEqual(SINGULAR);
});

test("CLI-1 the same operation has the same verb on every noun", () => {
  /** words that other programs use, and the verb that is used here */
  const SYNONYMS: Readonly<Record<string, string>> = {
    ls: "list",
    get: "show",
    view: "show",
    describe: "show",
    add: "create",
    new: "create",
    make: "create",
    delete: "remove",
    rm: "remove",
    kill: "revoke",
    disable: "suspend",
    enable: "resume",
    validate: "check",
    test: "check",
    dump: "export",
    load: "import",
    save: "apply",
    set: "apply",
    renew: "rotate",
  };
  expect(verbs.map((verb) => verb.name()).filter((name) => name in SYNONYMS)).toEqual([]);
  const withList = nouns.filter((noun) => leavesOf(noun).some((verb) => verb.name() === "list"));
  expect(withList.length).toBeGreaterThan(10);
});

test("CLI-7 every destructive verb asks for confirmation, and has a dry run that changes nothing", () => {
  const TAKING =
    /^(remove|revoke|suspend|cancel|rotate|rollback|restore|import|apply|erase|purge|regenerate)$/;
  const taking = verbs.filter((verb) => TAKING.test(verb.name()));
  expect(taking.length).toBeGreaterThan(12);
  const silent = taking.filter(
    (verb) => !takes(verb, "--dry-run") || !(takes(verb, "--yes") || takes(verb, "--confirm")),
  );
  expect(silent.map((verb) => `${verb.parent?.name()} ${verb.name()}`)).toEqual([]);
});

const POLICY = "revision: any\nallowed_harnesses: [codex]\n";

const STATES: Readonly<Record<string, (workspace: Workspace) => unknown>> = {
  "catalog seed catalog.yaml": ({ folder }) => cpSync(EXAMPLE, folder, { recursive: true }),
  "catalog import bundle.qmc --trust home.pub --yes": async (workspace) => {
    using home = await createInstallation();
    cpSync(EXAMPLE, home.folder, { recursive: true });
    await home.json("catalog seed catalog.yaml");
    writeFileSync(join(workspace.folder, "home.pub"), (await home.run("catalog bundle-key")).stdout);
    await home.json("catalog export --bundle bundle.qmc --leave-out-remote");
    copyFileSync(join(home.folder, "bundle.qmc"), join(workspace.folder, "bundle.qmc"));
  },
  "policy apply policy.yaml --yes": async (workspace) => {
    await publishOn(workspace);
    writeFileSync(join(workspace.folder, "policy.yaml"), POLICY);
  },
  "clients revoke lab-1 --yes": async (workspace) => {
    await publishOn(workspace);
    await reportOn(workspace, [{ instance_id: "i-1", hostname: "lab-1" }]);
  },
  "users suspend ana@example.org --yes": (workspace) =>
    workspace.json("users create ana@example.org --role member"),
  "users remove ana@example.org --yes": (workspace) =>
    workspace.json("users create ana@example.org --role member"),
};

test.each(Object.entries(STATES))(
  "CLI-9 %s can be repeated, and reports that nothing changed",
  async (line, prepare) => {
    using workspace = await createInstallation();
    await prepare(workspace);
    const first = await workspace.run(line);
    expect([first.stderr, first.exitCode]).toEqual([expect.not.stringContaining("error:"), 0]);
    expect(first.stdout).not.toContain("unchanged");
    const again = await workspace.run(line);
    expect(again.exitCode).toBe(0);
    expect(again.stdout).toMatch(/^unchanged/m);
  },
);

test("USE-7 policy explain shows the revision, the line of each value, and the state of each package", async () => {
  using workspace = await createInstallation();
  await publishOn(workspace);
  writeFileSync(
    join(workspace.folder, "policy.yaml"),
    "revision: any\nallowed_harnesses: [codex]\nharnesses:\n  codex:\n    managed_config: {model: fast}\n",
  );
  await workspace.json("policy apply policy.yaml --yes");
  const line = "policy explain --user root@example.org --harness codex";
  const { stdout } = await workspace.run(line);
  expect(stdout).toMatch(/^revision +revision 2$/m);
  expect(stdout).toMatch(/^LINE +ENFORCED +VALUE$/m);
  expect(stdout).toMatch(/^\d+ +\/harnesses\/codex\/managed_config\/model +"?fast"?$/m);
  const explained = await workspace.json(line);
  expect(explained).toMatchObject({ number: 2, harness: "codex", allowed: true });
});
