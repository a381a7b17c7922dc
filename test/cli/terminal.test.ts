// How results, errors, questions, progress and interruptions reach the operator, tested with the verbs of cli-verbs.ts. Tests that
// need a terminal, a signal or an exit code start a child process.
import { describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SECRET_INPUT_BYTES_MAX } from "../../cli/input/secret-input.ts";
import { TEST_COMMAND as command, runCli, runOnTerminal, type TerminalOptions } from "../support/cli/cli.ts";
import { programWithTests } from "../support/cli/cli-verbs.ts";
import { SHORT_LIVED } from "../support/cli/executable.ts";
import { runHere } from "../support/in-process.ts";

const piped = (args: string[], stdin = "") =>
  runHere(["tests", ...args], { cwd: tmpdir(), stdin, programFor: programWithTests });
const pipedChild = (args: string[], stdin = "") => runCli(["tests", ...args], { command, stdin });
const typed = (args: string[], options: TerminalOptions = {}) =>
  runOnTerminal(["tests", ...args], { command, ...options });
const ASKED = "continue?";

describe("CLI-4 tables", () => {
  test("prints complete values in a pipe: missing values are -, times are ages, escape sequences are removed", async () => {
    expect((await piped(["list"])).stdout).toBe(
      [
        "ID                                    HOST         POLICY  SEEN",
        "4b1f8a52-6d0c-4a6e-8b5e-90c1d7e0aa11  lab-14\ufffd[31m  -       1h",
        "c07d21b9-5c3e-4f6a-9d2b-1f6e5b9d3344  建物-02      43      1h",
        "",
      ].join("\n"),
    );
  });

  test("a narrow terminal shortens the widest column in the middle, so that no row wraps", async () => {
    const { screen } = await typed(["list"], { columns: 50 });
    const lines = screen.trimEnd().split("\n");
    expect(lines[1]).toBe("4b1f8a52-6d…0c1d7e0aa11  lab-14\ufffd[31m  -       1h");
    for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(50);
  });

  test("--wide shows exact times, all columns and full values", async () => {
    const { screen } = await typed(["list", "--wide"], { columns: 50 });
    expect(screen).toContain("4b1f8a52-6d0c-4a6e-8b5e-90c1d7e0aa11");
    expect(screen).toMatch(/SEEN +LAST\n.* 1970-01-01T00:00:00.000Z {2}x\n/);
  });

  test("--json prints one document", async () => {
    const { items } = JSON.parse((await piped(["list", "--json"])).stdout);
    expect(items[0]).toEqual({
      id: "4b1f8a52-6d0c-4a6e-8b5e-90c1d7e0aa11",
      seen_at: "1970-01-01T00:00:00.000Z",
    });
  });

  test("CLI-2 CLI-6 an empty list prints nothing to stdout and succeeds", async () => {
    expect(await piped(["none"])).toEqual({ stdout: "", stderr: "no workstations\n", exitCode: 0 });
    expect(JSON.parse((await piped(["none", "--json"])).stdout)).toEqual({ items: [] });
  });
});

describe("streams", () => {
  test("prints every row of a long stream", async () => {
    const { stdout } = await pipedChild(["stream", "--json"]);
    const lines = stdout.trimEnd().split("\n");
    expect(lines).toHaveLength(20_000);
    expect(JSON.parse(lines.at(-1) ?? "")).toEqual({ index: 19_999 });
  });

  test("succeeds if the reader closes the pipe early", async () => {
    const shell = `${command.join(" ")} tests stream | head -n 1; echo "\${PIPESTATUS[0]}"`;
    const { stdout, stderr } = Bun.spawnSync(["bash", "-c", shell], { env: SHORT_LIVED });
    expect(`${stdout}${stderr}`).toBe("row 0\n0\n");
  });
});

