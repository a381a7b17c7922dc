// A service that is killed again and again while it creates keys. Afterwards every key of the gateway belongs to its
// user or has been removed. The rows of a killed process show its unfinished work.
import { count, eq, gte } from "drizzle-orm";
import type { ExistingInstallation } from "../../../src/app/installation/installation.ts";
import { countRevocations } from "../../../src/domain/gateway/keys/store.ts";
import { ATTEMPT_LEASE_MS } from "../../../src/domain/gateway/model.ts";
import { gatewayKeys } from "../../../src/domain/gateway/tables.ts";
import { jobs } from "../../../src/platform/scheduler/tables.ts";
import { atLeast, atMost, type Figure } from "../figures.ts";
import type { Running } from "../processes.ts";
import { median } from "../tools/compare.ts";
import { openBeside } from "../tools/installation.ts";
import { addDueUsers, countReady, type Stage, setStage, waitUntil } from "./gateway-stage.ts";

const KILLS = 50;
const USERS = 10_000;
const CALL_MS = 50;
const [ALIVE_MIN_MS, ALIVE_SPAN_MS] = [300, 1_200];
/** interval of the check for work before a kill */
const CHECK_EVERY_MS = 5;
/** more than the job waits between two runs */
const WORK_LIMIT_MS = 90_000;
const JOB = "gateway-reconcile";

interface Life {
  service: Running;
  startedAtMs: number;
}

interface Kill {
  /** attempts that the process had started and not finished */
  attempts: number;
  /** whether the process held the lease of the job that creates keys */
  heldLease: boolean;
}

/** Kills the service during reconciliation. Required: no key is leaked or lost, and the killed process is never idle. */
export async function killAgainAndAgain(): Promise<Figure[]> {
  await using stage = await setStage(CALL_MS);
  let startedAtMs = Date.now();
  let service = await stage.start();
  const installation = await openBeside(stage.directory, service.port);
  await addDueUsers(installation, USERS);
  const kills: Kill[] = [];
  while (kills.length < KILLS) {
    kills.push(await killAtWork(installation, { service, startedAtMs }));
    startedAtMs = Date.now();
    service = await stage.start();
  }
  const made = countReady(installation);
  await waitUntil(() => countReady(installation) === USERS && countRevocations(installation.db.read) === 0);
  const lost = await countLost(installation, stage);
  await service.stop();
  await installation.close();
  return figuresOf(kills, { made, lost });
}

/** Kills a process at a random moment, but only while it has work. */
async function killAtWork(installation: ExistingInstallation, { service, startedAtMs }: Life): Promise<Kill> {
  await Bun.sleep(ALIVE_MIN_MS + Math.random() * ALIVE_SPAN_MS);
  const limitMs = Date.now() + WORK_LIMIT_MS;
  while (attemptsSince(installation, startedAtMs) === 0 && Date.now() < limitMs)
    await Bun.sleep(CHECK_EVERY_MS);
  process.kill(service.pid, "SIGKILL");
  await service.stop();
  const job = installation.db.read.select().from(jobs).where(eq(jobs.name, JOB)).get();
  return {
    attempts: attemptsSince(installation, startedAtMs),
    heldLease: job?.leaseOwner != null && (job.lastStartedAtMs ?? 0) >= startedAtMs,
  };
}

/** @returns attempts started since then that have not ended; the lease of each shows when it started */
const attemptsSince = ({ db }: ExistingInstallation, sinceMs: number): number =>
  db.read
    .select({ total: count() })
    .from(gatewayKeys)
    .where(gte(gatewayKeys.recoveringUntilMs, sinceMs + ATTEMPT_LEASE_MS))
    .get()?.total ?? 0;

/** @returns keys of the gateway that belong to no user, and keys of users that the gateway does not have */
async function countLost({ db }: ExistingInstallation, { gateway }: Stage): Promise<number> {
  const rows = db.read.select({ id: gatewayKeys.externalId }).from(gatewayKeys).all();
  const held = new Set(rows.map(({ id }) => id));
  const answer = await fetch(`http://127.0.0.1:${gateway.port}/bench/keys`);
  const upstream: { token: string }[] = await answer.json();
  const leaked = upstream.filter(({ token }) => !held.has(token)).length;
  return leaked + held.size - (upstream.length - leaked);
}

function figuresOf(kills: readonly Kill[], { made, lost }: { made: number; lost: number }): Figure[] {
  const attempts = kills.map((kill) => kill.attempts);
  const atWork = kills.filter((kill) => kill.attempts > 0).length;
  const what = (name: string) => `${KILLS} kills among ${USERS} users: ${name}`;
  return [
    { what: what("attempts under way at a kill, median"), unit: "attempts", ours: median(attempts) },
    {
      what: what("kills with attempts under way"),
      unit: "kills",
      ours: atWork,
      verdict: atLeast(KILLS, atWork),
    },
    {
      what: what("kills while the job held its lease"),
      unit: "kills",
      ours: kills.filter(({ heldLease }) => heldLease).length,
    },
    { what: what("keys made until the last one"), unit: "keys", ours: made },
    { what: what("keys leaked or lost"), unit: "keys", ours: lost, verdict: atMost(0, lost) },
  ];
}
