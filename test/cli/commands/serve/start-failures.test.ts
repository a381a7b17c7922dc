// Start failures that a restart cannot repair: `serve` exits with a code that the printed unit lists, names the cause, and never
// suggests replacing a lost key (requirement SVC-10).
import { expect, test } from "bun:test";
import { chmodSync, chownSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openConnection } from "../../../../src/platform/database/connection.ts";
import { isRoot } from "../../../support/cli/child.ts";
import { runCli } from "../../../support/cli/cli.ts";
import { giveAway } from "../../../support/give-away.ts";
import { createInstallation, runHere, type Workspace } from "../../../support/in-process.ts";

const keyOf = ({ data }: Workspace): string => join(data, "keys/0001.sealing-key");
const databaseOf = ({ data }: Workspace): string => join(data, "quartermaster.db");

function writing(workspace: Workspace, sql: string): void {
  const connection = openConnection(databaseOf(workspace), {});
  connection.run(sql);
  connection.close();
}

const listed = async (): Promise<number[]> => {
  const { stdout } = await runHere(["unit", "--executable", "/opt/quartermaster"], { cwd: "/" });
  const [, codes = ""] = /^RestartPreventExitStatus=(.+)$/m.exec(stdout) ?? [];
  return codes.split(" ").map(Number);
};

const FAULTS: Readonly<Record<string, [break_: (workspace: Workspace) => void, code: number, said: RegExp]>> =
  {
    "a missing sealing key": [
      (workspace) => rmSync(join(workspace.data, "keys"), { recursive: true }),
      4,
      /the sealing key [0-9a-f]{12} is missing\nhint: {2}put the same key back: from the \.qmk file/,
    ],
    "a damaged sealing key": [
      (workspace) => writeFileSync(keyOf(workspace), readFileSync(keyOf(workspace)).subarray(0, 20)),
      2,
      /0001\.sealing-key is not 32 bytes in base64\nhint: {2}put the same key back: from the \.qmk file/,
    ],
    "a sealing key that others can read": [
      (workspace) => chmodSync(keyOf(workspace), 0o644),
      2,
      /can be read by other users\nhint: {2}chmod 600/,
    ],
    "another sealing key": [
      (workspace) => writeFileSync(keyOf(workspace), `${Buffer.alloc(32, 7).toString("base64")}\n`),
      4,
      /the sealing key [0-9a-f]{12} is missing/,
    ],
    "a newer schema": [
      (workspace) =>
        writing(workspace, "INSERT INTO schema_migrations VALUES (999, 'later', 'x', 0, '9.0.0')"),
      4,
      /start version 9\.0\.0/,
    ],
    "a lost database": [(workspace) => rmSync(databaseOf(workspace)), 4, /is missing or empty/],
    "a destroyed header": [
      (workspace) =>
        writeFileSync(databaseOf(workspace), readFileSync(databaseOf(workspace)).fill(0, 0, 100)),
      7,
      /not a database\nhint: {2}.*backup restore/,
    ],
    "an invalid configuration": [
      ({ data }) => writeFileSync(join(data, "../quartermaster.yaml"), "nonsense: true\n"),
      2,
      /nonsense/,
    ],
  };

test.each(Object.entries(FAULTS))(
  "%s ends serve with an exit code that prevents restarts",
  async (_, [damage, code, said]) => {
    using workspace = await createInstallation();
    writeFileSync(join(workspace.folder, "quartermaster.yaml"), "log: {level: error}\n", { mode: 0o600 });
    damage(workspace);
    const { exitCode, stderr } = await workspace.run(
      "serve --config quartermaster.yaml --server-listen 127.0.0.1:0",
    );
    expect(stderr).toMatch(said);
    expect(stderr).not.toContain("openssl rand");
    expect(exitCode).toBe(code);
    expect(await listed()).toContain(exitCode);
  },
);

test("a failed start does not replace a missing sealing key", async () => {
  using workspace = await createInstallation();
  rmSync(join(workspace.data, "keys"), { recursive: true });
  await workspace.run("serve --server-listen 127.0.0.1:0");
  expect(readdirSync(workspace.data)).not.toContain("keys");
});

test.each([
  ["the database", databaseOf],
  ["the sealing key", keyOf],
  ["the folder of artifacts", ({ data }: Workspace) => join(data, "artifacts")],
  ["the folder of captured sessions", ({ data }: Workspace) => join(data, "sessions")],
])(
  "%s that the owner may not use ends serve with an exit code that prevents restarts, and is named",
  async (_, placeOf) => {
    using workspace = await createInstallation();
    const place = placeOf(workspace);
    if (isRoot) giveAway(workspace);
    if (isRoot) chownSync(place, 0, 0);
    else chmodSync(place, 0);
    const { exitCode, stderr } = await runCli([
      "serve",
      "--server-listen",
      "127.0.0.1:0",
      "--data-dir",
      workspace.data,
    ]);
    if (!isRoot) chmodSync(place, 0o700);
    expect(stderr).toContain(place);
    expect(stderr).toMatch(/cannot be (?:used|read) by.*\nhint: {2}.*chown/);
    expect(exitCode).toBe(5);
    expect(await listed()).toContain(exitCode);
  },
);
