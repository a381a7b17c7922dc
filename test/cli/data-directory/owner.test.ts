// CLI-20: commands started as root switch to the owner of the data directory; other users get an error that names the owner. Uses
// real processes of other users; the parts are tested in test/platform/data-directory/data-directory.test.ts.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { isRoot, NOBODY } from "../../support/cli/child.ts";
import { runCli } from "../../support/cli/cli.ts";
import { temporaryDirectory } from "../../support/world.ts";

const ROOT = join(import.meta.dir, "../../..");
const STRANGER = NOBODY - 1;

const folder = temporaryDirectory();
const data = join(folder, "data");
const run = (line: string) => runCli([...line.split(" "), "--data-dir", data]);

/** Loads the modules first, because the other user may have no access to runtime and checkout, then switches and runs. */
const STRANGE_COMMAND = `
  const { run } = await import("${ROOT}/cli/program.ts");
  const { processContext } = await import("${ROOT}/cli/context.ts");
  for (const file of ["src/platform/config/config.ts", "src/app/installation/installation.ts", "src/app/installation/origin.ts", "cli/data-directory/with-domain.ts", "cli/commands/users/read.ts"])
    await import("${ROOT}/" + file);
  process.setgroups([]); process.setgid(${STRANGER}); process.setuid(${STRANGER});
  process.exit(await run(process.argv.slice(1), processContext()));`;

const runAsStranger = (line: string) =>
  runCli([...line.split(" "), "--data-dir", data], {
    command: [process.execPath, "-e", STRANGE_COMMAND, "--"],
  });

beforeAll(() => {
  chmodSync(folder, 0o755);
  mkdirSync(data, { mode: 0o700 });
  if (isRoot) chownSync(data, NOBODY, NOBODY);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.if(isRoot)("CLI-20 started as root", () => {
  test("files created in the data directory belong to its owner", async () => {
    cpSync(join(ROOT, "src/domain/catalog/example"), join(folder, "example"), { recursive: true });
    const lines = [
      "setup",
      "users create ana@example.org --role member",
      `catalog seed ${join(folder, "example/catalog.yaml")}`,
      "backup create",
      `audit export --out ${join(data, "audit.jsonl")}`,
    ];
    for (const line of lines) expect({ line, ...(await run(line)) }).toMatchObject({ line, exitCode: 0 });
    const files = readdirSync(data, { recursive: true, encoding: "utf8" });
    expect(files.length).toBeGreaterThan(8);
    const owners = files.map((file) => statSync(join(data, file))).map(({ uid, gid }) => `${uid}:${gid}`);
    expect([...new Set(owners)]).toEqual([`${NOBODY}:${NOBODY}`]);
  });

  test("the audit log names the user who started the command", () => {
    const entries = readFileSync(join(data, "audit.jsonl"), "utf8").trimEnd().split("\n");
    const actors = entries.map((entry) => JSON.parse(entry).actor).filter(({ kind }) => kind === "operator");
    expect(actors.length).toBeGreaterThan(2);
    expect(new Set(actors.map(({ label }) => label))).toEqual(new Set(["root"]));
  });

  test("rejects an output file that only root can write, with the reason", async () => {
    const { stderr, exitCode } = await run(`audit export --out ${join(folder, "closed.jsonl")}`);
    expect(stderr).toContain("may not be used by this user");
    expect(stderr).toContain("acts as the owner of the data directory");
    expect(exitCode).toBe(5);
  });

  test("names a parent folder that the owner cannot enter", async () => {
    chmodSync(folder, 0o700);
    const { stderr, exitCode } = await run("users list");
    chmodSync(folder, 0o755);
    expect(stderr).toContain(`is in ${folder}, which belongs to root (user id 0)`);
    expect(exitCode).toBe(5);
  });

  test("a directory whose owner changed without its content: names the first closed folder and the command to fix it", async () => {
    mkdirSync(join(data, "run"), { mode: 0o700 });
    chownSync(data, STRANGER, STRANGER);
    const [users, doctor] = [await run("users list"), await run("doctor --offline-ok")];
    chownSync(data, NOBODY, NOBODY);
    chownSync(join(data, "run"), NOBODY, NOBODY);
    const remedy = `as root: chown -R ${STRANGER} '${data}' && chmod -R u+rwX,go= '${data}'`;
    expect(users.stderr).toContain(`hint:  ${remedy}\n`);
    expect(users.exitCode).toBe(5);
    expect(doctor.stdout).toMatch(/^FAILED +files +wrong owner or permissions: .*\n +-> as root: chown -R/m);
    expect(doctor.stdout).not.toContain("quartermaster doctor shows what is wrong");
    expect(doctor.exitCode).toBe(7);
  });

  test("another user gets the name of the owner, and nothing is created", async () => {
    const { stderr, exitCode } = await runAsStranger("users list");
    expect(stderr).toContain(
      `${data} belongs to nobody (user id ${NOBODY}), and this runs as user id ${STRANGER}\n`,
    );
    expect(stderr).toContain(`hint:  run as that user, for example: sudo -u nobody quartermaster …\n`);
    expect(exitCode).toBe(5);
  });

  test("a user who cannot enter the parent folder gets a different error than for a missing directory", async () => {
    chmodSync(folder, 0o700);
    const { stderr, exitCode } = await runAsStranger("users list");
    chmodSync(folder, 0o755);
    expect(stderr).toContain(`which user id ${STRANGER} may not enter`);
    expect(exitCode).toBe(5);
  });
});
