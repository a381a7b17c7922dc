// INF-43, INF-44 and INF-56: effects of people and scripts that change the files of the request log while its thread has them open.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { renameSync, rmSync, truncateSync } from "node:fs";
import { NO_SUMS } from "../../../../src/domain/inference/usage/model.ts";
import { rowOf, startTestLog, type TestLog, until } from "../../../support/inference/request-rows.ts";
import { temporaryDirectory } from "../../../support/world.ts";

let directory: string;
let log: TestLog;
beforeEach(() => {
  directory = temporaryDirectory();
  log = startTestLog(directory);
});
afterEach(async () => {
  await log[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

const ends = ["", "-wal", "-shm"];
/** An outside change, the resulting log line of the service, and whether earlier rows must still be there. */
const CHANGES: readonly [string, () => void, { what: string; isKept: boolean }][] = [
  [
    "deletes the file",
    () => {
      for (const end of ends) rmSync(log.file + end, { force: true });
    },
    { what: "moved, deleted or emptied", isKept: false },
  ],
  [
    "moves the file away",
    () => renameSync(log.file, `${log.file}.old`),
    { what: "moved, deleted or emptied", isKept: false },
  ],
  ["truncates -wal", () => truncateSync(`${log.file}-wal`), { what: "-wal was deleted", isKept: false }],
  [
    "cuts -wal",
    () => truncateSync(`${log.file}-wal`, 40_000),
    { what: "the latest rows may be lost", isKept: false },
  ],
  [
    "truncates -shm",
    () => truncateSync(`${log.file}-shm`),
    { what: "-shm was truncated; no rows are lost", isKept: true },
  ],
  [
    "deletes -shm",
    () => rmSync(`${log.file}-shm`),
    { what: "-shm was deleted; no rows are lost", isKept: true },
  ],
];

/** Asks the thread: another reader would find the damaged files before the thread does. */
async function isThere(number: number): Promise<boolean> {
  const all = { filter: {}, sort: "occurred_desc", offset: 0, limit: 1_000 } as const;
  const { items } = await log.running.search(all);
  return items.some(({ id }) => id === rowOf(number).id);
}

async function write(number: number): Promise<void> {
  log.running.add(rowOf(number));
  await until(() => isThere(number));
}

describe.each(CHANGES)("somebody who %s", (_, change, { what, isKept }) => {
  test("INF-43 loses no later row, and INF-44 the log of the service reports the cause once", async () => {
    await write(1);
    change();
    await write(2);
    await write(3);
    expect(await isThere(1)).toBe(isKept);
    const next = "quartermaster doctor";
    expect(log.events).toEqual([
      {
        level: "warning",
        event: "request_log.changed_outside",
        fields: { what: expect.stringContaining(what), next },
      },
    ]);
  });

  test("INF-56 changes no sum that this process has not counted yet", async () => {
    const { running } = log;
    const key = { organizationId: "o", userId: "u", model: "m", harness: "h" };
    const use = (requests: number, day = 1) =>
      running.handOverUsage([{ ...NO_SUMS, ...key, day, requests, inputTokens: 10 * requests }]);
    const taken = async () => {
      const batch = await running.takeUsage(crypto.randomUUID());
      if (batch) await running.removeUsage(batch.batch);
      return (batch?.deltas ?? []).map(({ day, requests, inputTokens }) => [day, requests, inputTokens]);
    };
    await use(1);
    expect([await taken(), await taken()]).toEqual([[[1, 1, 10]], []]);
    await use(2);
    await use(3, 2);
    change();
    await use(4);
    expect([await taken(), await taken()]).toEqual([
      [
        [1, 6, 60],
        [2, 3, 30],
      ],
      [],
    ]);
  });
});

test("INF-56 sums that were taken before the file is deleted are not counted again", async () => {
  const { running } = log;
  const delta = { ...NO_SUMS, organizationId: "o", userId: "u", model: "m", harness: "h", day: 1 };
  await running.takeUsage("first");
  await running.handOverUsage([{ ...delta, requests: 2 }]);
  await running.takeUsage("second");
  await running.handOverUsage([{ ...delta, requests: 1 }]);
  for (const end of ends) rmSync(log.file + end, { force: true });
  expect((await running.takeUsage("third"))?.deltas).toMatchObject([{ requests: 1 }]);
});
