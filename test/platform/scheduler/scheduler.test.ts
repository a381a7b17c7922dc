import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { Registry } from "prom-client";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/platform/clock.ts";
import { type Db, openDatabase } from "../../../src/platform/database/database.ts";
import { type Ids, systemIds } from "../../../src/platform/ids.ts";
import { createLog } from "../../../src/platform/observe/log.ts";
import { createTakeover, LEASE_GRACE_MS, TAKEOVER_TURNS } from "../../../src/platform/scheduler/lease.ts";
import {
  createScheduler,
  JOB_ERROR_LENGTH_MAX,
  type Job,
  type Scheduler,
  TIME_LIMIT_MAX_MS,
  TURN_MS,
} from "../../../src/platform/scheduler/scheduler.ts";
import {
  addJob,
  changeJob,
  JOBS_MAX,
  moveDueTime,
  takeLease,
} from "../../../src/platform/scheduler/store.ts";
import { type JobRow, jobs } from "../../../src/platform/scheduler/tables.ts";
import { copyOfEmpty, DATABASE, placeOfWorlds, temporaryDirectory } from "../../support/world.ts";

const START_MS = Date.UTC(2026, 0, 1);
const LIMIT_MS = 10 * MINUTE_MS;

let directory: string;
let file: string;
let nowMs: number;
let lines: string[];
let opened: Db[];
const clock = { nowMs: () => nowMs };

beforeEach(() => {
  directory = temporaryDirectory(placeOfWorlds);
  copyOfEmpty()(directory);
  file = join(directory, DATABASE);
  nowMs = START_MS;
  lines = [];
  opened = [];
});
afterEach(async () => {
  for (const db of opened) await db.close();
  rmSync(directory, { recursive: true });
});

/** A scheduler with its own connection, like another process. */
function processOf(options: { metrics?: Registry; ids?: Ids } = {}): { scheduler: Scheduler; db: Db } {
  const db = openDatabase(file);
  opened.push(db);
  const log = createLog({ level: "info", format: "json", clock, write: (line) => void lines.push(line) });
  return { db, scheduler: createScheduler({ db, clock, ids: systemIds, log, ...options }) };
}

const hourly = (run: Job["run"], changes: Partial<Job> = {}): Job => ({
  name: "sweep",
  everyMs: HOUR_MS,
  jitterMs: 0,
  timeLimitMs: LIMIT_MS,
  run,
  ...changes,
});

