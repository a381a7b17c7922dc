// The printed systemd unit, and its verification by systemd.
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { SETTING_NAMES, settingOf } from "../../../../src/platform/config/table.ts";
import { DRAIN_MS } from "../../../../src/server/listener/listen.ts";
import { expectGolden, type Step } from "../../../support/cli/golden.ts";
import { runHere } from "../../../support/in-process.ts";
import { temporaryDirectory } from "../../../support/world.ts";

const directory = temporaryDirectory();
afterAll(() => rmSync(directory, { recursive: true }));

const run = (line: string) => runHere(line.split(" "), { cwd: "/home/ana" });

async function unit(executable = "/usr/local/bin/quartermaster"): Promise<string> {
  return (await runHere(["unit", "--executable", executable], { cwd: "/" })).stdout;
}

/** Part of systemd, which some machines lack. */
const systemdAnalyze = Bun.which("systemd-analyze") ?? "true";

function analyze(args: readonly string[]): { said: string; exitCode: number } {
  const { stdout, stderr, exitCode } = Bun.spawnSync([systemdAnalyze, ...args]);
  return { said: `${stdout}${stderr}`, exitCode };
}

test("SVC-1: unit", async () => {
  const steps: Step[] = [];
  for (const line of [
    "unit",
    "unit --executable /opt/qm/quartermaster --json",
    "unit --only proxy",
    "unit --sysusers",
    "unit --sysusers --json",
  ])
    steps.push({ line, ...(await run(line)) });
  expectGolden("unit", steps, new Map());
});

describe("STB-8: the unit of Litestream", () => {
  const settings = join(directory, "standby.yaml");
  const data = join(directory, "data");
  mkdirSync(data);
  writeFileSync(join(data, "standby.json"), '{"term": "t00000003-aaaaaa", "holder": "x"}');
  for (const name of ["id", "secret"]) writeFileSync(join(directory, name), "key", { mode: 0o600 });
  const keys = "access_key_id_file: id, secret_access_key_file: secret";
  const write = (place: string, more = "") =>
    writeFileSync(
      settings,
      `data_dir: ${data}\ndatabase: {replicated: yes}\nblobs: {s3: {endpoint: 'https://s3.example.org', ca_file: /etc/ca.pem, ${keys}}}
standby: {replica: '${place}'${more}}\n`,
    );
  const inPlaces = new Map([[directory, "<folder>"]]);

  test("follows the settings, like its configuration", async () => {
    const steps: Step[] = [];
    const step = async (line: string) =>
      void steps.push({ line, ...(await run(`${line} --config ${settings}`)) });
    write("s3://standby/quartermaster");
    await step("unit --litestream");
    await step("unit --litestream-config");
    await step("unit --litestream-config --json");
    write(
      "sftp://qm@nas.example.org/replica",
      ", sftp_key_file: /etc/key, sftp_host_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f'",
    );
    await step("unit --litestream-config");
    write("file:///mnt/replica");
    await step("unit --litestream --json");
    await step("unit --litestream-config");
    expectGolden("unit-litestream", steps, inPlaces);
  });

  test("need a replica, and a term for the configuration", async () => {
    expect((await run("unit --litestream")).stderr).toStartWith("error: standby.replica is not set");
    expect((await run("unit --litestream-config")).exitCode).toBe(2);
    const { stderr, exitCode } = await run(
      `unit --litestream-config --config ${settings} --data-dir ${directory}`,
    );
    expect(stderr).toContain("has no term of the replica yet");
    expect(exitCode).toBe(3);
  });

  test("is accepted by systemd, and rated 1.5 or less", async () => {
    write("s3://standby/quartermaster");
    const path = join(directory, "quartermaster-litestream.service");
    const line = `unit --litestream --standby-litestream /bin/true --executable /bin/true --config ${settings}`;
    writeFileSync(path, (await run(line)).stdout);
    const verified = analyze(["verify", "--man=no", path]);
    const rated = analyze(["security", "--offline=true", "--threshold=15", path]);
    expect([verified.said, verified.exitCode, rated.exitCode]).toEqual(["", 0, 0]);
  });
});

test("SVC-1: warns about an executable in a folder that the unit hides", async () => {
  const { stderr, stdout } = await run("unit --executable quartermaster");
  expect(stderr).toStartWith("warning: the unit hides /home/ana/quartermaster from the service");
  expect(stdout).toContain("\nExecStart=/home/ana/quartermaster serve\n");
});

test("rejects a path that systemd does not support", async () => {
  const { stderr, exitCode } = await runHere(["unit", "--executable", '/opt/"mine"/quartermaster'], {
    cwd: "/",
  });
  expect(stderr).toStartWith("error: systemd cannot start an executable whose path contains quotes");
  expect(exitCode).toBe(2);
});

describe("systemd", () => {
  test("SVC-7: rates the exposure at 1.5 or less", async () => {
    const path = join(directory, "quartermaster.service");
    writeFileSync(path, await unit());
    const { said, exitCode } = analyze(["security", "--offline=true", "--threshold=15", path]);
    expect([exitCode, exitCode === 0 ? "" : said]).toEqual([0, ""]);
  });

  test.each(["/bin/sh", join(directory, "a place", "100%n $HOME")])(
    "finds no fault in the unit, and the executable %s",
    async (executable) => {
      if (executable.startsWith(directory)) {
        mkdirSync(dirname(executable));
        writeFileSync(executable, "#!/bin/sh\n", { mode: 0o755 });
      }
      const path = join(directory, "verified.service");
      writeFileSync(path, await unit(executable));
      expect(analyze(["verify", "--man=no", path])).toEqual({ said: "", exitCode: 0 });
    },
  );
});

test("SVC-5: passes every secret as an optional credential", async () => {
  const secrets = SETTING_NAMES.flatMap((name) => settingOf(name).credential ?? []);
  const lines = (await unit()).split("\n").filter((line) => line.startsWith("LoadCredential="));
  expect(lines).toEqual(secrets.map((name) => `LoadCredential=${name}:quartermaster.${name}`));
});

test("SVC-4: systemd waits longer than the service takes to stop", async () => {
  const seconds = /^TimeoutStopSec=(\d+)$/m.exec(await unit())?.[1];
  expect(Number(seconds) * 1_000).toBeGreaterThan(DRAIN_MS + 30_000);
});

test("`help service` shows the commands that install the unit", async () => {
  const { stdout } = await run("help service");
  expect(stdout).toContain("quartermaster unit > /etc/systemd/system/quartermaster.service");
});
