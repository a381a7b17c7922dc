// The check of the request log: gaps of the last days, and a file that cannot be read. The check changes nothing.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { checkOf } from "../../../src/app/doctor/finding.ts";
import { checkRequestLog } from "../../../src/app/doctor/request-log.ts";
import { DAY_MS } from "../../../src/platform/clock.ts";
import { placesIn } from "../../../src/platform/data-directory/data-directory.ts";
import { bytesText } from "../../../src/platform/files/disk.ts";
import { rowOf, startTestLog, until } from "../../support/inference/request-rows.ts";
import { logOn } from "../../support/installed/installed-requests.ts";
import { START_MS, temporaryDirectory } from "../../support/world.ts";

let data: string;
beforeEach(() => {
  data = temporaryDirectory();
});
afterEach(() => rmSync(data, { recursive: true }));

const look = (nowMs = START_MS + 100) =>
  checkRequestLog(checkOf("request_log"), placesIn(data), { nowMs: () => nowMs });

test("nothing is recorded without a file", async () => {
  expect(await look()).toMatchObject({ result: "ok", detail: "no requests are recorded" });
});

test("a log without gaps is ok, and the check leaves no file", async () => {
  logOn({ data }, [rowOf(1)]);
  const before = readdirSync(data);
  expect(await look()).toMatchObject({
    result: "ok",
    detail: expect.stringContaining("rows since 2026-01-01T00:00:00.001Z, no gaps"),
  });
  expect(readdirSync(data)).toEqual(before);
});

test("the size includes rows that are still in the write-ahead log", async () => {
  await using log = startTestLog(data);
  for (let number = 0; number < 500; number += 1) log.running.add(rowOf(number));
  await until(() => log.running.queueFigures().rows === 0);
  const [main, wal] = ["", "-wal"].map((end) => statSync(log.file + end).size);
  expect(wal).toBeGreaterThan(100_000);
  expect(await look()).toMatchObject({
    result: "ok",
    detail: expect.stringContaining(`${bytesText((main ?? 0) + (wal ?? 0))}, rows since`),
  });
});

test("INF-44 gaps of the last days are a warning with the cause of the last one", async () => {
  const gap = { fromMs: START_MS, toMs: START_MS + 10, count: 3 };
  logOn(
    { data },
    [rowOf(1)],
    [
      { ...gap, cause: "queue_full" },
      { ...gap, cause: "disk_full" },
    ],
  );
  expect(await look()).toMatchObject({
    result: "warning",
    detail: "6 rows were dropped in the last 7 days, the last at 2026-01-01T00:00:00.010Z: disk_full",
    remedy: expect.stringContaining("df -h"),
  });
  expect(await look(START_MS + 8 * DAY_MS)).toMatchObject({ result: "ok" });
});

test("a named pipe or a folder instead of the file is named, and nothing waits for it", async () => {
  const file = placesIn(data).requestLogs;
  const make = [() => Bun.spawnSync(["mkfifo", file]), () => mkdirSync(file)];
  for (const each of make) {
    each();
    expect(await look()).toMatchObject({
      result: "failed",
      detail: expect.stringContaining("is not a regular file"),
      remedy: expect.stringContaining("move request-logs.db"),
    });
    rmSync(file, { recursive: true });
  }
});

test("a file that is not a database, or a link, is named with the remedy", async () => {
  const file = placesIn(data).requestLogs;
  writeFileSync(file, "not a database".repeat(100));
  expect(await look()).toMatchObject({
    result: "failed",
    remedy: expect.stringContaining("move request-logs.db"),
  });
  rmSync(file);
  writeFileSync(`${file}.other`, "x");
  symlinkSync(`${file}.other`, file);
  expect(await look()).toMatchObject({ result: "failed", detail: expect.stringContaining("symbolic link") });
});