/** A job that stays in its run until it is released, and counts its runs. */
function heldJob(): { run: Job["run"]; runs: AbortSignal[]; begun: Promise<void>; release: () => void } {
  const begun = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const runs: AbortSignal[] = [];
  const run = (signal: AbortSignal) => {
    runs.push(signal);
    begun.resolve();
    return released.promise;
  };
  return { run, runs, begun: begun.promise, release: () => released.resolve() };
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

const rowOf = (db: Db, name = "sweep") =>
  db.read.select().from(jobs).where(eq(jobs.name, name)).limit(1).get();

async function turns(scheduler: Scheduler, count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await scheduler.runDue();
}

test("SVC-12 a job runs when it is due, its result is recorded, and the next run is planned from its end", async () => {
  const { scheduler, db } = processOf();
  let runs = 0;
  const work = async () => {
    runs += 1;
    nowMs += 1_000;
  };
  scheduler.register(hourly(work));
  await turns(scheduler, 2);
  expect(runs).toBe(1);
  expect(rowOf(db)).toEqual({
    name: "sweep",
    nextRunAtMs: START_MS + 1_000 + HOUR_MS,
    leaseOwner: null,
    leaseUntilMs: null,
    lastStartedAtMs: START_MS,
    lastFinishedAtMs: START_MS + 1_000,
    lastOutcome: "succeeded",
    lastError: null,
    paused: false,
  });
  nowMs = START_MS + HOUR_MS + 999;
  await scheduler.runDue();
  expect(runs).toBe(1);
  nowMs += 1;
  await scheduler.runDue();
  expect(runs).toBe(2);
});

test("a job that runs at the start is due in the first turn of each process, and is planned as usual from then on", async () => {
  let runs = 0;
  const work = async () => {
    runs += 1;
  };
  const begin = () => {
    const { scheduler } = processOf();
    scheduler.register(hourly(work, { jitterMs: MINUTE_MS, runsAtStart: true }));
    return scheduler;
  };
  const first = begin();
  await turns(first, 3);
  expect(runs).toBe(1);
  nowMs += MINUTE_MS;
  await turns(begin(), 3);
  expect(runs).toBe(2);
  nowMs += HOUR_MS + MINUTE_MS;
  await turns(first, 1);
  expect(runs).toBe(3);
});

test("an urgent job is due before its time, unless it is paused", async () => {
  const { scheduler, db } = processOf();
  await db.write((tx) => addJob(tx, "sweep", START_MS + HOUR_MS));
  let runs = 0;
  let isUrgent = false;
  const work = async () => {
    runs += 1;
    isUrgent = false;
  };
  scheduler.register(hourly(work, { isUrgent: () => isUrgent }));
  await turns(scheduler, 2);
  expect(runs).toBe(0);
  isUrgent = true;
  await turns(scheduler, 2);
  expect(runs).toBe(1);
  await db.write((tx) => void tx.update(jobs).set({ paused: true }).run());
  isUrgent = true;
  await turns(scheduler, 2);
  expect(runs).toBe(1);
});

test("a paused job does not run at the start", async () => {
  const { scheduler, db } = processOf();
  await db.write((tx) => addJob(tx, "sweep", START_MS));
  await db.write((tx) => void tx.update(jobs).set({ paused: true }).run());
  let runs = 0;
  const work = async () => {
    runs += 1;
  };
  scheduler.register(hourly(work, { runsAtStart: true }));
  await turns(scheduler, 2);
  expect(runs).toBe(0);
});

test.each([
  [0, 0],
  [0xffffffff, MINUTE_MS - 1],
])(
  "SVC-12 jitter delays the first run within its bound: random %p gives %p ms",
  async (random, expectedMs) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(random);
    const { scheduler, db } = processOf({ ids: { ...systemIds, bytes: () => bytes } });
    scheduler.register(hourly(async () => {}, { jitterMs: MINUTE_MS }));
    await scheduler.runDue();
    expect(rowOf(db)?.nextRunAtMs).toBe(START_MS + expectedMs);
    nowMs += MINUTE_MS;
    await scheduler.runDue();
    expect(rowOf(db)).toMatchObject({ lastOutcome: "succeeded", nextRunAtMs: nowMs + HOUR_MS + expectedMs });
  },
);

test("a started scheduler runs a turn immediately and every second, until it is stopped", async () => {
  jest.useFakeTimers();
  try {
    const { scheduler } = processOf();
    const beatAfter = async (ms: number): Promise<number> => {
      nowMs += ms;
      jest.advanceTimersByTime(ms);
      for (let round = 0; round < 20; round += 1) await Promise.resolve();
      return scheduler.lastBeatMs();
    };
    scheduler.start();
    expect(await beatAfter(0)).toBe(START_MS);
    expect(await beatAfter(TURN_MS - 1)).toBe(START_MS);
    expect(await beatAfter(1)).toBe(START_MS + TURN_MS);
    expect(await beatAfter(TURN_MS)).toBe(START_MS + 2 * TURN_MS);
    await scheduler.stop();
    expect(await beatAfter(TURN_MS)).toBe(START_MS + 2 * TURN_MS);
  } finally {
    jest.useRealTimers();
  }
});

test.each([
  ["rejects", () => Promise.reject(new Error("no space"))],
  [
    "throws before its promise",
    () => {
      throw new Error("no space");
    },
  ],
])("a job that %s is recorded and tried again on schedule", async (_, fail) => {
  const { scheduler, db } = processOf();
  let healed = false;
  scheduler.register(hourly(() => (healed ? Promise.resolve() : fail())));
  await turns(scheduler, 3);
  expect(rowOf(db)).toMatchObject({
    lastOutcome: "failed",
    lastError: "Error: no space",
    leaseOwner: null,
    nextRunAtMs: START_MS + HOUR_MS,
  });
  expect(lines.map((line) => JSON.parse(line).event)).toEqual(["job.failed"]);
  nowMs += HOUR_MS;
  healed = true;
  await scheduler.runDue();
  expect(rowOf(db)).toMatchObject({ lastOutcome: "succeeded", lastError: null });
});

