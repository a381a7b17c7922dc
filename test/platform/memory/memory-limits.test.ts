// The memory limits that a process names when it runs out of memory.
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { failureOf } from "../../../cli/exit.ts";
import { memoryLimits } from "../../../src/platform/memory/memory-limits.ts";
import { resultOf } from "../../../src/platform/task-thread.ts";
import { temporaryDirectory } from "../../support/world.ts";

const root = temporaryDirectory();
afterAll(() => rmSync(root, { recursive: true }));

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};

test("names the nearest control group with a limit, and the limits of the process", () => {
  expect(memoryLimits(root)).toEqual([]);
  write("proc/self/cgroup", "0::/system.slice/quartermaster.service\n");
  write("sys/fs/cgroup/system.slice/quartermaster.service/memory.max", "max\n");
  write("sys/fs/cgroup/system.slice/memory.max", `${512 * 1024 * 1024}\n`);
  write("proc/self/limits", "Max data size             unlimited            unlimited            bytes\n");
  expect(memoryLimits(root)).toEqual(["memory.max of the control group: 512.0 MiB"]);
  write("proc/self/limits", "Max address space         2147483648           unlimited            bytes\n");
  expect(memoryLimits(root)).toEqual(["memory.max of the control group: 512.0 MiB", "ulimit -v: 2.0 GiB"]);
});

test("a command that ran out of memory is not reported as a bug", () => {
  for (const error of [
    new RangeError("Out of memory"),
    new TypeError("Failed to spawn worker thread"),
    Object.assign(new Error("spawn"), { code: "ENOMEM" }),
    Object.assign(new Error("out of memory"), { code: "SQLITE_NOMEM" }),
  ])
    expect(failureOf(error, "run")).toMatchObject({ reason: "memory.exhausted", exit_code: 1 });
  expect(failureOf(new RangeError("Invalid array length"), "run").reason).toBe("unexpected");
});

test("a thread that ran out of memory, such as the backup's, is not reported as a bug", async () => {
  const worker = new Worker(new URL("./exhausting-worker.ts", import.meta.url));
  const error = await resultOf(worker).catch((thrown: unknown) => thrown);
  expect(failureOf(error, "run")).toMatchObject({
    error: "out of memory",
    reason: "memory.exhausted",
    hint: expect.stringMatching(/^the memory limit is .+; raise it, or work with smaller files$/),
  });
});
