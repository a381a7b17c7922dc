// Daily sums of usage: their values, their keys, and their retention.
import { DAY_MS, toRfc3339 } from "../../../platform/clock.ts";

export const USAGE_DAYS_KEPT = 400;
/**
 * Maximum number of pairs of model and agent with separate sums, for one user in a day. Both names come from the workstation,
 * which must not be able to add rows without limit. Further pairs count as OTHER.
 */
export const PAIRS_PER_USER_MAX = 50;
export const OTHER = "(other)";
/** Maximum number of entries of one report. */
export const ENTRIES_MAX = 1_000;

/** Requests exclude refused ones. The other values come from the upstream. */
export interface Sums {
  requests: number;
  refused: number;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  /** US dollars */
  cost: number;
}

export const NO_SUMS: Readonly<Sums> = {
  requests: 0,
  refused: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cost: 0,
};

/** The key of a sum. */
export interface UsageKey {
  /** days since 1970-01-01 in UTC */
  day: number;
  organizationId: string;
  userId: string;
  /** empty if unknown */
  model: string;
  /** empty if unknown */
  harness: string;
}

export type UsageDelta = UsageKey & Sums;

/** Sums from another process, with an id that is used once. */
export interface UsageBatch {
  batch: string;
  deltas: readonly UsageDelta[];
}

export const GROUPS = ["user", "model", "harness", "day"] as const;
export type Group = (typeof GROUPS)[number];

export interface UsageEntry extends Sums {
  /** id of the user, name of the model or agent, or day; null for an unknown model or agent */
  key: string | null;
  /** with the group `user` */
  userEmail?: string;
}

/** Adds to the sums in place. */
export function addSums(sums: Sums, more: Sums): void {
  sums.requests += more.requests;
  sums.refused += more.refused;
  sums.inputTokens += more.inputTokens;
  sums.outputTokens += more.outputTokens;
  sums.cacheReadTokens += more.cacheReadTokens;
  sums.cacheWriteTokens += more.cacheWriteTokens;
  sums.cost += more.cost;
}

/** @returns days since 1970-01-01 in UTC */
export const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);

/** @returns `2026-01-31` */
export const dayText = (day: number): string => toRfc3339(day * DAY_MS).slice(0, 10);