test("a job that rejects without a reason counts as failed", async () => {
  const { scheduler, db } = processOf();
  scheduler.register(hourly(() => Promise.reject(undefined)));
  await turns(scheduler, 2);
  expect(rowOf(db)).toMatchObject({ lastOutcome: "failed", lastError: "Error: a job threw nothing" });
});

test("a finished run leaves no timer that would keep the process alive", async () => {
  const { scheduler, db } = processOf();
  const timers: number[] = [];
  scheduler.register(
    hourly(async () => {
      timers.push(jest.getTimerCount());
    }),
  );
  await scheduler.runDue();
  jest.useFakeTimers();
  try {
    await scheduler.runDue();
    expect([...timers, jest.getTimerCount()]).toEqual([1, 0]);
  } finally {
    jest.useRealTimers();
  }
  expect(rowOf(db)?.lastOutcome).toBe("succeeded");
});

test("a run renews its lease once after a clock jump, not in every turn", async () => {
  const { crashed: alive, held, running } = await crashedRun();
  nowMs += DAY_MS;
  await alive.scheduler.runDue();
  const renewedMs = rowOf(alive.db)?.leaseUntilMs;
  expect(renewedMs).toBe(nowMs + LIMIT_MS + LEASE_GRACE_MS);
  nowMs += 1;
  await alive.scheduler.runDue();
  expect(rowOf(alive.db)?.leaseUntilMs).toBe(renewedMs);
  held.release();
  await running;
});

test("a failing job does not prevent other jobs from running", async () => {
  const { scheduler, db } = processOf();
  scheduler.register(hourly(() => Promise.reject(new Error("no"))));
  scheduler.register(hourly(async () => {}, { name: "other" }));
  await turns(scheduler, 2);
  expect(rowOf(db, "other")?.lastOutcome).toBe("succeeded");
});

test("SVC-12 a run beyond its time limit is aborted and recorded as such", async () => {
  const { scheduler, db } = processOf();
  scheduler.register(hourly(untilAborted, { timeLimitMs: 1 }));
  await turns(scheduler, 2);
  expect(rowOf(db)).toMatchObject({ lastOutcome: "timed_out", leaseOwner: null });
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { event: "job.timed_out", level: "warning", job: "sweep", time_limit_ms: 1 },
  ]);
});

test("a paused job is not run until it is resumed", async () => {
  const { scheduler, db } = processOf();
  let runs = 0;
  scheduler.register(
    hourly(async () => {
      runs += 1;
    }),
  );
  await scheduler.runDue();
  await db.write((tx) => tx.update(jobs).set({ paused: true }).run());
  await scheduler.runDue();
  expect(runs).toBe(0);
  await db.write((tx) => tx.update(jobs).set({ paused: false }).run());
  await scheduler.runDue();
  expect(runs).toBe(1);
});

test("a job that is paused between its check and its lease is not run", async () => {
  const { scheduler, db } = processOf();
  let runs = 0;
  scheduler.register(
    hourly(async () => {
      runs += 1;
    }),
  );
  await scheduler.runDue();
  const turn = scheduler.runDue(); // has checked the job; its lease is written in a later turn of the event loop
  using operator = new Database(file);
  operator.run("UPDATE jobs SET paused = 1");
  await turn;
  expect(runs).toBe(0);
  expect(rowOf(db)).toMatchObject({ paused: true, leaseOwner: null, lastStartedAtMs: null });
});

test.each([
  ["nothing", {}, true],
  ["a pause", { paused: true }, false],
  ["another due time", { nextRunAtMs: START_MS + 1 }, false],
  ["another owner", { leaseOwner: "other" }, false],
  ["another end of the lease", { leaseUntilMs: START_MS }, false],
])(
  "%s between the check and the lease decides whether the lease is taken",
  async (_what, change, isTaken) => {
    const { db } = processOf();
    await db.write((tx) => addJob(tx, "sweep", START_MS));
    for (const leased of [
      { leaseOwner: null, leaseUntilMs: null },
      { leaseOwner: "dead", leaseUntilMs: 5 },
    ]) {
      const reset = { paused: false, nextRunAtMs: START_MS, ...leased };
      await db.write((tx) => tx.update(jobs).set(reset).run());
      const seen = rowOf(db);
      if (!seen) throw new Error("the job has a row");
      await db.write((tx) =>
        tx
          .update(jobs)
          .set({ ...reset, ...change })
          .run(),
      );
      const lease = { owner: "new", untilMs: START_MS + LIMIT_MS };
      expect(await db.write((tx) => takeLease(tx, seen, { lease, nowMs: START_MS }))).toBe(isTaken);
      expect(rowOf(db)?.leaseOwner === "new").toBe(isTaken);
    }
  },
);

