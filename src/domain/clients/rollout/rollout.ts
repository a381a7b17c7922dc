// Follows the rollout of a revision: workstations by health, harness and client version, refusals by reason, workstations
// without recent reports, and samples since its publication. A job takes the samples.
import { LRUCache } from "lru-cache";
import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS } from "../../../platform/clock.ts";
import type { Db } from "../../../platform/database/database.ts";
import { runInBatches, runInTurns, type Steps } from "../../../platform/steps.ts";
import type { Revision } from "../../governance/service.ts";
import { overSpans, type Span } from "../../shared/page-steps.ts";
import type { Inventory } from "../inventory/inventory.ts";
import { reportPlaces } from "../inventory/inventory-store.ts";
import { HEALTHS, type Health } from "../model.ts";
import * as store from "./rollout-store.ts";

/** Samples are taken every minute for a day, then every hour. */
const FREQUENT_MS = DAY_MS;
/** Days for which a revision is sampled and its samples are kept. */
export const SAMPLE_DAYS_MAX = 30;
/** Maximum number of points of a curve; more samples are downsampled. */
export const POINTS_MAX = 400;
/** One sample per minute for a day, then one per hour. */
const SAMPLES_READ = DAY_MS / MINUTE_MS + SAMPLE_DAYS_MAX * (DAY_MS / HOUR_MS);
/** Maximum number of reasons to list; the others are counted together. */
export const REFUSALS_MAX = 50;
/** Maximum number of harnesses and client versions to list, most frequent first. */
export const GROUPS_MAX = 50;
/** Maximum number of reasons to count for one workstation. */
const REASONS_EACH = 5;
const SAMPLES_REMOVED_AT_ONCE = 1_000;
/** Days without a report that group sleeping workstations. */
export const NOT_SEEN_DAYS = [1, 7, 30] as const;

export type HealthCounts = Readonly<Record<Health, number>>;

interface Refusal {
  reason: string;
  clients: number;
  /** one of these workstations */
  example: { id: string; hostname: string | null };
}

export interface Rollout {
  revision: Pick<Revision, "id" | "sequence" | "createdAtMs" | "authorLabel" | "comment">;
  isInForce: boolean;
  workstations: HealthCounts;
  /** most frequent first, at most GROUPS_MAX */
  harnesses: ReadonlyMap<string, HealthCounts>;
  /** the same */
  clientVersions: ReadonlyMap<string, HealthCounts>;
  /** most frequent first, at most REFUSALS_MAX */
  refusals: readonly Refusal[];
  /** number of further reasons */
  moreRefusals: number;
  /** workstations without a report since it was published */
  notSeenSince: number;
  /** number of workstations without a report for more days, by NOT_SEEN_DAYS */
  notSeenByDays: readonly { days: number; clients: number }[];
  /** oldest first, at most POINTS_MAX */
  samples: readonly store.RolloutSample[];
}

export interface RolloutDependencies {
  db: Db;
  clock: Clock;
  inventory: Pick<Inventory, "countsInSteps">;
}

/**
 * Readers share counts for this multiple of the counting time, so that pages that follow a rollout use at most a twentieth of a
 * core. A small fleet is counted for each reader.
 */
const SHARED_TIMES = 20;
/** The longest time for which counts are shared. Live pages need no faster updates (CON-115). */
export const SHARED_MS_MAX = 2_000;
/** Maximum number of revisions, and of organizations, whose counts are shared. */
const COUNTS_KEPT = 4;

interface SharedCounts<Counts extends object> {
  untilMs: number;
  counted: Promise<Counts>;
}

/** Counts that several readers share for a while. */
class Shared<Counts extends object> {
  readonly #known = new LRUCache<string, SharedCounts<Counts>>({ max: COUNTS_KEPT });

  constructor(private readonly clock: Clock) {}

  async of(key: string, count: () => Steps<Counts>): Promise<Counts> {
    const beganMs = this.clock.nowMs();
    const known = this.#known.get(key);
    if (known && beganMs < known.untilMs) return await known.counted;
    const counted = runInTurns(count());
    const shared = { untilMs: beganMs + SHARED_MS_MAX, counted };
    this.#known.set(key, shared);
    try {
      const counts = await counted;
      const endedMs = this.clock.nowMs();
      shared.untilMs = endedMs + Math.min(SHARED_MS_MAX, SHARED_TIMES * (endedMs - beganMs));
      return counts;
    } catch (error) {
      this.#known.delete(key);
      throw error;
    }
  }
}

