// The changes that the replica lacks, from Litestream's files on both sides, and the finding of `doctor`.
import { describe, expect, test } from "bun:test";
import { checkOf } from "../../../../src/app/doctor/finding.ts";
import {
  RESTORE_CHECK_AGE_MS,
  replicaLagFinding,
  restoreCheckFinding,
} from "../../../../src/app/standby/check.ts";
import {
  compare,
  type LocalState,
  RECHECK_DELAY_MS,
  STALLED_AFTER_MS,
} from "../../../../src/app/standby/replica/replica-state.ts";
import { RESTORE_CHECK_JOB } from "../../../../src/app/standby/watch.ts";
import type { JobView } from "../../../../src/domain/system/jobs.ts";
import { MINUTE_MS, SECOND_MS } from "../../../../src/platform/clock.ts";
import { loadConfig } from "../../../../src/platform/config/config.ts";
import { START_MS } from "../../../support/world.ts";

const config = loadConfig({ flags: { dataDir: "/srv/data" }, env: {}, cwd: "/" });
const taken = [1, 2, 3].map((transaction) => ({ transaction, atMs: START_MS + transaction * SECOND_MS }));
const local = (more: Partial<LocalState> = {}): LocalState => ({
  taken,
  lastProgressMs: START_MS + 3 * SECOND_MS,
  lastWriteMs: START_MS + 3 * SECOND_MS,
  isCopied: undefined,
  ...more,
});
const at = (transaction: number | undefined) => ({ transaction, atMs: START_MS + 4 * SECOND_MS });

describe("STB-2 the replica", () => {
  test("lacks nothing if it has the last transaction", () => {
    const state = compare(at(3), local(), START_MS + MINUTE_MS);
    expect(state).toEqual({ position: at(3), missingSinceMs: undefined, missingTransactions: 0 });
  });

  test("lacks the transactions that Litestream has taken but not sent", () => {
    const state = compare(at(1), local(), START_MS + MINUTE_MS);
    expect(state).toMatchObject({ missingSinceMs: START_MS + 2 * SECOND_MS, missingTransactions: 2 });
  });

  test("lacks a write that Litestream has not noticed for some time", () => {
    const lastWriteMs = START_MS + 4 * SECOND_MS;
    const look = (nowMs: number) => compare(at(3), local({ lastWriteMs }), nowMs).missingSinceMs;
    expect(look(lastWriteMs + STALLED_AFTER_MS)).toBeUndefined();
    expect(look(lastWriteMs + STALLED_AFTER_MS + 1)).toBe(START_MS + 3 * SECOND_MS);
  });

  test("lacks a commit that Litestream leaves in the log, and nothing if it has taken all of them", () => {
    const { lastProgressMs = 0 } = local();
    const look = (isCopied: boolean, nowMs: number) =>
      compare(at(3), local({ isCopied, lastWriteMs: nowMs }), nowMs).missingSinceMs;
    expect(look(false, lastProgressMs + RECHECK_DELAY_MS)).toBeUndefined(); // in transit
    expect(look(false, lastProgressMs + RECHECK_DELAY_MS + 1)).toBe(lastProgressMs);
    expect(look(true, lastProgressMs + MINUTE_MS)).toBeUndefined();
  });

  test("lacks writes after its newest point if there are no files of Litestream here", () => {
    const nothing = local({ taken: [], lastProgressMs: undefined, lastWriteMs: START_MS + MINUTE_MS });
    expect(compare(at(3), nothing, START_MS + 2 * MINUTE_MS).missingSinceMs).toBe(at(3).atMs);
  });

  test("lacks everything if the store has nothing", () => {
    expect(compare(undefined, local(), START_MS)).toMatchObject({
      missingSinceMs: START_MS + SECOND_MS,
      missingTransactions: 3,
    });
  });

  test("compares the replica of an older Litestream by time, with room for the clock of the store", () => {
    const older = (progressMs: number) =>
      compare(
        at(undefined),
        local({ taken: [], lastProgressMs: at(1).atMs + progressMs, lastWriteMs: undefined }),
        0,
      );
    expect(older(MINUTE_MS)).toMatchObject({ missingSinceMs: undefined, missingTransactions: undefined });
    expect(older(MINUTE_MS + 1)).toMatchObject({ missingSinceMs: at(1).atMs });
  });
});

test("STB-2 doctor reports the writes that would be lost now", () => {
  const comparedTo = (position: Parameters<typeof compare>[0], nowMs = START_MS + MINUTE_MS) =>
    replicaLagFinding(checkOf("replica"), compare(position, local(), nowMs), { config, nowMs });
  expect(comparedTo(at(3))).toMatchObject({
    result: "ok",
    detail: "the replica is complete up to 2026-01-01T00:00:04.000Z; nothing would be lost now",
  });
  expect(comparedTo(at(1))).toMatchObject({
    result: "failed",
    detail:
      "the replica is complete up to 2026-01-01T00:00:04.000Z; 2 transactions of the last 58 seconds would be lost now",
  });
  expect(comparedTo(undefined)).toMatchObject({
    result: "failed",
    detail: "the store has no files of this database",
  });
});

describe("STB-2 the last test restore", () => {
  const job: JobView = {
    name: RESTORE_CHECK_JOB,
    state: "waiting",
    paused: false,
    nextRunAtMs: 0,
    startedAtMs: 0,
    finishedAtMs: START_MS,
    outcome: "succeeded",
    error: null,
  };
  const resultFor = (
    jobs: readonly JobView[],
    { nowMs = START_MS, doubtfulSince }: { nowMs?: number; doubtfulSince?: string } = {},
  ) => restoreCheckFinding(checkOf("replica_restore"), jobs, { config, nowMs, doubtfulSince }).result;

  test("is ok for a day, and failed when it is old or unsuccessful", () => {
    expect(resultFor([job], { nowMs: START_MS + RESTORE_CHECK_AGE_MS })).toBe("ok");
    expect(resultFor([job], { nowMs: START_MS + RESTORE_CHECK_AGE_MS + 1 })).toBe("failed");
    expect(resultFor([{ ...job, outcome: "failed", error: "no route" }])).toBe("failed");
  });

  test("is a warning while the service was killed after it, with the commands that work here", () => {
    const doubtfulSince = "2026-01-01T00:00:00.000Z";
    const found = restoreCheckFinding(checkOf("replica_restore"), [job], {
      config,
      nowMs: START_MS,
      doubtfulSince,
    });
    expect(found).toMatchObject({
      result: "warning",
      remedy: expect.stringContaining("quartermaster jobs run replica-check --data-dir /srv/data"),
    });
    const failed = { ...job, outcome: "failed" as const };
    expect(
      restoreCheckFinding(checkOf("replica_restore"), [failed], { config, nowMs: START_MS, doubtfulSince }),
    ).toMatchObject({
      result: "failed",
      remedy: expect.stringContaining("quartermaster replica reset --data-dir /srv/data"),
    });
  });

  test("is a warning before the first one", () => {
    expect(resultFor([])).toBe("warning");
    expect(resultFor([{ ...job, finishedAtMs: null, outcome: null }])).toBe("warning");
  });
});