test.each([
  [0, 5],
  [1, START_MS + 1],
])("the due time moves unless it has changed by %d since the check", async (change, dueMs) => {
  const { db } = processOf();
  await db.write((tx) => addJob(tx, "sweep", START_MS));
  const seen = rowOf(db);
  if (!seen) throw new Error("the job has a row");
  await db.write((tx) => {
    changeJob(tx, "sweep", { nextRunAtMs: START_MS + change });
    moveDueTime(tx, seen, 5);
  });
  expect(rowOf(db)?.nextRunAtMs).toBe(dueMs);
});

test("a job is not started again while it runs, in this process or another", async () => {
  const [one, two] = [processOf(), processOf()];
  const held = heldJob();
  one.scheduler.register(hourly(held.run));
  two.scheduler.register(hourly(held.run));
  await one.scheduler.runDue();
  const running = one.scheduler.runDue();
  await held.begun;
  nowMs += LIMIT_MS;
  await one.scheduler.runDue();
  await turns(two.scheduler, TAKEOVER_TURNS + 1);
  expect(held.runs).toHaveLength(1);
  held.release();
  await running;
  expect(rowOf(one.db)?.lastOutcome).toBe("succeeded");
});

test("SVC-12 only one of many processes runs a job that all find due", async () => {
  const processes = Array.from({ length: 4 }, () => processOf().scheduler);
  let runs = 0;
  for (const scheduler of processes) {
    scheduler.register(
      hourly(async () => {
        runs += 1;
      }),
    );
  }
  await processes[0]?.runDue();
  await Promise.all(processes.map((scheduler) => scheduler.runDue()));
  expect(runs).toBe(1);
});

/** One process starts a run and then stops responding; the other has the same job. */
async function crashedRun() {
  const [crashed, other] = [processOf(), processOf()];
  const held = heldJob();
  let runs = 0;
  crashed.scheduler.register(hourly(held.run));
  other.scheduler.register(
    hourly(async () => {
      runs += 1;
    }),
  );
  await crashed.scheduler.runDue();
  const running = crashed.scheduler.runDue();
  await held.begun;
  return { crashed, other, held, running, runsOfOther: () => runs };
}

test.each([
  ["just before", LIMIT_MS + LEASE_GRACE_MS - 1, 0],
  ["at", LIMIT_MS + LEASE_GRACE_MS, 1],
  ["after", LIMIT_MS + LEASE_GRACE_MS + 1, 1],
])("%s the end of a crashed process's lease, %p ms on, another ran the job %p times", async (_, ms, runs) => {
  const { other, held, running, runsOfOther } = await crashedRun();
  nowMs += ms;
  await turns(other.scheduler, TAKEOVER_TURNS - 1);
  expect(runsOfOther()).toBe(0);
  await other.scheduler.runDue();
  expect(runsOfOther()).toBe(runs);
  held.release();
  await running;
});

test("a process that holds the directory takes over the leases of a crashed one and runs their jobs in its first turn", async () => {
  const { crashed, other, held, running, runsOfOther } = await crashedRun();
  await other.scheduler.takeOverLeases();
  await other.scheduler.runDue();
  expect(runsOfOther()).toBe(1);
  const newer = rowOf(other.db);
  nowMs += 5;
  held.release();
  await running;
  expect(rowOf(crashed.db)).toEqual(newer);
  await other.scheduler.takeOverLeases(); // none is left, so nothing is logged
  const logged = lines.map((line) => JSON.parse(line));
  expect(logged).toMatchObject([
    { event: "scheduler.leases_taken_over", jobs: ["sweep"] },
    { event: "job.superseded" },
  ]);
});

test("takes over the lease of a crashed process, also among jobs that no process runs", async () => {
  const { other, held, running } = await crashedRun();
  other.scheduler.register(hourly(async () => {}, { name: "idle" }));
  await other.scheduler.runDue();
  expect(rowOf(other.db, "idle")?.leaseOwner).toBeNull();
  await other.scheduler.takeOverLeases();
  expect(rowOf(other.db)?.leaseOwner).toBeNull();
  held.release();
  await running;
});