export class Rollouts {
  readonly #rollouts: Shared<Rollout>;
  readonly #revisions: Shared<ReadonlyMap<string, number>>;

  constructor(private readonly dependencies: RolloutDependencies) {
    this.#rollouts = new Shared(dependencies.clock);
    this.#revisions = new Shared(dependencies.clock);
  }

  /** Like `of`, in turns and possibly with shared counts. */
  async shared(revision: Revision, inForce: string): Promise<Rollout> {
    const rollout = await this.#rollouts.of(revision.id, () => this.of(revision, inForce));
    return { ...rollout, isInForce: revision.id === inForce };
  }

  /** Like `onRevisions`, in turns and possibly with shared counts. */
  sharedOnRevisions(organizationId: string): Promise<ReadonlyMap<string, number>> {
    return this.#revisions.of(organizationId, () => this.onRevisions(organizationId));
  }

  /** @param inForce id of the current revision */
  *of(revision: Revision, inForce: string): Steps<Rollout> {
    const { id, sequence, createdAtMs, authorLabel, comment, organizationId } = revision;
    const { read } = this.dependencies.db;
    const selection = { organizationId, revisionId: id };
    const [kindsIn, refusalsIn] = [store.rolloutKinds(read, selection), store.refusalKinds(read, selection)];
    const nowMs = this.dependencies.clock.nowMs();
    const times = [createdAtMs, ...NOT_SEEN_DAYS.map((days) => nowMs - days * DAY_MS)];
    const unseenIn = store.unseenCounts(read, organizationId, times);
    const tally = new RolloutTally();
    const unseen = times.map(() => 0);
    yield* overSpans({ placeAhead: reportPlaces(read, organizationId) }, (span) => {
      const counts = tally.add(kindsIn(span));
      if (counts.attention > 0) for (const refusal of refusalsIn(span)) tally.refuse(refusal);
      const clients = unseenOf(span, { times, all: sumOf(counts), countIn: unseenIn });
      for (const at of times.keys()) unseen[at] = (unseen[at] ?? 0) + (clients[at] ?? 0);
      return true;
    });
    const [notSeen = 0, ...notSeenByDays] = unseen;
    return {
      revision: { id, sequence, createdAtMs, authorLabel, comment },
      isInForce: id === inForce,
      ...tally.result(),
      notSeenSince: notSeen,
      notSeenByDays: NOT_SEEN_DAYS.map((days, at) => ({ days, clients: notSeenByDays[at] ?? 0 })),
      samples: downsampled(store.newestSamples(read, selection, SAMPLES_READ).toReversed()),
    };
  }

  /** @returns the number of workstations that report each revision, by its id */
  *onRevisions(organizationId: string): Steps<ReadonlyMap<string, number>> {
    const { read } = this.dependencies.db;
    const countsIn = store.revisionCounts(read, organizationId);
    const sums = new Map<string, number>();
    yield* overSpans({ placeAhead: reportPlaces(read, organizationId) }, (span) => {
      for (const { revisionId, clients } of countsIn(span))
        if (revisionId !== null) sums.set(revisionId, (sums.get(revisionId) ?? 0) + clients);
      return true;
    });
    return sums;
  }

  /** @returns whether a sample of the current revision is due */
  isDue({
    id,
    organizationId,
    createdAtMs,
  }: Pick<Revision, "id" | "organizationId" | "createdAtMs">): boolean {
    const nowMs = this.dependencies.clock.nowMs();
    const ageMs = nowMs - createdAtMs;
    if (ageMs > SAMPLE_DAYS_MAX * DAY_MS) return false;
    if (ageMs <= FREQUENT_MS) return true;
    const lastMs = store.lastSampledMs(this.dependencies.db.read, { organizationId, revisionId: id });
    return lastMs === null || nowMs - lastMs >= HOUR_MS;
  }

  /** Stores counts of the current revision. */
  async sample(
    { id, organizationId }: Pick<Revision, "id" | "organizationId">,
    { current, outdated, attention }: HealthCounts,
  ): Promise<void> {
    const counts = { current, outdated, attention };
    const sample = {
      organizationId,
      revisionId: id,
      sampledAtMs: this.dependencies.clock.nowMs(),
      ...counts,
    };
    await this.dependencies.db.writeInBackground((tx) => store.addSample(tx, sample), "unobserved");
  }

