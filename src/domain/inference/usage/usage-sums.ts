// Counts the usage and budgets of users in memory, within each request. Every second it writes the sums to the file of the request
// log, so that a crash loses at most a second. The service adds them to the database some seconds later: usage-intake.ts. Counting
// is independent of the request log, so neither its retention nor its loss changes a sum.
import { type Clock, DAY_MS, SECOND_MS } from "../../../platform/clock.ts";
import type { Db } from "../../../platform/database/database.ts";
import type { Budgets, ExceededBudget, RequestRow, UsageCounter } from "../log/record.ts";
import {
  addSums,
  dayOf,
  OTHER,
  PAIRS_PER_USER_MAX,
  type Sums,
  type UsageDelta,
  type UsageKey,
} from "./model.ts";
import * as store from "./store.ts";

/** How long sums wait before they go to the database, whose commits are flushed to the disk and replicated. */
export const COUNT_EVERY_MS = 10 * SECOND_MS;
/** How long sums stay only in memory, if they can be passed on. */
const HAND_OVER_EVERY_MS = SECOND_MS;
/** Number of sums in one transaction, which takes a few milliseconds. */
const FLUSH_ROWS = 500;

/** Per user and day in UTC; 0 for no limit. */
export interface DailyBudgets {
  requestsPerDay: number;
  tokensPerDay: number;
}

export interface UsageSumsOptions {
  db: Db;
  clock: Clock;
  budgets: DailyBudgets;
  /** passes the sums to the service for counting; without it they go to the database */
  handOver?: FlushUsage | undefined;
  /** whether sums that cannot be passed on go to the database; otherwise they are kept and retried */
  isCounter?: boolean | undefined;
  /** called with the reason why sums could not be written; they are kept and retried */
  onFailure?: ((error: unknown) => void) | undefined;
}

/** Rejects if the sums were not stored. */
export type FlushUsage = (deltas: readonly UsageDelta[]) => Promise<void>;

/** The usage of a user today. */
interface Used {
  requests: number;
  tokens: number;
  /** pairs of model and agent that are counted separately */
  pairs: Set<string>;
}

export class UsageSums implements UsageCounter, Budgets {
  /** not written yet, by key */
  #deltas = new Map<string, UsageDelta>();
  #today: number;
  #used = new Map<string, Used>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #flushing: Promise<void> = Promise.resolve();
  /** whether the last write failed; then the next attempt comes later, because each failure is reported */
  #isFailing = false;

  constructor(private readonly options: UsageSumsOptions) {
    this.#today = dayOf(options.clock.nowMs());
  }

  /**
   * Reads what users have used today, so that budgets survive a restart.
   * @param waiting sums of today that are not in the database yet
   */
  load(waiting: readonly UsageDelta[] = []): void {
    this.#used.clear();
    const counted = store.sumsOfDay(this.options.db.read, this.#day());
    for (const { userId, ...sums } of [...counted, ...waiting]) this.#use(userId, sums);
  }

  count(row: RequestRow): void {
    const today = this.#day();
    const delta = this.#deltaOf(row);
    if (delta.day === today) this.#use(delta.userId, delta);
    this.#add(delta);
    this.#wait();
  }

  exceeded(userId: string): ExceededBudget | undefined {
    const { requestsPerDay, tokensPerDay } = this.options.budgets;
    this.#day();
    const used = this.#used.get(userId);
    if (used === undefined) return undefined;
    if (requestsPerDay > 0 && used.requests >= requestsPerDay) return "requests";
    return tokensPerDay > 0 && used.tokens >= tokensPerDay ? "tokens" : undefined;
  }

  retryAfterSeconds(): number {
    return Math.max(1, Math.ceil((DAY_MS - (this.options.clock.nowMs() % DAY_MS)) / SECOND_MS));
  }

  /** Passes the sums on, or adds them to the database; call it once more before closing the database. Never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#flushing = this.#flushing.then(() => this.#write());
    return this.#flushing;
  }

  async #write(): Promise<void> {
    const deltas = [...this.#deltas.values()];
    this.#deltas = new Map();
    while (deltas.length > 0) {
      const part = deltas.slice(0, FLUSH_ROWS);
      try {
        await this.#count(part);
        this.#isFailing = false;
      } catch (error) {
        this.#isFailing = true;
        this.#putBack(deltas);
        this.options.onFailure?.(error);
        return;
      }
      deltas.splice(0, part.length);
    }
  }

  async #count(deltas: readonly UsageDelta[]): Promise<void> {
    const { handOver, isCounter } = this.options;
    if (!handOver) return await this.#store(deltas);
    try {
      await handOver(deltas);
    } catch (error) {
      if (!isCounter) throw error;
      await this.#store(deltas);
    }
  }

  async #store(deltas: readonly UsageDelta[]): Promise<void> {
    const { db } = this.options;
    await db.writeInBackground((tx) => {
      for (const delta of deltas) store.addUsage(tx, delta);
    }, "unobserved");
  }

  #add(delta: UsageDelta): void {
    const key = keyOf(delta);
    const before = this.#deltas.get(key);
    if (before) addSums(before, delta);
    else this.#deltas.set(key, delta);
  }

  #putBack(deltas: readonly UsageDelta[]): void {
    for (const delta of deltas) this.#add(delta);
    this.#wait();
  }

  #wait(): void {
    const isSoon = this.options.handOver && !this.#isFailing;
    const delayMs = isSoon ? HAND_OVER_EVERY_MS : COUNT_EVERY_MS;
    this.#timer ??= setTimeout(() => void this.flush(), delayMs);
  }

  /** Begins a new day after the last one has ended. @returns the current day */
  #day(): number {
    const today = dayOf(this.options.clock.nowMs());
    if (today !== this.#today) this.#used = new Map();
    this.#today = today;
    return today;
  }

  #usedBy(userId: string): Used {
    const used = this.#used.get(userId) ?? { requests: 0, tokens: 0, pairs: new Set() };
    this.#used.set(userId, used);
    return used;
  }

  #use(userId: string, { requests, inputTokens, outputTokens }: Sums): void {
    const used = this.#usedBy(userId);
    used.requests += requests;
    used.tokens += inputTokens + outputTokens;
  }

  #deltaOf(row: RequestRow): UsageDelta {
    const { userId, organizationId, model, harness } = row;
    const isRefused = row.outcome === "refused";
    const isApart = this.#isApart(userId, `${model ?? ""}\n${harness ?? ""}`);
    return {
      day: dayOf(row.occurredAtMs),
      organizationId,
      userId,
      model: isApart ? (model ?? "") : OTHER,
      harness: isApart ? (harness ?? "") : OTHER,
      requests: isRefused ? 0 : 1,
      refused: isRefused ? 1 : 0,
      inputTokens: row.inputTokens ?? 0,
      outputTokens: row.outputTokens ?? 0,
      cacheReadTokens: row.cacheReadTokens ?? 0,
      cacheWriteTokens: row.cacheWriteTokens ?? 0,
      cost: row.upstreamCost ?? 0,
    };
  }

  /** @returns whether a pair of model and agent is counted separately */
  #isApart(userId: string, pair: string): boolean {
    const { pairs } = this.#usedBy(userId);
    if (!pairs.has(pair) && pairs.size < PAIRS_PER_USER_MAX) pairs.add(pair);
    return pairs.has(pair);
  }
}

/** Line breaks are safe separators, because control characters are removed from claims. */
const keyOf = ({ day, userId, model, harness }: UsageKey): string =>
  `${day}\n${userId}\n${model}\n${harness}`;
