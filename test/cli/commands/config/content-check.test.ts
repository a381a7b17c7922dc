// `config check` and the content that the configuration refers to: it refuses every catalog and policy that a start refuses.
import { expect, test } from "bun:test";
import { readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sha256Hex } from "../../../../src/platform/ids.ts";
import { tarFile, tarGzOf } from "../../../support/content/tar.ts";
import { createInstallation, createWorkspace, runHere, type Workspace } from "../../../support/in-process.ts";

const ARCHIVE = tarGzOf(tarFile("plugin/a.txt", "a"));
const DIGEST = sha256Hex(ARCHIVE);
const POLICY = "governance:\n  revision: first\n  contract_version: 1\n";
const entry = (sha256: string, artifactId?: string) =>
  `  - { id: one, version: "1", source_ref: one.tar.gz, sha256: ${sha256}${artifactId ? `, artifact_id: ${artifactId}` : ""} }\n`;

function write({ folder }: Workspace, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
}

/** @returns the output of the command, without parts that differ between runs */
async function outcomeOf(workspace: Workspace, line: string) {
  const { exitCode, stderr } = await workspace.run(line);
  const lines = stderr.split("\n").filter((text) => /^error: |: \//.test(text));
  return { exitCode, lines };
}

const REFUSED: Readonly<Record<string, [flags: string, files: Record<string, string | Uint8Array>]>> = {
  "a policy with unknown members": [
    "--config q.yaml",
    { "q.yaml": `${POLICY}  bogus: 3\n  harnesses: { claude: { nonsense: 1 } }\n` },
  ],
  "a policy with an archive that is not stored": [
    "--config q.yaml",
    { "q.yaml": `${POLICY}  packages:\n  ${entry(DIGEST, "01a226fe-3a49-70c4-961e-696d2d9791d7")}` },
  ],
  "an invalid catalog": [
    "--config q.yaml",
    { "q.yaml": 'package_catalog:\n  packages:\n  - { id: "a b" }\n' },
  ],
  "a catalog file that is missing": ["--catalog-file nowhere.yaml", {}],
  "a catalog file with the wrong digest of an archive": [
    "--catalog-file catalog.yaml",
    {
      "one.tar.gz": ARCHIVE,
      "catalog.yaml": `package_catalog:\n  packages:\n${entry("a".repeat(64))}`,
    },
  ],
};

test("config check --json lists its warnings, and identifies the connection without an id", async () => {
  using workspace = createWorkspace();
  write(workspace, { "q.yaml": "package_sources:\n  connections:\n  - id: one\n  - provider: gitea\n" });
  const { warnings } = await workspace.json("config check --config q.yaml");
  expect(warnings).toEqual([
    expect.stringContaining("connection one is disabled"),
    expect.stringContaining(
      "connection without an id is disabled: it is entry 2 of package_sources.connections;",
    ),
  ]);
});

test("config check names the setting, and no connection, if it is not a list of connections", async () => {
  using workspace = createWorkspace();
  write(workspace, { "q.yaml": "package_sources:\n  connections: x\n" });
  const { warnings } = await workspace.json("config check --config q.yaml");
  expect(warnings).toEqual([expect.stringMatching(/^package_sources\.connections must be a list/)]);
});

test("CLI-11 config check refuses a sealing key that cannot be decoded, like a start", async () => {
  using workspace = createWorkspace();
  writeFileSync(join(workspace.folder, "sealing-key"), "not a key", { mode: 0o600 });
  const flags = "--keys-sealing-key-file sealing-key";
  const checked = await outcomeOf(workspace, `config check ${flags}`);
  expect(checked).toEqual(await outcomeOf(workspace, `serve --server-listen 127.0.0.1:0 ${flags}`));
  expect(checked).toMatchObject({
    exitCode: 2,
    lines: [expect.stringContaining("is not 32 bytes in base64")],
  });
});

test.each(Object.entries(REFUSED))(
  "CLI-11 config check refuses %s, like a start",
  async (_, [flags, files]) => {
    using workspace = createWorkspace();
    write(workspace, files);
    const checked = await outcomeOf(workspace, `config check ${flags}`);
    expect(checked).toEqual(await outcomeOf(workspace, `serve --server-listen 127.0.0.1:0 ${flags}`));
    expect(checked.exitCode).toBeGreaterThan(1);
    expect(checked.lines.length).toBeGreaterThan(0);
  },
);

test("CLI-11 config check reports catalog and policy together, each problem with its own file and line", async () => {
  using workspace = createWorkspace();
  write(workspace, {
    "q.yaml": `${POLICY}  bogus: 3\n`,
    "catalog.yaml": 'package_catalog:\n  packages:\n  - { id: "a b" }\n',
  });
  const { stderr, exitCode } = await workspace.run(
    "config check --config q.yaml --catalog-file catalog.yaml --json",
  );
  const { reason, problems } = JSON.parse(stderr);
  expect([exitCode, reason]).toEqual([2, "start.refused"]);
  const places = problems.map(({ file, line, pointer }: Record<string, unknown>) => [file, line, pointer]);
  expect(places).toContainEqual([
    join(workspace.folder, "catalog.yaml"),
    3,
    "/package_catalog/packages/0/id",
  ]);
  expect(places).toContainEqual([join(workspace.folder, "q.yaml"), 4, "/governance/bogus"]);
});

test("config check accepts an archive that is stored, and leaves archives out if it cannot read the database", async () => {
  using workspace = await createInstallation();
  const check = "config check --catalog-file catalog.yaml";
  write(workspace, {
    "one.tar.gz": ARCHIVE,
    "catalog.yaml": `package_catalog:\n  packages:\n${entry(DIGEST)}`,
  });
  await workspace.json("catalog seed catalog.yaml");
  rmSync(join(workspace.folder, "one.tar.gz"));
  expect(await workspace.run(check)).toMatchObject({ exitCode: 0 });
  write(workspace, { "catalog.yaml": `package_catalog:\n  packages:\n${entry("a".repeat(64))}` });
  expect(await workspace.run(check)).toMatchObject({ exitCode: 2 });
  writeFileSync(join(workspace.data, "quartermaster.db"), "not a database");
  expect(await workspace.run(check)).toMatchObject({ exitCode: 0 });
});

/** Runs the commands in a folder with a file, a broken link, and a link to itself. */
async function outcomesBesideFile(commands: readonly string[], flags: string) {
  using workspace = createWorkspace();
  const { folder, clock, ids } = workspace;
  writeFileSync(join(folder, "file"), "");
  symlinkSync("nowhere", join(folder, "dangling"));
  symlinkSync("loop", join(folder, "loop"));
  const outcomes = [];
  for (const command of commands) {
    const { exitCode, stderr } = await runHere(`${command} ${flags}`.split(" "), { cwd: folder, clock, ids });
    outcomes.push({ exitCode, error: stderr.replace(/run: .*\n/, "") });
  }
  expect(readdirSync(folder).sort()).toEqual(["dangling", "file", "loop"]);
  return outcomes;
}

test.each([
  ["a data directory that is a file", "--data-dir file"],
  ["a data directory below a file", "--data-dir file/below/it"],
  ["a folder for backups that is a file", "--backup-directory file"],
  ["a folder for backups below a file", "--backup-directory file/below"],
  ["a data directory that is a broken link", "--data-dir dangling"],
  ["a data directory below a broken link", "--data-dir dangling/x"],
  ["a data directory that is a link to itself", "--data-dir loop"],
  ["a folder for backups below a link to itself", "--backup-directory loop/x"],
  ["a socket in the place of a broken link", "--server-listen unix:./dangling"],
  ["a socket below a link to itself", "--server-listen unix:./loop/x"],
  ["a socket in the place of a file", "--server-listen unix:./file"],
  ["a socket in the place of a folder", "--server-listen unix:./"],
  ["a socket in a file", "--server-listen unix:./file/socket"],
])("CLI-11 config check refuses %s, like a start, and creates nothing", async (_what, flags) => {
  const options = `--server-public-url https://q.example.org ${flags}`;
  const [checked, started] = await outcomesBesideFile(["config check", "serve"], options);
  expect(checked).toEqual(started);
  expect(checked).toMatchObject({ exitCode: 2, error: expect.stringMatching(/^error: .+\nhint: /) });
});

test("a socket in a missing folder passes, because a service manager creates the folder, and a start names it", async () => {
  using workspace = createWorkspace();
  const options = "--server-public-url https://q.example.org --server-listen unix:./missing/socket";
  expect(await outcomeOf(workspace, `config check ${options}`)).toEqual({ exitCode: 0, lines: [] });
  expect(await outcomeOf(workspace, `serve ${options}`)).toEqual({
    exitCode: 2,
    lines: [`error: the folder of the socket ${workspace.folder}/missing/socket is missing`],
  });
});

test.each(["--data-dir file/below", "--data-dir data --backup-directory file"])(
  "setup refuses %s",
  async (flags) => {
    for (const outcome of await outcomesBesideFile(["setup --dry-run", "setup"], flags))
      expect(outcome).toMatchObject({ exitCode: 2, error: expect.stringContaining("not a folder") });
  },
);
