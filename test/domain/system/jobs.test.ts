// Operations of an operator on jobs while a scheduler runs on its own connection, as in the running service.
import { expect, test } from "bun:test";
import { asc } from "drizzle-orm";
import { auditEntries } from "../../../src/domain/audit/tables.ts";
import type { Actor } from "../../../src/domain/shared/actor.ts";
import { createJobs, isOverdue, JOB_OVERDUE_MS, type JobView } from "../../../src/domain/system/jobs.ts";
import { HOUR_MS, MINUTE_MS } from "../../../src/platform/clock.ts";
import { openDatabase } from "../../../src/platform/database/database.ts";
import { createLog } from "../../../src/platform/observe/log.ts";
import { createScheduler, type Job, type Scheduler } from "../../../src/platform/scheduler/scheduler.ts";
import { reasonOf } from "../../support/identity-world.ts";
import { createWorld, type World } from "../../support/world.ts";

interface JobsWorld extends AsyncDisposable {
  world: World;
  scheduler: Scheduler;
  jobs: ReturnType<typeof createJobs>;
  actor: Actor;
  /** runs of the job so far */
  runs(): number;
}

/** A service that has run the hourly job `sweep` once, and an operator. */
async function createJobsWorld(run: Job["run"] = async () => {}): Promise<JobsWorld> {
  const world = await createWorld();
  const db = openDatabase(world.file);
  const log = createLog({ ...world, level: "error", format: "json", write: () => {} });
  const scheduler = createScheduler({ ...world, db, log });
  let runs = 0;
  const counted: Job["run"] = async (signal) => {
    runs += 1;
    await run(signal);
  };
  scheduler.register({ name: "sweep", everyMs: HOUR_MS, jitterMs: 0, timeLimitMs: MINUTE_MS, run: counted });
  await scheduler.runDue(); // plans it
  return {
    world,
    scheduler,
    jobs: createJobs(world),
    actor: { ...world.system, kind: "operator", label: "root" },
    runs: () => runs,
    async [Symbol.asyncDispose]() {
      await db.close();
      await world.dispose();
    },
  };
}

const only = ({ jobs }: JobsWorld): JobView | undefined => jobs.list()[0];

test("there are no jobs before a service has run", async () => {
  await using world = await createWorld();
  const jobs = createJobs(world);
  expect(jobs.list()).toEqual([]);
  expect(await reasonOf(() => jobs.run(world.system, "sweep"))).toBe("job.not_found");
});

test("a job is shown with its last result and its next time", async () => {
  await using here = await createJobsWorld(() => Promise.reject(new Error("no room")));
  expect(only(here)).toMatchObject({ name: "sweep", state: "due", outcome: null, startedAtMs: null });
  await here.scheduler.runDue();
  const nowMs = here.world.clock.nowMs();
  expect(only(here)).toEqual({
    name: "sweep",
    state: "waiting",
    paused: false,
    nextRunAtMs: nowMs + HOUR_MS,
    startedAtMs: nowMs,
    finishedAtMs: nowMs,
    outcome: "failed",
    error: "Error: no room",
  });
});

test("a job that is made due runs in the service's next turn", async () => {
  await using here = await createJobsWorld();
  await here.scheduler.runDue();
  await here.scheduler.runDue();
  expect(here.runs()).toBe(1);
  expect(await here.jobs.run(here.actor, "sweep")).toMatchObject({ changed: true, job: { state: "due" } });
  expect(await here.jobs.run(here.actor, "sweep")).toMatchObject({ changed: false, job: { state: "due" } });
  await here.scheduler.runDue();
  expect(here.runs()).toBe(2);
});

test("a running job is not requested again", async () => {
  const begun = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  await using here = await createJobsWorld(() => {
    begun.resolve();
    return release.promise;
  });
  const turn = here.scheduler.runDue();
  await begun.promise;
  expect(await here.jobs.run(here.actor, "sweep")).toMatchObject({
    changed: false,
    job: { state: "running" },
  });
  release.resolve();
  await turn;
  expect(only(here)).toMatchObject({ state: "waiting", outcome: "succeeded" });
});

test("a paused job does not run at its time or on demand, and continues when it is resumed", async () => {
  await using here = await createJobsWorld();
  expect(await here.jobs.pause(here.actor, "sweep")).toMatchObject({
    changed: true,
    job: { state: "paused" },
  });
  expect(await here.jobs.pause(here.actor, "sweep")).toMatchObject({ changed: false });
  await here.scheduler.runDue();
  expect(await reasonOf(() => here.jobs.run(here.actor, "sweep"))).toBe("job.paused");
  expect(here.runs()).toBe(0);
  expect(await here.jobs.resume(here.actor, "sweep")).toMatchObject({ changed: true, job: { state: "due" } });
  expect(await here.jobs.resume(here.actor, "sweep")).toMatchObject({ changed: false });
  await here.scheduler.runDue();
  expect(here.runs()).toBe(1);
});

test("refuses an unknown job with the names of the known ones", async () => {
  await using here = await createJobsWorld();
  await expect(here.jobs.pause(here.actor, "swep")).rejects.toMatchObject({
    reason: "job.not_found",
    hint: "the jobs are: sweep",
  });
});

test("the audit log records every change of a job and nothing else", async () => {
  await using here = await createJobsWorld();
  const { jobs, actor, world } = here;
  await here.scheduler.runDue();
  for (const ask of [jobs.run, jobs.run, jobs.pause, jobs.pause, jobs.resume]) await ask(actor, "sweep");
  const entries = world.db.read.select().from(auditEntries).orderBy(asc(auditEntries.id)).all();
  expect(entries.map(({ action, target, actorKind }) => [action, target, actorKind])).toEqual([
    ["job.run", "sweep", "operator"],
    ["job.pause", "sweep", "operator"],
    ["job.resume", "sweep", "operator"],
  ]);
  expect(entries.map(({ before, after }) => [before, after].map((text) => JSON.parse(text ?? "")))).toEqual([
    [
      { paused: false, next_run_at: "2026-01-01T01:00:00.000Z" },
      { paused: false, next_run_at: "2026-01-01T00:00:00.000Z" },
    ],
    [
      { paused: false, next_run_at: "2026-01-01T00:00:00.000Z" },
      { paused: true, next_run_at: "2026-01-01T00:00:00.000Z" },
    ],
    [
      { paused: true, next_run_at: "2026-01-01T00:00:00.000Z" },
      { paused: false, next_run_at: "2026-01-01T00:00:00.000Z" },
    ],
  ]);
});

test.each([
  [JOB_OVERDUE_MS - 1, false],
  [JOB_OVERDUE_MS, false],
  [JOB_OVERDUE_MS + 1, true],
])("a job that is due for %i ms is overdue: %p", async (ms, overdue) => {
  await using here = await createJobsWorld();
  await here.scheduler.runDue();
  here.world.clock.advance(HOUR_MS + ms);
  const [job] = here.jobs.list();
  expect(job && isOverdue(job, here.world.clock.nowMs())).toBe(overdue);
  await here.jobs.pause(here.actor, "sweep");
  expect(here.jobs.list().some((paused) => isOverdue(paused, here.world.clock.nowMs()))).toBe(false);
});
