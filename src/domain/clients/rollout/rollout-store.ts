// SQL of the rollout of a revision: counts of workstations by health, harness, version and refusal, and samples over time.
import { and, asc, count, desc, eq, lt, max, type SQL, sql } from "drizzle-orm";
import type { Connection, Tx } from "../../../platform/database/database.ts";
import { changesOf } from "../../../platform/database/drizzle.ts";
import { boundsOf, isInSpan, NAMED } from "../../shared/ordered-rows-store.ts";
import type { Span } from "../../shared/page-steps.ts";
import { healthSince, NEWEST_FIRST } from "../inventory/list-store.ts";
import type { Health } from "../model.ts";
import { clientReports, rolloutSamples } from "../tables.ts";

/** Characters to read from a list of reasons, because a hostile workstation may report 100 long ones. */
const REASONS_READ = 2_000;

interface OfRevision {
  organizationId: string;
  revisionId: string;
}

/** Workstations with the same client and the same harnesses. */
export interface RolloutKind {
  clientVersion: string;
  /** JSON list of the names of harnesses */
  harnesses: string;
  clients: number;
  current: number;
  /** all others are outdated */
  attention: number;
}

const inSpan = (organizationId: string, more?: SQL): SQL | undefined =>
  and(eq(clientReports.organizationId, organizationId), isInSpan(NEWEST_FIRST, NAMED), more);

/** @returns a function that counts the records of a span */
export function rolloutKinds(
  connection: Connection,
  { organizationId, revisionId }: OfRevision,
): (span: Span) => RolloutKind[] {
  const { clientVersion, harnessNames: harnesses } = clientReports;
  const have = (health: Health) =>
    sql<number>`count(*) FILTER (WHERE ${healthSince(revisionId)} = ${health})`;
  const counts = { clients: count(), current: have("current"), attention: have("attention") };
  const kinds = connection
    .select({ clientVersion, harnesses, ...counts })
    .from(clientReports)
    .where(inSpan(organizationId))
    .groupBy(clientVersion, harnesses)
    .prepare();
  return (span) => kinds.all({ ...boundsOf(NEWEST_FIRST, span) });
}

export interface RefusalKind {
  /** the beginning of a JSON list of sentences */
  reasons: string;
  clients: number;
  /** id and name of one of them */
  id: string;
  hostname: string | null;
}

/** @returns a function that counts the records of a span that refused the revision, by reasons */
export function refusalKinds(
  connection: Connection,
  { organizationId, revisionId }: OfRevision,
): (span: Span) => RefusalKind[] {
  const { attempt, configRevision, hostname, id, verdict } = clientReports;
  const reasons = sql<string>`substr(${clientReports.reasons}, 1, ${sql.raw(String(REASONS_READ))})`;
  const target = sql`coalesce(${attempt} ->> '$.revision', ${configRevision})`;
  const kinds = connection
    .select({ reasons, clients: count(), id: sql<string>`min(${id})`, hostname })
    .from(clientReports)
    .where(inSpan(organizationId, sql`${verdict} = 'differs' AND ${target} = ${revisionId}`))
    .groupBy(reasons)
    .prepare();
  return (span) => kinds.all({ ...boundsOf(NEWEST_FIRST, span) });
}

/** @returns a function that counts, for each of the times in order, the records of a span without a report since then */
export function unseenCounts(
  connection: Connection,
  organizationId: string,
  timesMs: readonly number[],
): (span: Span) => number[] {
  const counted = Object.fromEntries(
    timesMs.map((timeMs, at) => [
      `at${at}`,
      sql<number>`count(*) FILTER (WHERE ${clientReports.lastSeenAtMs} < ${timeMs})`,
    ]),
  );
  const unseen = connection.select(counted).from(clientReports).where(inSpan(organizationId)).prepare();
  return (span) => Object.values(unseen.get({ ...boundsOf(NEWEST_FIRST, span) }) ?? {});
}

export interface RolloutSample {
  sampledAtMs: number;
  current: number;
  outdated: number;
  attention: number;
}

/** @returns the samples of a revision, newest first */
export const newestSamples = (
  connection: Connection,
  { organizationId, revisionId }: OfRevision,
  limit: number,
): RolloutSample[] => {
  const { sampledAtMs, current, outdated, attention } = rolloutSamples;
  return connection
    .select({ sampledAtMs, current, outdated, attention })
    .from(rolloutSamples)
    .where(and(eq(rolloutSamples.organizationId, organizationId), eq(rolloutSamples.revisionId, revisionId)))
    .orderBy(desc(sampledAtMs))
    .limit(limit)
    .all();
};

/** @returns when the revision was sampled last */
export const lastSampledMs = (
  connection: Connection,
  { organizationId, revisionId }: OfRevision,
): number | null =>
  connection
    .select({ at: max(rolloutSamples.sampledAtMs) })
    .from(rolloutSamples)
    .where(and(eq(rolloutSamples.organizationId, organizationId), eq(rolloutSamples.revisionId, revisionId)))
    .get()?.at ?? null;

export function addSample(tx: Tx, sample: OfRevision & RolloutSample): void {
  tx.insert(rolloutSamples).values(sample).onConflictDoNothing().run();
}

/** @returns how many were removed, at most `limit` */
export function removeSamples(tx: Tx, beforeMs: number, limit: number): number {
  const old = tx
    .select({ at: rolloutSamples.sampledAtMs })
    .from(rolloutSamples)
    .where(lt(rolloutSamples.sampledAtMs, beforeMs))
    .orderBy(asc(rolloutSamples.sampledAtMs))
    .limit(limit)
    .all();
  const last = old.at(-1)?.at;
  if (last === undefined) return 0;
  return changesOf(tx.delete(rolloutSamples).where(sql`${rolloutSamples.sampledAtMs} <= ${last}`).run());
}

/** @returns a function that counts the records of a span by reported revision */
export function revisionCounts(
  connection: Connection,
  organizationId: string,
): (span: Span) => { revisionId: string | null; clients: number }[] {
  const { configRevision: revisionId } = clientReports;
  const counts = connection
    .select({ revisionId, clients: count() })
    .from(clientReports)
    .where(inSpan(organizationId))
    .groupBy(revisionId)
    .prepare();
  return (span) => counts.all({ ...boundsOf(NEWEST_FIRST, span) });
}
