// A thread parses and validates large documents, with the same results as the main thread, and within limits.
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { runDocumentTask } from "../../../src/app/documents/document-tasks.ts";
import {
  createDocumentThreads,
  INLINE_CHARACTERS_MAX,
  TASKS_WAITING_MAX,
} from "../../../src/app/documents/document-threads.ts";
import { runCatalogAtOnce } from "../../../src/domain/catalog/tasks.ts";
import { runAtOnce } from "../../../src/domain/governance/service.ts";
import { refusalOf } from "../../domain/governance/governance-world.ts";
import { largePackages } from "../../support/content/large-content.ts";

const base = JSON.stringify({
  revision: "a",
  contract_version: 1,
  required: false,
  allowed_harnesses: [],
  harnesses: {},
  packages: [],
});
const frame = { gateway: false, serverVersion: "1.0.0", revision: "b", extension: {} };

/** A policy as YAML with many words. @param characters of the whole task */
function policyOf(characters: number) {
  const head = "revision: x\nallowed_harnesses: []\n";
  const rest = characters - base.length - frame.serverVersion.length - frame.revision.length - head.length;
  return { text: head + "# a b\n".repeat(rest / 6).padEnd(rest, "\n"), base, frame };
}

/** One thread for all tests that compare with inline processing, because a new thread loads the whole product. */
const run = createDocumentThreads();

const large = policyOf(2 * INLINE_CHARACTERS_MAX);
const faulty = { ...large, text: `${large.text}packages: []\n` };

test("a thread gives the same result as inline processing, including problems and their lines", async () => {
  expect(await run("policy", large)).toEqual(await runAtOnce("policy", large));
  const refused = await run("policy", faulty);
  expect(refused.problems).toMatchObject([
    { pointer: "/packages", line: faulty.text.split("\n").length - 1 },
  ]);
  expect(refused).toEqual(await runAtOnce("policy", faulty));
});

test("bytes are passed on unchanged", async () => {
  const revision = {
    id: "a",
    createdAtMs: 0,
    document: base,
    audiences: "{}",
    conflicts: JSON.stringify(["x".repeat(9_000)]),
    presignUrl: undefined,
  };
  const bytes = await run("adminConfig", revision);
  expect(JSON.parse(new TextDecoder().decode(bytes)).deployment_conflicts).toEqual(
    JSON.parse(revision.conflicts),
  );
});

test("a thread reads catalogs like inline processing and reports the lines of problems", async () => {
  const packages = largePackages("small", 4 * INLINE_CHARACTERS_MAX);
  const good = { bytes: Buffer.from(JSON.stringify(packages, null, 1)), fileName: "c.json" };
  const parts = await run("readCatalog", good);
  expect(parts).toEqual(await runCatalogAtOnce("readCatalog", good));
  expect(parts.parts.flatMap((part) => JSON.parse(part))).toMatchObject(packages);
  expect(await run("catalogLines", { ...good, pointers: ["/1"] })).toEqual([16]);
  const bad = { ...good, bytes: Buffer.from(JSON.stringify([...packages, {}], null, 1)) };
  const refusal = await refusalOf(() => run("readCatalog", bad));
  expect(refusal).toEqual(await refusalOf(() => runCatalogAtOnce("readCatalog", bad)));
  expect(refusal).toMatchObject({
    reason: "catalog.invalid",
    problems: [{ line: expect.any(Number) }, {}, {}, {}],
  });
});

test("a thread reads configuration files like inline processing and finds their lines", async () => {
  const head = "log: {level: debug}\ngovernance:\n  key: env://KEY\n";
  const bytes = Buffer.from(head + "# a b\n".repeat(INLINE_CHARACTERS_MAX));
  const request = { bytes, variables: ["KEY", "OTHER"] };
  const reading = await run("readConfiguration", request);
  expect(reading).toEqual(runDocumentTask("readConfiguration", request));
  expect(reading.content?.settings.get("log.level")).toEqual({ value: "debug", line: 1 });
  expect(reading.content?.references).toEqual(new Set(["KEY"]));
  expect(await run("configurationLines", { bytes, pointers: ["/governance/key"] })).toEqual([3]);
});

