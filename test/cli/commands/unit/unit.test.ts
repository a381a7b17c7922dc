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
    "finds no fault in it, and the executable %s",
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
