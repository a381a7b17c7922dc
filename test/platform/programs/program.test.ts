// Misbehaving programs: each is a shell script in a folder of the test that is really run.
import { fullGC } from "bun:jsc";
import { afterAll, describe, expect, test } from "bun:test";
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DomainError } from "../../../src/platform/errors.ts";
import { type Invocation, runProgram } from "../../../src/platform/programs/program.ts";
import { temporaryDirectory } from "../../support/world.ts";

const directory = temporaryDirectory();
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const PATH = "/usr/local/bin:/usr/bin:/bin";
const never = new AbortController().signal;
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

let scripts = 0;

/** @returns the path of an executable shell script */
function script(body: string): string {
  scripts += 1;
  const path = join(directory, `script-${scripts}.sh`);
  writeFileSync(path, `#!/bin/sh\n${body}\n`, { mode: 0o700 });
  return path;
}

const run = (
  body: string,
  { signal = never, ...invocation }: Partial<Invocation> & { signal?: AbortSignal } = {},
) => {
  const defaults = { environment: { PATH }, input: "", outputBytesMax: 1_000 };
  return runProgram({ ...defaults, ...invocation, path: script(body), directory }, signal);
};

async function reasonOf(call: Promise<unknown>): Promise<string> {
  const outcome = await call.then(
    () => "it succeeded",
    (error: unknown) => error,
  );
  return outcome instanceof DomainError ? outcome.reason : String(outcome);
}

/** A script that writes `pids` when it runs, and a deadline that passes as soon as it does. */
async function killedWhenUp(body: string): Promise<{ reason: string; pids: number[] }> {
  const file = join(directory, `pids-${scripts}`);
  const deadline = new AbortController();
  const call = reasonOf(
    run(`${body}\necho $$ $! > ${file}.new; mv ${file}.new ${file}; wait; sleep 600`, deadline),
  );
  await until(() => existsSync(file));
  deadline.abort();
  const reason = await call;
  return { reason, pids: readFileSync(file, "utf8").trim().split(" ").map(Number) };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await Bun.sleep(1);
}

/** A zombie process counts as gone, because it no longer does anything. */
function isAlive(pid: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !/\) [ZX] /.test(status);
  } catch {
    return false;
  }
}

describe("a program", () => {
  test("receives its input, and its output and exit code are returned", async () => {
    const ran = await run("cat; exit 3", { input: "öffne dich" });
    expect(ran).toMatchObject({ exitCode: 3, errorBytes: 0 });
    expect(text(ran.output)).toBe("öffne dich");
  });

  test("may open its standard input again by name", async () => {
    const input = "x".repeat(300_000);
    const { output } = await run("wc -c < /dev/stdin", { input });
    expect(text(output).trim()).toBe("300000");
  });

  test("need not read its input", async () => {
    const { exitCode, output } = await run("exec 0<&-; echo fine", { input: "x".repeat(1_000_000) });
    expect([exitCode, text(output)]).toEqual([0, "fine\n"]);
  });

  test("has only the given environment", async () => {
    const { output } = await run("env | sort", { environment: { PATH, GIVEN: "yes" } });
    const names = text(output)
      .trim()
      .split("\n")
      .map((line) => line.split("=")[0]);
    expect(names).toEqual(["GIVEN", "PATH", "PWD"]); // PWD is set by the shell
  });

  test("starts in the root of the file system, with three open files", async () => {
    const { output } = await run("pwd; ls /proc/self/fd | tr '\\n' ' '");
    expect(text(output)).toBe("/\n0 1 2 3 "); // 3 is the descriptor that ls reads
  });

  test("gets no arguments", async () => {
    expect(text((await run("echo $#")).output)).toBe("0\n");
  });

  test("receives arguments, a folder, a text without a file, and an output file if they are given", async () => {
    const path = script('cat /dev/fd/3; sh -c "cat /dev/fd/3"; echo "$*"; pwd; echo wrong >&2');
    const file = join(directory, "output");
    const outputFile = openSync(file, "w");
    const given = { args: ["a", "b c"], workingDirectory: directory, sharedText: "shared\n", outputFile };
    const rest = { environment: { PATH }, input: "", outputBytesMax: 0, errorBytesMax: 100 };
    const { output, errors } = await runProgram({ path, directory, ...given, ...rest }, never);
    closeSync(outputFile);
    const printed = readFileSync(file, "utf8").replace(realpathSync(directory), "FOLDER");
    expect([text(output), printed, text(errors)]).toEqual(["", "shared\nshared\na b c\nFOLDER\n", "wrong\n"]);
  });

  test("leaves no file with its input behind", async () => {
    await run("cat", { input: "private" });
    expect(readdirSync(directory).filter((name) => name.startsWith("input"))).toEqual([]);
  });

  test("reports no exit code for a program that a signal ended", async () => {
    expect((await run("kill -TERM $$")).exitCode).toBeNull();
  });

  test("reports why a program cannot be started", async () => {
    const path = join(directory, "interpreted");
    writeFileSync(path, "#!/no/such/interpreter\n", { mode: 0o700 });
    const program = { path, directory, environment: {}, input: "", outputBytesMax: 1 };
    expect(await reasonOf(runProgram(program, never))).toBe("program.not_started");
  });
});