test("SVC-12 a stale run cannot overwrite the result of a newer one", async () => {
  const { crashed, other, held, running } = await crashedRun();
  nowMs += LIMIT_MS + LEASE_GRACE_MS;
  await turns(other.scheduler, TAKEOVER_TURNS);
  const newer = rowOf(other.db);
  expect(newer?.lastOutcome).toBe("succeeded");
  nowMs += 5;
  held.release();
  await running;
  expect(rowOf(crashed.db)).toEqual(newer);
  expect(lines.map((line) => JSON.parse(line).event)).toEqual(["job.superseded"]);
});

test("a run that lost its job to another process is aborted", async () => {
  const { crashed, other, held, running } = await crashedRun();
  nowMs += LIMIT_MS + LEASE_GRACE_MS;
  await turns(other.scheduler, TAKEOVER_TURNS);
  expect(held.runs[0]?.aborted).toBe(false);
  await crashed.scheduler.runDue();
  expect(held.runs[0]?.aborted).toBe(true);
  held.release();
  await running;
});

test.each([
  ["a day forward", DAY_MS],
  ["a day back", -DAY_MS],
])("a clock that jumps %s does not make two processes run a job concurrently", async (_, jumpMs) => {
  const { crashed: alive, other, held, running, runsOfOther } = await crashedRun();
  nowMs += jumpMs;
  for (let turn = 0; turn < 3 * TAKEOVER_TURNS; turn++) {
    await other.scheduler.runDue();
    await alive.scheduler.runDue();
  }
  expect(runsOfOther()).toBe(0);
  expect(held.runs).toHaveLength(1);
  expect(held.runs[0]?.aborted).toBe(false);
  held.release();
  await running;
  expect(rowOf(alive.db)?.lastOutcome).toBe("succeeded");
});

test("a lease from a clock that was ahead does not block the job for long", async () => {
  const { other, held, running, runsOfOther } = await crashedRun();
  nowMs -= 365 * DAY_MS;
  await other.scheduler.runDue();
  nowMs += HOUR_MS;
  await turns(other.scheduler, TAKEOVER_TURNS);
  expect(runsOfOther()).toBe(1);
  held.release();
  await running;
});

test("a job runs at its interval after the clock went back, not earlier or later", async () => {
  const { scheduler, db } = processOf();
  let runs = 0;
  scheduler.register(
    hourly(async () => {
      runs += 1;
    }),
  );
  await turns(scheduler, 2);
  nowMs -= 365 * DAY_MS;
  await scheduler.runDue();
  expect(runs).toBe(1);
  expect(rowOf(db)?.nextRunAtMs).toBe(nowMs + HOUR_MS);
  nowMs += HOUR_MS;
  await scheduler.runDue();
  expect(runs).toBe(2);
});

test.each([
  [0, 0],
  [1, -1 - MINUTE_MS],
])("a job that is due %d ms later than it can be planned is planned again", async (later, moved) => {
  const { scheduler, db } = processOf({ ids: { ...systemIds, bytes: (count) => Buffer.alloc(count) } });
  scheduler.register(hourly(async () => {}, { jitterMs: MINUTE_MS }));
  await scheduler.runDue();
  const nextRunAtMs = nowMs + HOUR_MS + MINUTE_MS + later;
  await db.write((tx) => void tx.update(jobs).set({ nextRunAtMs }).run());
  await scheduler.runDue();
  expect(rowOf(db)?.nextRunAtMs).toBe(nextRunAtMs + moved);
});

test("plans jobs that were due at the same time by their own intervals after the clock went back", async () => {
  const { scheduler, db } = processOf();
  scheduler.register(hourly(async () => {}));
  scheduler.register(hourly(async () => {}, { name: "daily", everyMs: DAY_MS }));
  await scheduler.runDue();
  const nextRunAtMs = nowMs + 365 * DAY_MS;
  await db.write((tx) => void tx.update(jobs).set({ nextRunAtMs }).run());
  await scheduler.runDue();
  expect(["sweep", "daily"].map((name) => rowOf(db, name)?.nextRunAtMs)).toEqual([
    nowMs + HOUR_MS,
    nowMs + DAY_MS,
  ]);
});

