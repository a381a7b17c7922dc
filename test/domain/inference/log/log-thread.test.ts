// The timing of the request log's thread: a write never waits for a search, a search has a time limit, and the number of searches
// is limited. The thread's work runs in this process here.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { RowSearch } from "../../../../src/domain/inference/log/model.ts";
import { LogThread, SEARCHES_MAX } from "../../../../src/domain/inference/log/writing/log-thread.ts";
import { textOfRows } from "../../../../src/domain/inference/log/writing/row-text.ts";
import type { FromThread, ToThread } from "../../../../src/domain/inference/log/writing/thread-messages.ts";
import { rowOf, until } from "../../../support/inference/request-rows.ts";
import { temporaryDirectory } from "../../../support/world.ts";

/** more than one step of a search */
const ROWS = 5_000;

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => rmSync(directory, { recursive: true }));

function threadWith(limits: { searchMsMax?: number; turnMs?: number } = {}) {
  const answers: FromThread[] = [];
  const thread = new LogThread({
    file: join(directory, "request-logs.db"),
    send: (answer) => void answers.push(answer),
    ...limits,
  });
  thread.receive(writing(0, ROWS));
  return {
    thread,
    answers,
    [Symbol.dispose]: () => thread.receive({ number: -1, name: "close", request: null }),
  };
}

function writing(number: number, count: number): ToThread {
  const rows = Array.from({ length: count }, (_, at) => ({
    row: rowOf(number * ROWS + at),
    isOnlyNew: false,
  }));
  return { number, name: "write", request: { rows: textOfRows(rows), gaps: [] } };
}

const search: RowSearch = { filter: { q: "nowhere" }, sort: "occurred_desc", offset: 0, limit: 25 };
const searching = (number: number): ToThread => ({ number, name: "search", request: search });

test("INF-43 a write is done while a search runs", async () => {
  using site = threadWith({ turnMs: 0 });
  site.thread.receive(searching(1));
  await new Promise(setImmediate);
  site.thread.receive(writing(2, 1));
  await until(() => site.answers.length === 3);
  expect(site.answers.map(({ number }) => number)).toEqual([0, 2, 1]);
});

test("INF-45 a search that exceeds its time limit is refused, and the message explains how to narrow it", async () => {
  using site = threadWith({ searchMsMax: 0 });
  site.thread.receive(searching(1));
  await until(() => site.answers.length === 2);
  expect(site.answers[1]).toMatchObject({
    refused: {
      kind: "unavailable",
      reason: "request_log.too_slow",
      message: expect.stringContaining("narrow the period"),
    },
  });
});

test("INF-45 a search beyond the limit is refused immediately, and the others complete", async () => {
  using site = threadWith();
  for (let number = 1; number <= SEARCHES_MAX + 1; number++) site.thread.receive(searching(number));
  await until(() => site.answers.length === SEARCHES_MAX + 2);
  const refused = site.answers.filter((answer) => "refused" in answer);
  expect(refused).toMatchObject([{ number: SEARCHES_MAX + 1, refused: { reason: "request_log.busy" } }]);
});
