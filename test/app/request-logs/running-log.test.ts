// The request log of a running service with its real thread and file: rows are written, lost rows are counted and shown as a gap,
// and no failure of the file reaches the caller.
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { startLogThread } from "../../../src/app/request-logs/start-log-thread.ts";
import { FileSource } from "../../../src/domain/inference/log/file-source.ts";
import type { RowFilter, RowSearch } from "../../../src/domain/inference/log/model.ts";
import { BATCH_ROWS_MAX } from "../../../src/domain/inference/log/model.ts";
import type { RunningThread } from "../../../src/domain/inference/log/writing/log-client.ts";
import type { RunningLog } from "../../../src/domain/inference/log/writing/running-log.ts";
import { rowOf, startTestLog, until } from "../../support/inference/request-rows.ts";
import { temporaryDirectory } from "../../support/world.ts";

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => rmSync(directory, { recursive: true }));

const searchOf = (filter: RowFilter): RowSearch => ({ filter, sort: "occurred_asc", offset: 0, limit: 100 });
const search = (running: RunningLog, filter: RowFilter = {}) => running.search(searchOf(filter));
const total = async (running: RunningLog) => (await search(running)).total;
const numbers = (from: number, count: number) => Array.from({ length: count }, (_, at) => from + at);

describe("a running request log", () => {
  test("INF-43 writes every row before it is closed, to a file that only its owner can read", async () => {
    const log = startTestLog(directory);
    for (const number of numbers(0, 2 * BATCH_ROWS_MAX + 7)) log.running.add(rowOf(number));
    await log.running.close();
    using file = new Database(log.file);
    expect(file.query("SELECT count(*) AS total FROM requests").get()).toEqual({
      total: 2 * BATCH_ROWS_MAX + 7,
    });
    expect(file.query("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    expect(statSync(log.file).mode & 0o777).toBe(0o600);
  });

  test("INF-37 returns every member of a row", async () => {
    await using log = startTestLog(directory);
    const refused = rowOf(2, {
      outcome: "refused",
      refusal: "inference.budget",
      httpStatus: 429,
      dirty: null,
      stream: null,
    });
    log.running.add(rowOf(1));
    log.running.add(refused);
    await until(async () => (await total(log.running)) === 2);
    expect((await search(log.running)).items).toEqual([rowOf(1), refused]);
  });

  test("INF-42 completes an early row under the same id, but never replaces a complete row with an early one", async () => {
    await using log = startTestLog(directory);
    const early = rowOf(1, { outcome: null, durationMs: null, outputTokens: null });
    log.running.add(early);
    await until(async () => (await total(log.running)) === 1);
    expect((await search(log.running)).items).toEqual([early]);
    log.running.add(rowOf(1));
    log.running.add(early);
    log.running.add(rowOf(2));
    await until(async () => (await total(log.running)) === 2);
    expect((await search(log.running)).items[0]).toEqual(rowOf(1));
  });

  test("keeps an existing row when only new ones may be added", async () => {
    await using log = startTestLog(directory);
    log.running.add(rowOf(1));
    expect(log.running.offer([rowOf(1, { path: "/other" }), rowOf(2)])).toBe(true);
    await until(async () => (await total(log.running)) === 2);
    expect((await search(log.running)).items.map(({ path }) => path)).toEqual([
      "/chat/completions",
      "/chat/completions",
    ]);
  });

  test("INF-43 queues all rows or none if not all of them fit", async () => {
    await using log = startTestLog(directory, { queueRowsMax: 2 });
    expect(log.running.offer(numbers(0, 3).map((number) => rowOf(number)))).toBe(false);
    expect(log.running.offer(numbers(0, 2).map((number) => rowOf(number)))).toBe(true);
    expect(log.running.queueFigures().dropped).toEqual({ queue_full: 0, disk_full: 0, broken: 0 });
  });

  test("INF-44 counts rows that do not fit, warns once, and shows the gap", async () => {
    await using log = startTestLog(directory, { queueRowsMax: 10 });
    for (const number of numbers(0, 25)) log.running.add(rowOf(number));
    expect(log.running.queueFigures()).toEqual({
      rows: 10,
      dropped: { queue_full: 15, disk_full: 0, broken: 0 },
    });
    expect(log.events).toMatchObject([{ level: "warning", event: "request_log.dropped" }]);
    await until(() => log.running.queueFigures().rows === 0);
    expect(await search(log.running)).toMatchObject({
      total: 10,
      gaps: [
        { fromMs: rowOf(10).occurredAtMs, toMs: rowOf(24).occurredAtMs, count: 15, cause: "queue_full" },
      ],
    });
  });

  test("INF-44 shows a gap only in its period", async () => {
    await using log = startTestLog(directory, { queueRowsMax: 1 });
    for (const number of numbers(0, 3)) log.running.add(rowOf(number));
    await until(async () => (await total(log.running)) === 1);
    const before = { beforeMs: rowOf(1).occurredAtMs };
    expect((await search(log.running, before)).gaps).toEqual([]);
    expect((await search(log.running, { fromMs: rowOf(2).occurredAtMs })).gaps).toHaveLength(1);
  });
});

describe("INF-43 a row is not lost while the queue is not full, when", () => {
  test("the thread dies", async () => {
    const threads: RunningThread[] = [];
    await using log = startTestLog(directory, {
      startThread: (file, events) => {
        const thread = startLogThread(file, events);
        threads.push(thread);
        return thread;
      },
    });
    log.running.add(rowOf(1));
    await until(async () => (await total(log.running)) === 1);
    await threads[0]?.terminate();
    log.running.add(rowOf(2));
    await until(() => log.running.queueFigures().rows === 0);
    expect(await total(log.running)).toBe(2);
    expect(threads).toHaveLength(2);
  });

  test("another process holds the file", async () => {
    await using log = startTestLog(directory);
    log.running.add(rowOf(1));
    await until(async () => (await total(log.running)) === 1);
    {
      using other = new Database(log.file);
      other.run("BEGIN EXCLUSIVE");
      log.running.add(rowOf(2));
      await until(() => log.events.some(({ event }) => event === "request_log.not_written"));
      expect(log.running.queueFigures().rows).toBe(1);
      other.run("ROLLBACK");
    }
    await until(() => log.running.queueFigures().rows === 0);
    expect(await total(log.running)).toBe(2);
  });

  test("another object is in the place of the file, until it is removed", async () => {
    await using log = startTestLog(directory, { queueRowsMax: 2 });
    mkdirSync(log.file);
    for (const number of numbers(0, 2)) log.running.add(rowOf(number));
    await until(() => log.events.some(({ event }) => event === "request_log.not_written"));
    log.running.add(rowOf(3));
    expect(log.running.queueFigures().dropped).toEqual({ queue_full: 0, disk_full: 0, broken: 1 });
    rmSync(log.file, { recursive: true });
    await until(() => log.running.queueFigures().rows === 0);
    expect(await search(log.running)).toMatchObject({ total: 2, gaps: [{ count: 1, cause: "broken" }] });
  });

  test("the file is not a database, until it is moved away", async () => {
    await using log = startTestLog(directory);
    writeFileSync(log.file, "not a database".repeat(100));
    log.running.add(rowOf(1));
    await until(() => log.events.some(({ event }) => event === "request_log.not_written"));
    expect(search(log.running)).rejects.toMatchObject({ kind: "unavailable", reason: "storage.damaged" });
    renameSync(log.file, `${log.file}.damaged`);
    await until(() => log.running.queueFigures().rows === 0);
    expect(await total(log.running)).toBe(1);
  });

  test("the file is moved away while the thread runs", async () => {
    await using log = startTestLog(directory);
    log.running.add(rowOf(1));
    await until(async () => (await total(log.running)) === 1);
    for (const end of ["", "-wal", "-shm"]) rmSync(log.file + end);
    log.running.add(rowOf(2));
    await until(() => existsSync(log.file) && log.running.queueFigures().rows === 0);
    expect(await total(log.running)).toBe(1);
  });

  test.each([
    ["the file is emptied", (file: string) => truncateSync(file)],
    ["the write-ahead log is deleted", (file: string) => rmSync(`${file}-wal`)],
  ])("%s while the thread runs", async (_, harm) => {
    await using log = startTestLog(directory);
    log.running.add(rowOf(1));
    await until(async () => (await total(log.running)) === 1);
    harm(log.file);
    log.running.add(rowOf(2));
    await until(() => log.running.queueFigures().rows === 0);
    const read = await new FileSource(log.file).search(searchOf({}));
    expect(read.items).toEqual([rowOf(1), rowOf(2)]);
    expect(log.events.map(({ event }) => event)).toEqual(["request_log.changed_outside"]);
  });
});

test("INF-45 a search does not find rows of a file that was moved away", async () => {
  await using log = startTestLog(directory);
  log.running.add(rowOf(1));
  await until(async () => (await total(log.running)) === 1);
  for (const end of ["", "-wal", "-shm"]) rmSync(log.file + end);
  expect(await total(log.running)).toBe(0);
});

test("INF-43 a symbolic link in the place of the file is never followed", async () => {
  await using log = startTestLog(directory);
  symlinkSync(`${directory}/elsewhere.db`, log.file);
  log.running.add(rowOf(1));
  await until(() => log.events.length > 0);
  expect(log.events[0]).toMatchObject({ fields: { reason: "the database file is a symbolic link" } });
  expect(existsSync(`${directory}/elsewhere.db`)).toBe(false);
  rmSync(log.file);
});

test("INF-44 a row that the file cannot hold is dropped alone", async () => {
  await using log = startTestLog(directory);
  log.running.add(rowOf(1));
  log.running.add(rowOf(2, { upstreamLatencyMs: 0.5 }));
  log.running.add(rowOf(3));
  await until(() => log.running.queueFigures().rows === 0);
  expect(await total(log.running)).toBe(2);
  expect(log.running.queueFigures().dropped.broken).toBe(1);
});

test("INF-47 a sweep removes older rows only, in slices", async () => {
  await using log = startTestLog(directory);
  for (const number of numbers(0, 1_205)) log.running.add(rowOf(number));
  await until(() => log.running.queueFigures().rows === 0);
  expect(await log.running.sweep(rowOf(1_200).occurredAtMs)).toBe(1_200);
  expect((await search(log.running)).items.map(({ id }) => id)).toEqual(
    numbers(1_200, 5).map((at) => rowOf(at).id),
  );
});