  /** Removes samples that are older than SAMPLE_DAYS_MAX. @returns how many */
  async forget(signal: AbortSignal): Promise<number> {
    const beforeMs = this.dependencies.clock.nowMs() - SAMPLE_DAYS_MAX * DAY_MS;
    const limit = SAMPLES_REMOVED_AT_ONCE;
    const batch = () =>
      this.dependencies.db.writeInBackground((tx) => store.removeSamples(tx, beforeMs, limit), "unobserved");
    return await runInBatches(batch, { limit, signal });
  }
}

interface Unseen {
  times: readonly number[];
  /** number of records of the span */
  all: number;
  countIn(span: Span): number[];
}

/** Counts only spans around one of the times, because reports are read from newest to oldest. */
function unseenOf(span: Span, { times, all, countIn }: Unseen): readonly number[] {
  const { after, upTo } = span;
  if (upTo && times.every((timeMs) => Number(upTo.first) >= timeMs)) return times.map(() => 0);
  if (after && times.every((timeMs) => Number(after.first) < timeMs)) return times.map(() => all);
  return countIn(span);
}

const none = (): Record<Health, number> => ({ current: 0, outdated: 0, attention: 0 });

class RolloutTally {
  readonly #all = none();
  readonly #harnesses = new Map<string, Record<Health, number>>();
  readonly #versions = new Map<string, Record<Health, number>>();
  readonly #refusals = new Map<string, Refusal>();

  /** @returns the sum of the kinds */
  add(kinds: readonly store.RolloutKind[]): HealthCounts {
    const sum = none();
    for (const { clientVersion, harnesses, clients, current, attention } of kinds) {
      const counts = { current, attention, outdated: clients - current - attention };
      const names: string[] = JSON.parse(harnesses);
      addTo(sum, counts);
      addTo(sumIn(this.#versions, clientVersion), counts);
      for (const name of names) addTo(sumIn(this.#harnesses, name), counts);
    }
    addTo(this.#all, sum);
    return sum;
  }

  refuse({ reasons, clients, id, hostname }: store.RefusalKind): void {
    for (const reason of firstReasons(reasons)) {
      const known = this.#refusals.get(reason);
      const example = known?.example ?? { id, hostname };
      this.#refusals.set(reason, { reason, example, clients: (known?.clients ?? 0) + clients });
    }
  }

  result() {
    const refusals = [...this.#refusals.values()].sort((one, other) => other.clients - one.clients);
    return {
      workstations: this.#all,
      harnesses: mostFrequent(this.#harnesses),
      clientVersions: mostFrequent(this.#versions),
      refusals: refusals.slice(0, REFUSALS_MAX),
      moreRefusals: Math.max(0, refusals.length - REFUSALS_MAX),
    };
  }
}

function addTo(sum: Record<Health, number>, counts: HealthCounts): void {
  for (const health of HEALTHS) sum[health] += counts[health];
}

function sumIn(sums: Map<string, Record<Health, number>>, key: string): Record<Health, number> {
  const known = sums.get(key) ?? none();
  sums.set(key, known);
  return known;
}

const mostFrequent = (sums: ReadonlyMap<string, HealthCounts>): ReadonlyMap<string, HealthCounts> =>
  new Map([...sums].sort(([, one], [, other]) => sumOf(other) - sumOf(one)).slice(0, GROUPS_MAX));

const sumOf = (counts: HealthCounts): number => HEALTHS.reduce((sum, health) => sum + counts[health], 0);

/** @param list the beginning of a JSON list of texts @returns its first complete texts */
const firstReasons = (list: string): string[] =>
  [...list.matchAll(/"(?:[^"\\]|\\.)*"/g)].slice(0, REASONS_EACH).map(([text]) => String(JSON.parse(text)));

/** Keeps the first and the last sample. */
function downsampled(samples: readonly store.RolloutSample[]): readonly store.RolloutSample[] {
  if (samples.length <= POINTS_MAX) return samples;
  const step = (samples.length - 1) / (POINTS_MAX - 1);
  return Array.from({ length: POINTS_MAX }, (_, at) => samples[Math.round(at * step)]).flatMap(
    (one) => one ?? [],
  );
}
