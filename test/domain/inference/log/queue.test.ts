// The queue of the request log when writing keeps failing: few warnings, and a batch that crashes its thread is dropped.
import { expect, test } from "bun:test";
import {
  type QueueOptions,
  RequestQueue,
  retryMs,
  THREAD_ENDS_MAX,
  WARN_EVERY_MS,
} from "../../../../src/domain/inference/log/writing/request-log-queue.ts";
import { keptLog, rowOf, until } from "../../../support/inference/request-rows.ts";
import { heldClock } from "../../../support/world.ts";

function queueWith(write: QueueOptions["write"], rowsMax = 2) {
  const clock = heldClock();
  const { log, events } = keptLog();
  return { queue: new RequestQueue({ rowsMax, clock, log, write }), clock, events };
}

const full: QueueOptions["write"] = async () => ({ isWritten: false, cause: "disk_full", error: "full" });

test("INF-44 a warning counts dropped rows, once a minute at most", async () => {
  const { queue, clock, events } = queueWith(full);
  for (let number = 0; number < 5; number++) queue.add(rowOf(number));
  clock.advance(WARN_EVERY_MS - 1);
  queue.add(rowOf(5));
  expect(events.map(({ fields }) => fields)).toMatchObject([{ rows: 1 }]);
  clock.advance(1);
  queue.add(rowOf(6));
  expect(events.map(({ fields }) => fields)).toMatchObject([{ rows: 1 }, { rows: 4 }]);
  await queue.close();
  expect(queue.figures()).toEqual({ rows: 0, dropped: { queue_full: 5, disk_full: 2, broken: 0 } });
});

test("INF-44 a failure is logged once until a write succeeds", async () => {
  const { queue, events } = queueWith(full);
  queue.add(rowOf(1));
  await queue.close();
  const failures = events.filter(({ event }) => event === "request_log.not_written");
  expect(failures).toMatchObject([{ level: "error", fields: { reason: "full" } }]);
});

test("INF-43 a batch during which the thread dies too often is dropped, and the next one is written", async () => {
  const written: string[] = [];
  let deaths = 0;
  const { queue } = queueWith(async ({ rows }) => {
    if (rows.includes(rowOf(1).id) && ++deaths <= THREAD_ENDS_MAX) throw new Error("the thread ended");
    written.push(rows);
    return { isWritten: true, unfit: 0 };
  });
  queue.add(rowOf(1));
  await until(() => queue.figures().dropped.broken === 1);
  queue.add(rowOf(2));
  await queue.close();
  expect([deaths, written.length, written[0]?.includes(rowOf(2).id)]).toEqual([THREAD_ENDS_MAX, 1, true]);
});

test("rows that are handed over after the end are counted, not kept", async () => {
  const { queue } = queueWith(full);
  await queue.close();
  queue.add(rowOf(1));
  expect([queue.offer([rowOf(2)]), queue.figures().dropped.queue_full]).toEqual([false, 1]);
});

test("the pause after a failure doubles up to five seconds", () => {
  expect([1, 2, 3, 5, 6, 100].map(retryMs)).toEqual([250, 500, 1_000, 4_000, 5_000, 5_000]);
});