test("a job runs once after the clock went forward, not once for each missed interval", async () => {
  const { scheduler } = processOf();
  let runs = 0;
  scheduler.register(
    hourly(async () => {
      runs += 1;
    }),
  );
  await turns(scheduler, 2);
  nowMs += 365 * DAY_MS;
  await turns(scheduler, 5);
  expect(runs).toBe(2);
});

test("stop aborts a run, waits for it, releases its lease, and the next start repeats it", async () => {
  const { scheduler, db } = processOf();
  const begun = Promise.withResolvers<void>();
  let cleaned = false;
  scheduler.register(
    hourly(async (signal) => {
      begun.resolve();
      await untilAborted(signal).finally(() => {
        cleaned = true;
      });
    }),
  );
  await scheduler.runDue();
  scheduler.start();
  await begun.promise;
  await scheduler.stop();
  expect(cleaned).toBe(true);
  expect(rowOf(db)).toMatchObject({ lastOutcome: "stopped", leaseOwner: null, nextRunAtMs: START_MS });
  let repeated = false;
  const next = processOf().scheduler;
  next.register(
    hourly(async () => {
      repeated = true;
    }),
  );
  await next.runDue();
  expect(repeated).toBe(true);
});

test("stop waits for a running turn, and ends the run that the turn begins", async () => {
  const { scheduler, db } = processOf();
  scheduler.register(hourly(untilAborted));
  await scheduler.runDue();
  scheduler.start(); // has checked the job; its lease is written in a later turn of the event loop
  await scheduler.stop();
  expect(rowOf(db)).toMatchObject({ lastOutcome: "stopped", leaseOwner: null });
});

test("after stop no job is begun", async () => {
  const { scheduler } = processOf();
  let runs = 0;
  scheduler.register(
    hourly(async () => {
      runs += 1;
    }),
  );
  await scheduler.runDue();
  await scheduler.stop();
  await scheduler.runDue();
  expect(runs).toBe(0);
});

test("the beat is the time of the last complete turn", async () => {
  const { scheduler, db } = processOf();
  expect(scheduler.lastBeatMs()).toBe(0);
  await scheduler.runDue();
  expect(scheduler.lastBeatMs()).toBe(START_MS);
  nowMs += 5;
  await db.close();
  opened.pop();
  await expect(scheduler.runDue()).rejects.toThrow();
  expect(scheduler.lastBeatMs()).toBe(START_MS);
});

test("a job whose row cannot be written does not stop other jobs or the beat, and is logged once", async () => {
  const { scheduler, db } = processOf();
  scheduler.register(hourly(async () => {}, { name: "stuck" }));
  scheduler.register(hourly(async () => {}));
  const trigger =
    "CREATE TRIGGER full BEFORE INSERT ON jobs WHEN new.name = 'stuck' BEGIN SELECT RAISE(ABORT, 'full'); END";
  await db.write((tx) => tx.run(trigger));
  await turns(scheduler, 2);
  nowMs += 5;
  await scheduler.runDue();
  expect(scheduler.lastBeatMs()).toBe(START_MS + 5);
  expect(rowOf(db)?.lastOutcome).toBe("succeeded");
  expect(lines.map((line) => JSON.parse(line).event)).toEqual(["scheduler.job_check_failed"]);
  await db.write((tx) => tx.run("DROP TRIGGER full"));
  await turns(scheduler, 2);
  expect(rowOf(db, "stuck")?.lastOutcome).toBe("succeeded");
  await db.write((tx) => tx.run(trigger.replace("INSERT", "UPDATE")));
  nowMs += HOUR_MS;
  await turns(scheduler, 2);
  const again = lines.map((line) => JSON.parse(line).event).slice(1);
  expect(again).toEqual(["scheduler.job_check_failed"]);
});

test("a turn that fails in the database is logged and does not end the process", async () => {
  const { scheduler, db } = processOf();
  await db.close();
  opened.pop();
  scheduler.start();
  await scheduler.stop();
  expect(lines.map((line) => JSON.parse(line).event)).toEqual(["scheduler.turn_failed"]);
});

