// Summaries of the request log: stored sums equal those of the rows, after any changes of the rows.
import type { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { openLogFile } from "../../../../src/domain/inference/log/log-file-store.ts";
import type { RequestRow } from "../../../../src/domain/inference/log/record.ts";
import { LogReader } from "../../../../src/domain/inference/log/search-store.ts";
import { GROUPS_MAX, POINTS_MAX } from "../../../../src/domain/inference/log/summary/model.ts";
import {
  readSummaryQuery,
  type SummaryQuery,
} from "../../../../src/domain/inference/log/summary/summary-query.ts";
import { rowsInText, textOfRows } from "../../../../src/domain/inference/log/writing/row-text.ts";
import { eraseSomeOfUser, RowWriter } from "../../../../src/domain/inference/log/writing/rows-store.ts";
import { DAY_MS, HOUR_MS } from "../../../../src/platform/clock.ts";
import { runSynchronously } from "../../../../src/platform/steps.ts";
import { rowOf, USER } from "../../../support/inference/request-rows.ts";
import { START_MS, temporaryDirectory } from "../../../support/world.ts";

const NOW_MS = START_MS + 3 * DAY_MS + 5 * HOUR_MS;
const OTHER = USER.replace(/1$/, "2");

let directory: string;
let connection: Database;
let writer: RowWriter;
let reader: LogReader;
beforeEach(() => {
  directory = temporaryDirectory();
  connection = openLogFile(join(directory, "request-logs.db"));
  writer = new RowWriter(connection);
  reader = new LogReader(connection);
});
afterEach(() => {
  reader.close();
  rmSync(directory, { recursive: true });
});

const write = (...rows: RequestRow[]) =>
  writer.write(rowsInText(textOfRows(rows.map((row) => ({ row, isOnlyNew: false })))), []);

const checked = (query: SummaryQuery, keptFromMs = START_MS) =>
  readSummaryQuery(query, { nowMs: NOW_MS, keptFromMs });

const summaryOf = (query: SummaryQuery, mayKeep = true) =>
  runSynchronously(reader.summarize(checked(query).search, mayKeep));

/** Rows of three days, some of each result, with latencies from 0 ms to some minutes. */
const ROWS = Array.from({ length: 3_000 }, (_, at) =>
  rowOf(at, {
    occurredAtMs: START_MS + Math.floor((at * 3.2 * DAY_MS) / 3_000),
    userId: at % 3 === 0 ? OTHER : USER,
    model: at % 7 === 0 ? null : `model-${at % 5}`,
    httpStatus: [200, 200, 302, 429, 503, null][at % 6] ?? null,
    upstreamLatencyMs: (at * 7919) % 200_000,
    outcome: at % 11 === 0 ? "refused" : at % 13 === 0 ? null : "complete",
  }),
);

const QUERIES: readonly SummaryQuery[] = [
  {},
  { bucket: "hour", by: ["model", "user"] },
  { bucket: "day", by: ["user"] },
  { zone: "Australia/Adelaide", by: ["model"] },
  { fromMs: START_MS + 90_000_000, beforeMs: START_MS + 190_000_000, bucket: "hour", by: ["model", "user"] },
];

describe("CON-79 a summary from kept sums equals one from the rows", () => {
  test.each(QUERIES.map((query) => [JSON.stringify(query), query] as const))("%s", (_, query) => {
    write(...ROWS);
    const fromRows = summaryOf(query, false);
    expect(fromRows.totals.requests).toBeGreaterThan(100);
    expect(summaryOf(query)).toEqual(fromRows);
    expect(summaryOf(query)).toEqual(fromRows);
  });

  test("equals the rows after rows were added, completed, erased and swept", () => {
    const query = { by: ["model", "user"] };
    const changes = [
      () => write(rowOf(9_000, { occurredAtMs: START_MS + HOUR_MS })),
      () => write({ ...(ROWS[13] ?? rowOf(13)), outcome: "timeout", httpStatus: 500 }),
      () => eraseSomeOfUser(connection, OTHER),
      () => writer.sweepSome(START_MS + DAY_MS),
    ];
    write(...ROWS);
    for (const change of changes) {
      const before = summaryOf(query);
      change();
      const after = summaryOf(query);
      expect(after).not.toEqual(before);
      expect(after).toEqual(summaryOf(query, false));
    }
  });

  test("keeps nothing of rows that changed while they were read", () => {
    write(...ROWS.map((row) => ({ ...row, occurredAtMs: START_MS }))); // one hour, in several steps
    const steps = reader.summarize(checked({}).search, true);
    steps.next();
    expect(connection.query("SELECT count(*) AS marked FROM kept_sums WHERE mark IS NOT NULL").get()).toEqual(
      {
        marked: 1,
      },
    );
    write(rowOf(9_000, { occurredAtMs: START_MS + 1 }));
    runSynchronously(steps);
    expect(summaryOf({})).toEqual(summaryOf({}, false));
  });
});

test("counts ended requests: results, refusals, and latency of requests that reached the upstream", () => {
  const of = (number: number, changes: Partial<RequestRow>) =>
    rowOf(number, { occurredAtMs: START_MS, upstreamLatencyMs: 100, ...changes });
  write(
    ...Array.from({ length: 94 }, (_, at) => of(at, {})),
    ...Array.from({ length: 6 }, (_, at) => of(100 + at, { upstreamLatencyMs: 9_000, httpStatus: 504 })),
    of(200, { outcome: "refused", httpStatus: 429, upstreamLatencyMs: 0 }),
    of(201, { outcome: null, httpStatus: null }),
  );
  const { totals } = summaryOf({});
  expect(totals).toMatchObject({ requests: 101, refused: 1 });
  expect(totals.results).toMatchObject({ success: 94, client_error: 1, server_error: 6, transport_error: 0 });
  expect(Math.abs((totals.p50Ms ?? 0) / 100 - 1)).toBeLessThan(0.05);
  expect(Math.abs((totals.p95Ms ?? 0) / 9_000 - 1)).toBeLessThan(0.05);
});

test("has no figures without rows, but all points", () => {
  const { totals, points } = summaryOf({ bucket: "day" });
  expect([totals.requests, totals.p95Ms, points.length]).toEqual([0, null, 4]);
});

test.each([-1, 0, 1])("names the %i more than GROUPS_MAX models with the most requests", (more) => {
  const models = GROUPS_MAX + more;
  write(
    ...Array.from({ length: 2 * models }, (_, at) =>
      rowOf(at, { occurredAtMs: START_MS, model: `model-${Math.min(at % models, models - 2)}` }),
    ),
  );
  const { model } = summaryOf({ by: ["model"] }).groups;
  expect(model[0]).toMatchObject({ name: `model-${models - 2}`, figures: { requests: 4 } });
  expect(model).toHaveLength(Math.min(models - 1, GROUPS_MAX));
});

describe("a query of a summary", () => {
  test.each([
    [{}, "day", 4],
    [{ fromMs: START_MS + 2 * DAY_MS }, "hour", 30],
    [{ fromMs: START_MS + 5 * HOUR_MS }, "hour", 73],
    [{ fromMs: START_MS + 5 * HOUR_MS - 1 }, "day", 4],
    [{ bucket: "hour" }, "hour", 78],
  ] as const)("%j has a point for each %s: %i", (query, bucket, points) => {
    const found = checked(query);
    expect([found.bucket, found.search.points.length]).toEqual([bucket, points]);
    expect(found.search.endMs).toBeGreaterThan(NOW_MS);
  });

  test.each([-1, 0, 1])("may have %i more points than POINTS_MAX only up to it", (more) => {
    const fromMs = NOW_MS - (POINTS_MAX + more - 1) * HOUR_MS;
    const read = () => checked({ fromMs, bucket: "hour" }, 0).search.points.length;
    if (more <= 0) expect(read()).toBe(POINTS_MAX + more);
    else expect(read).toThrow(expect.objectContaining({ reason: "request_log.invalid" }));
  });

  test("has days of its zone, also across clock changes", () => {
    const [fromMs, nowMs] = [Date.UTC(2026, 9, 24, 12), Date.UTC(2026, 9, 26, 12)];
    const { search } = readSummaryQuery(
      { fromMs, bucket: "day", zone: "Europe/Berlin" },
      { nowMs, keptFromMs: 0 },
    );
    expect([...search.points, search.endMs].map((ms) => new Date(ms).toISOString())).toEqual([
      "2026-10-23T22:00:00.000Z",
      "2026-10-24T22:00:00.000Z",
      "2026-10-25T23:00:00.000Z",
      "2026-10-26T23:00:00.000Z",
    ]);
  });

  test("is refused with all its problems", () => {
    const query = { bucket: "week", by: ["moon"], userId: "x", fromMs: 2, beforeMs: 1, result: "good" };
    const problems = ["/occurred_to", "/user_id", "/result", "/bucket", "/by"].map((pointer) =>
      expect.objectContaining({ pointer }),
    );
    expect(() => checked(query)).toThrow(expect.objectContaining({ problems }));
  });
});