test("a small configuration file is read inline and a large one in a thread", async () => {
  const run = createDocumentThreads({ readingMsMax: 0 });
  const read = (length: number) => {
    const bytes = Buffer.from("# a b\n".repeat(length / 6).padEnd(length, "\n"));
    return run("readConfiguration", { bytes, variables: [] });
  };
  expect((await read(INLINE_CHARACTERS_MAX - 1)).problems).toEqual([]);
  expect((await read(INLINE_CHARACTERS_MAX)).problems).toEqual([]);
  expect(await refusalOf(() => read(INLINE_CHARACTERS_MAX + 1))).toMatchObject({
    reason: "document.too_slow",
  });
});

test("a thread uses the harness facts of its task", async () => {
  const rest = 'allowed_harnesses: [codex]\nharnesses: {codex: {version_requirement: ">=0.155.0"}}\n';
  const task = { ...large, text: large.text.replace("allowed_harnesses: []\n", rest) };
  expect((await run("policy", task)).problems).toMatchObject([
    { pointer: "/harnesses/codex/version_requirement" },
  ]);
  const extension = { codex: { verified_before: "0.160.0-0", generations: [] } };
  expect((await run("policy", { ...task, frame: { ...frame, extension } })).problems).toEqual([]);
});

/** Identifies threads by their names in /proc. */
const isRunning = (thread: string): boolean => {
  try {
    return readFileSync(`/proc/self/task/${thread}/comm`, "utf8").trim() === "Worker";
  } catch {
    return false; // the thread has ended in the meantime
  }
};

test("one thread runs all tasks, even after a refusal, and ends after some idle time", async () => {
  const before = new Set(readdirSync("/proc/self/task").filter(isRunning));
  const own = () =>
    readdirSync("/proc/self/task").filter((thread) => isRunning(thread) && !before.has(thread));
  const run = createDocumentThreads({ idleMs: 100 });
  await run("policy", large);
  const threads = own();
  expect(threads).toHaveLength(1);
  const unread = { bytes: Buffer.from(`[${" ".repeat(INLINE_CHARACTERS_MAX)}`), fileName: "c.json" };
  expect(await refusalOf(() => run("readCatalog", unread))).toMatchObject({ reason: "catalog.invalid" });
  await run("policy", faulty);
  expect(own()).toEqual(threads);
  while (own().length > 0) await Bun.sleep(10);
  expect(await run("policy", large)).toEqual(await runAtOnce("policy", large));
});

describe("limits", () => {
  test("texts up to the maximum size are read inline, larger ones in a thread with a time limit", async () => {
    const run = createDocumentThreads({ readingMsMax: 0 });
    expect((await run("policy", policyOf(INLINE_CHARACTERS_MAX - 1))).problems).toEqual([]);
    expect((await run("policy", policyOf(INLINE_CHARACTERS_MAX))).problems).toEqual([]);
    expect(await refusalOf(() => run("policy", policyOf(INLINE_CHARACTERS_MAX + 1)))).toMatchObject({
      kind: "invalid",
      reason: "document.too_slow",
    });
  });

  test("a thread that does not finish is terminated, and another one runs the next task", async () => {
    const run = createDocumentThreads({ taskMsMax: 1 });
    expect(await refusalOf(() => run("policy", large))).toMatchObject({
      kind: "unavailable",
      reason: "document.too_slow",
    });
  });

  test("waiting tasks are limited in number", async () => {
    const run = createDocumentThreads({ taskMsMax: 1 });
    const outcomes = Array.from({ length: TASKS_WAITING_MAX + 2 }, () =>
      refusalOf(() => run("policy", large)),
    );
    const reasons = (await Promise.all(outcomes)).map((refusal) => refusal.reason);
    expect(reasons).toEqual([...Array(TASKS_WAITING_MAX + 1).fill("document.too_slow"), "document.busy"]);
  });
});