test("every job has its metrics from the start, and a restart restores the last success", async () => {
  const linesOf = async (metrics: Registry) =>
    (await metrics.metrics()).split("\n").filter((line) => line.startsWith("quartermaster_job_"));
  const first = new Registry();
  const { scheduler } = processOf({ metrics: first });
  scheduler.register(hourly(async () => {}));
  const counted = (succeeded: number, lastSuccess: number) => [
    `quartermaster_job_runs_total{job="sweep",outcome="succeeded"} ${succeeded}`,
    'quartermaster_job_runs_total{job="sweep",outcome="failed"} 0',
    'quartermaster_job_runs_total{job="sweep",outcome="timed_out"} 0',
    'quartermaster_job_runs_total{job="sweep",outcome="stopped"} 0',
    `quartermaster_job_last_success_timestamp_seconds{job="sweep"} ${lastSuccess}`,
    'quartermaster_job_period_seconds{job="sweep"} 3600',
  ];
  expect(await linesOf(first)).toEqual(counted(0, 0));
  await turns(scheduler, 2);
  expect(await linesOf(first)).toEqual(counted(1, START_MS / 1_000));
  const second = new Registry();
  const restarted = processOf({ metrics: second }).scheduler;
  restarted.register(hourly(async () => {}));
  await restarted.runDue();
  expect(await linesOf(second)).toEqual(counted(0, START_MS / 1_000));
});

test("a failed run counts as failed and does not move the last success", async () => {
  const metrics = new Registry();
  const { scheduler } = processOf({ metrics });
  scheduler.register(hourly(() => Promise.reject(new Error("no"))));
  await turns(scheduler, 2);
  const restarted = new Registry();
  const next = processOf({ metrics: restarted }).scheduler;
  next.register(hourly(async () => {}));
  await next.runDue();
  expect(await metrics.metrics()).toContain('runs_total{job="sweep",outcome="failed"} 1\n');
  for (const each of [metrics, restarted])
    expect(await each.metrics()).toContain('last_success_timestamp_seconds{job="sweep"} 0\n');
});

test("a lease that looked valid temporarily must look expired for all turns again", () => {
  const canTake = createTakeover();
  const row: JobRow = {
    name: "sweep",
    nextRunAtMs: 0,
    leaseOwner: "one",
    leaseUntilMs: START_MS,
    paused: false,
    lastStartedAtMs: null,
    lastFinishedAtMs: null,
    lastOutcome: null,
    lastError: null,
  };
  const at = (ms: number) => canTake(row, { timeLimitMs: LIMIT_MS, nowMs: START_MS + ms });
  for (let turn = 1; turn < TAKEOVER_TURNS; turn += 1) expect(at(0)).toBe(false);
  expect(at(-1)).toBe(false);
  for (let turn = 1; turn < TAKEOVER_TURNS; turn += 1) expect(at(0)).toBe(false);
  expect(at(0)).toBe(true);
});

test.each([[JOB_ERROR_LENGTH_MAX - 1], [JOB_ERROR_LENGTH_MAX], [JOB_ERROR_LENGTH_MAX + 1]])(
  "an error of %i characters is kept up to the limit",
  async (length) => {
    const { scheduler, db } = processOf();
    const message = "x".repeat(length - "Error: ".length);
    scheduler.register(hourly(() => Promise.reject(new Error(message))));
    await turns(scheduler, 2);
    expect(rowOf(db)?.lastError).toHaveLength(Math.min(length, JOB_ERROR_LENGTH_MAX));
  },
);

test.each([
  [0, false],
  [1, true],
  [TIME_LIMIT_MAX_MS - 1, true],
  [TIME_LIMIT_MAX_MS, true],
  [TIME_LIMIT_MAX_MS + 1, false],
])("a time limit of %p ms is accepted: %p", (timeLimitMs, accepted) => {
  const add = () => processOf().scheduler.register(hourly(async () => {}, { timeLimitMs }));
  if (accepted) expect(add).not.toThrow();
  else expect(add).toThrow("time limit");
});

test("jobs are registered once each, up to a limit", () => {
  const { scheduler } = processOf();
  const add = (index: number) => () => scheduler.register(hourly(async () => {}, { name: `job${index}` }));
  for (let index = 0; index < JOBS_MAX - 1; index++) add(index)();
  expect(add(0)).toThrow("once");
  expect(add(JOBS_MAX - 1)).not.toThrow();
  expect(add(JOBS_MAX)).toThrow(`at most ${JOBS_MAX}`);
});