describe("results", () => {
  test("larger than the pipe buffer arrive completely, even with a late reader", () => {
    const directory = mkdtempSync(join(tmpdir(), "quartermaster-test-"));
    try {
      const shell = `mkfifo said; ${command.join(" ")} tests large 2>said | { head -n 1 said; wc -c; }; echo "\${PIPESTATUS[0]}"`;
      const { stdout } = Bun.spawnSync(["bash", "-c", shell], { env: SHORT_LIVED, cwd: directory });
      expect(`${stdout}`).toBe("written\n1000001\n0\n");
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

test("failing to write results exits as a failure of the machine, even for a single write", () => {
  for (const args of ["tests large", "version"]) {
    const shell = `${command.join(" ")} ${args} > /dev/full`;
    const { stderr, exitCode } = Bun.spawnSync(["bash", "-c", shell], { env: SHORT_LIVED });
    expect(`${stderr}`).toContain("error: cannot write the results: ENOSPC");
    expect(`${stderr}`).not.toContain("program.ts");
    expect(exitCode).toBe(1);
  }
});

describe("CLI-17 errors", () => {
  test("prints every problem on its own line, with file and line if known", async () => {
    expect(await piped(["problems"])).toEqual({
      stdout: "",
      stderr:
        "error: the policy has 2 problems\npolicy.json:3: /revision: must be text\n/users/0: no such user\nhint:  correct them\nrun:   <run>\n",
      exitCode: 2,
    });
  });

  test("--json includes pointer, line and file of each problem", async () => {
    expect(JSON.parse((await piped(["problems", "--json"])).stderr)).toEqual({
      error: "the policy has 2 problems",
      reason: "policy.invalid",
      hint: "correct them",
      problems: [
        { pointer: "/revision", detail: "must be text", line: 3, file: "policy.json" },
        { pointer: "/users/0", detail: "no such user" },
      ],
      exit_code: 2,
      run_id: "<run>",
    });
  });

  test("reports an unexpected error as a bug, with code 1 and without a stack trace", async () => {
    expect(await pipedChild(["bug"])).toEqual({
      stdout: "",
      stderr:
        "error: unexpected failure: x is not a function\nhint:  this is a bug; report it with the run id and the output of --debug\nrun:   <run>\n",
      exitCode: 1,
    });
  });

  test("--debug adds the stack trace", async () => {
    expect((await piped(["bug", "--debug"])).stderr).toContain("cli-verbs.ts:");
    expect(JSON.parse((await piped(["bug", "--debug", "--json"])).stderr).stack).toContain("cli-verbs.ts:");
  });

  test("partial failure exits with code 8", async () => {
    expect(await piped(["partial"])).toEqual({
      stdout: "",
      stderr: "error: 2 of 90 keys failed\nrun:   <run>\n",
      exitCode: 8,
    });
  });

  test("--json prints warnings as JSON", async () => {
    expect((await piped(["warn"])).stderr).toBe("warning: careful\n");
    expect(JSON.parse((await piped(["warn", "--json"])).stderr)).toEqual({ warning: "careful" });
  });
});

describe("CLI-7 confirmation", () => {
  test("fails immediately without a terminal and --yes, even if stdin has a response", async () => {
    expect(await pipedChild(["remove"], "y\n")).toEqual({
      stdout: "",
      stderr:
        "error: confirmation is required and there is no terminal\nhint:  add --yes, or --dry-run to see the plan\nrun:   <run>\n",
      exitCode: 2,
    });
  });

  test("--yes skips the question", async () => {
    expect(await piped(["remove", "--yes"])).toEqual({ stdout: "removed\n", stderr: "", exitCode: 0 });
  });

  test("--dry-run prints the plan and changes nothing, even with --yes", async () => {
    const { stdout } = await piped(["remove", "--dry-run", "--yes"]);
    expect(stdout).toBe("Would remove 1 client:\n  lab-14 (ana@example.org)\nNo changes made.\n");
    expect(JSON.parse((await piped(["remove", "--dry-run", "--json"])).stdout)).toEqual({
      dry_run: true,
      action: "remove 1 client",
      details: ["lab-14 (ana@example.org)"],
    });
  });

  test("shows the plan on a terminal and continues after yes", async () => {
    const { screen, exitCode } = await typed(["remove"], { answers: [{ after: ASKED, answer: "y" }] });
    expect(screen).toStartWith("This will remove 1 client:\n  lab-14 (ana@example.org)\n");
    expect(screen).toEndWith("removed\n");
    expect(exitCode).toBe(0);
  });

  test("treats an empty response as no", async () => {
    const { screen, exitCode } = await typed(["remove"], { answers: [{ after: ASKED, answer: "\r" }] });
    expect(screen).toEndWith("No changes made.\n");
    expect(screen).not.toContain("removed");
    expect(exitCode).toBe(130);
  });

  test("Ctrl-C at the question exits 130 and changes nothing", async () => {
    const { screen, exitCode } = await typed(["remove"], { answers: [{ after: ASKED, answer: "\u0003" }] });
    expect(screen).toContain("interrupted");
    expect(screen).not.toContain("removed");
    expect(exitCode).toBe(130);
  });

  test("--no-color also applies to the question", async () => {
    const { screen } = await typed(["remove", "--no-color"], { answers: [{ after: ASKED, answer: "y" }] });
    expect(screen).toContain("Do you want to continue?");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: color sequences start with one
    expect(screen).not.toMatch(/\u001b\[3\dm/);
  });
});

describe("CLI-8 confirmation by name", () => {
  test("--confirm continues with the right name and fails with another", async () => {
    expect((await piped(["purge", "--confirm", "lab-14"])).stdout).toBe("purged\n");
    const { stdout, stderr, exitCode } = await piped(["purge", "--confirm", "lab-15"]);
    expect(stdout).toBe("");
    expect(stderr).toStartWith("error: --confirm has the wrong name\nhint:  to continue: --confirm lab-14\n");
    expect(exitCode).toBe(2);
  });

  test("--yes is not offered", async () => {
    expect((await piped(["purge", "--yes"])).exitCode).toBe(2);
  });

  test("asks for the name on a terminal", async () => {
    const answer = (text: string) => ({ answers: [{ after: "to continue:", answer: `${text}\r` }] });
    expect((await typed(["purge"], answer("lab-14"))).screen).toEndWith("purged\n");
    const declined = await typed(["purge"], answer("lab"));
    expect(declined.screen).toEndWith("No changes made.\n");
    expect(declined.exitCode).toBe(130);
  });

  test("fails without a terminal", async () => {
    expect((await piped(["purge"], "lab-14\n")).exitCode).toBe(2);
  });
});

describe("CLI-10 secrets", () => {
  test("does not echo secrets at the prompt", async () => {
    const responses = [{ after: "password:", answer: "hunter2\r" }];
    const { screen } = await typed(["password"], { answers: responses });
    expect(screen).toEndWith("[secret] of 7 characters\n");
    expect(screen).not.toMatch(/[▪•*]/);
    expect(screen).not.toContain("hunter2");
  });

  test("--password-stdin on a terminal asks without echo", async () => {
    const responses = [{ after: "password:", answer: "hunter2\r" }];
    const { screen } = await typed(["password", "--password-stdin"], { answers: responses });
    expect(screen).toEndWith("[secret] of 7 characters\n");
    expect(screen).not.toContain("hunter2");
  });

  test("removes a trailing line break from stdin, but keeps spaces", async () => {
    const { stdout } = await pipedChild(["password", "--password-stdin"], " hunter2 \r\n");
    expect(stdout).toBe("[secret] of 9 characters\n");
  });

  test("reads stdin up to the size limit", async () => {
    const read = (length: number) => piped(["password", "--password-stdin"], "x".repeat(length));
    expect((await read(SECRET_INPUT_BYTES_MAX - 1)).exitCode).toBe(0);
    expect((await read(SECRET_INPUT_BYTES_MAX)).exitCode).toBe(0);
    expect(await read(SECRET_INPUT_BYTES_MAX + 1)).toMatchObject({ stdout: "", exitCode: 2 });
  });

  test("rejects a file that other users can read", async () => {
    const directory = mkdtempSync(join(tmpdir(), "quartermaster-test-"));
    try {
      const file = join(directory, "password");
      writeFileSync(file, "hunter2\n", { mode: 0o600 });
      expect((await piped(["password", "--password-file", file])).stdout).toBe("[secret] of 7 characters\n");
      chmodSync(file, 0o644);
      const { stderr, exitCode } = await piped(["password", "--password-file", file]);
      expect(stderr).toContain(`hint:  run: chmod 600 ${file}\n`);
      expect(stderr).not.toContain("hunter2");
      expect(exitCode).toBe(2);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test("rejects an empty secret, two sources, and no source without a terminal", async () => {
    expect((await piped(["password", "--password-stdin"], "\n")).exitCode).toBe(2);
    expect((await piped(["password", "--password-stdin", "--password-file", "x"])).exitCode).toBe(2);
    const { stderr, exitCode } = await piped(["password"], "hunter2\n");
    expect(stderr).toStartWith("error: a secret is required and there is no terminal\n");
    expect(stderr).toContain("hint:  add --password-file PATH or --password-stdin\n");
    expect(exitCode).toBe(2);
  });

  test("prints only the new secret to stdout, and the warning to stderr", async () => {
    expect(await piped(["token"])).toEqual({
      stdout: "qm_abc\n",
      stderr: "warning: this token is shown once\n",
      exitCode: 0,
    });
    expect(JSON.parse((await piped(["token", "--json"])).stdout)).toEqual({ token: "qm_abc" });
  });
});

describe("CLI-13 progress", () => {
  test("prints a line to stderr every ten seconds in a pipe", async () => {
    expect(await piped(["work"])).toEqual({
      stdout: "",
      stderr:
        "[############............] 50% copying: 20.0 KiB of 40.0 KiB, 2.0 KiB/s\n[########################] 100% copying: 40.0 KiB of 40.0 KiB, 2.0 KiB/s\n",
      exitCode: 0,
    });
  });

  test("redraws one line on a terminal, which never wraps and is cleared at the end", async () => {
    const { screen } = await typed(["work"], { columns: 60 });
    const frames = screen.split("\r\u001b[K");
    expect(frames).toHaveLength(22);
    expect(frames.at(-1)).toBe("");
    expect(Math.max(...frames.map((frame) => frame.length))).toBeLessThan(60);
  });
});

describe("CLI-13 interruption", () => {
  const start = (verb: string) =>
    Bun.spawn([...command, "tests", verb], {
      env: SHORT_LIVED,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });

  const interrupted = async (verb: string, signals: readonly NodeJS.Signals[]) => {
    const child = start(verb);
    const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    let stdout = (await reader.read()).value ?? "";
    for (const signal of signals) child.kill(signal);
    for (let part = await reader.read(); !part.done; part = await reader.read()) stdout += part.value;
    const stderr = await new Response(child.stderr).text();
    return { stdout, stderr, exitCode: await child.exited };
  };

  test("SIGINT lets the command clean up and exits with 130", async () => {
    const { stdout, stderr, exitCode } = await interrupted("wait", ["SIGINT"]);
    expect(stdout).toBe("waiting\ncleaned up\n");
    expect(stderr).toStartWith("error: interrupted\nrun:   ");
    expect(exitCode).toBe(130);
  });

  test("SIGTERM exits with 143", async () => {
    const { stderr, exitCode } = await interrupted("wait", ["SIGTERM"]);
    expect(stderr).toStartWith("error: terminated\n");
    expect(exitCode).toBe(143);
  });

  test("a second SIGINT exits immediately", async () => {
    const child = start("hang");
    const reader = child.stdout.getReader();
    await reader.read();
    child.kill("SIGINT");
    // The kernel merges equal pending signals, so the signal is sent until the process has received two.
    while (child.exitCode === null) {
      child.kill("SIGINT");
      await Promise.race([child.exited, new Promise(setImmediate)]);
    }
    expect(await child.exited).toBe(130);
  });
});