describe("output", () => {
  const print = (bytes: number) => `head -c ${bytes} /dev/zero`;

  test.each([999, 1_000])("accepts output of %i bytes within a limit of 1000", async (bytes) => {
    expect((await run(print(bytes))).output.length).toBe(bytes);
  });

  test("ends a program whose output exceeds the limit by one byte", async () => {
    expect(await reasonOf(run(print(1_001)))).toBe("program.output_too_large");
  });

  test("stops a program with endless output", async () => {
    expect(await reasonOf(run("yes"))).toBe("program.output_too_large");
  });

  test("counts and drops output of any size on standard error", async () => {
    const { errorBytes, output } = await run(`${print(1_000_000)} >&2; echo fine`);
    expect([errorBytes, text(output)]).toEqual([1_000_000, "fine\n"]);
  });
});

describe("the deadline", () => {
  test("starts nothing if the deadline has already passed", async () => {
    const path = join(directory, "started");
    expect(await reasonOf(run(`touch ${path}`, { signal: AbortSignal.abort() }))).toBe("program.too_slow");
    expect(existsSync(path)).toBe(false);
  });

  test("kills the program and what it started", async () => {
    const { reason, pids } = await killedWhenUp("sleep 600 &");
    expect(reason).toBe("program.too_slow");
    await until(() => !pids.some(isAlive)); // otherwise it would keep sleeping
  });

  test("kills a program that ignores every signal", async () => {
    const { reason, pids } = await killedWhenUp("trap '' TERM INT HUP QUIT ALRM; sleep 600 &");
    expect(reason).toBe("program.too_slow");
    await until(() => !pids.some(isAlive)); // otherwise it would keep sleeping
  });

  test("applies the deadline even if a descendant has left the group and keeps the output open", async () => {
    const { reason, pids } = await killedWhenUp("setsid sleep 600 &");
    expect(reason).toBe("program.too_slow");
    for (const pid of pids.filter(isAlive)) process.kill(pid, "SIGKILL"); // the one that has left the group
  });
});

describe("a descendant that outlives the program and keeps its output open", () => {
  test("is killed immediately if it is in the group", async () => {
    const { exitCode, output } = await run("sleep 600 & echo $!");
    const pid = Number(text(output));
    expect(exitCode).toBe(0);
    await until(() => !isAlive(pid));
  });

  test("is not waited for if it has left the group", async () => {
    const ready = join(directory, "daemon");
    const { exitCode, output } = await run(
      `setsid sh -c 'echo $$ > ${ready}.new; mv ${ready}.new ${ready}; exec sleep 600' &
      while [ ! -e ${ready} ]; do sleep 0.01; done; echo fine`,
    );
    expect([exitCode, text(output)]).toEqual([0, "fine\n"]);
    process.kill(Number(readFileSync(ready, "utf8")), "SIGKILL");
  });
});

test("many runs leave no open file", async () => {
  const openFiles = () => readdirSync("/proc/self/fd").length;
  await run("true");
  const before = openFiles();
  await Promise.all(Array.from({ length: 40 }, () => run("cat", { input: "x" })));
  await reasonOf(run("yes"));
  fullGC();
  expect(openFiles()).toBeLessThanOrEqual(before);
});
