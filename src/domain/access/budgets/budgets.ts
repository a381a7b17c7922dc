// Rate limits against abuse: how many attempts a window allows. Counters are rows, so they survive a restart and all processes
// share them. Subjects are hashed, so the table contains no address and no e-mail.
import { MINUTE_MS, SECOND_MS } from "../../../platform/clock.ts";
import { countText } from "../../../platform/count-text.ts";
import type { Connection, Tx } from "../../../platform/database/database.ts";
import { DomainError } from "../../../platform/errors.ts";
import { sha256Hex } from "../../../platform/ids.ts";
import * as store from "./budgets-store.ts";

/** What is counted, and for whom. */
export interface BudgetKey {
  /** the kind of attempt: `password.account` */
  name: string;
  /** an e-mail key, a user id, or a `countedAddress` */
  subject: string;
  /** separates counters of one subject that `clearAll` removes together */
  part?: string;
}

export interface Budget extends BudgetKey {
  /** attempts that one window allows */
  limit: number;
  /** counted from the first attempt */
  windowSeconds: number;
  nowMs: number;
}

/** Hexadecimal digits kept of a subject's SHA-256: 128 bits, so that no two subjects share a counter. */
const SUBJECT_DIGITS = 32;
const SECONDS_PER_MINUTE = MINUTE_MS / SECOND_MS;

/**
 * Throws if the budget is used up. Call it with `db.read` before `consumeBudget`, so that a flood of attempts writes nothing.
 * @throws DomainError `access.too_many_attempts` with the seconds until the window ends
 */
export function check(connection: Connection, budget: Budget): void {
  refuseSpent(openWindow(connection, keyOf(budget), budget), budget);
}

/**
 * Counts one attempt in each budget before its outcome is known, so that concurrent attempts cannot all pass.
 * @throws DomainError `access.too_many_attempts`; the transaction then counts nothing
 */
export function consumeBudget(tx: Tx, ...attempts: readonly Budget[]): void {
  for (const budget of attempts) {
    const key = keyOf(budget);
    const { limit, nowMs } = budget;
    const latestMs = latestEndMs(budget);
    if (store.increment(tx, { ...key, limit, nowMs, latestMs })) continue;
    refuseSpent(openWindow(tx, key, budget), budget);
    store.put(tx, { ...key, used: 1, resetsAtMs: latestMs });
  }
}

/** Removes every attempt, because a success proves that the subject is genuine. */
export function clear(tx: Tx, key: BudgetKey): void {
  store.remove(tx, keyOf(key));
}

/** Removes every attempt of a subject in all its parts. @returns the number of these counters that were still open */
export const clearAll = (tx: Tx, key: Omit<BudgetKey, "part">, nowMs: number): number =>
  store.removeParts(tx, keyOf(key)).filter(({ resetsAtMs }) => nowMs < resetsAtMs).length;

/** Refunds one attempt to each budget, because it was not a real attempt or its success proves nothing about the other attempts. */
export function refund(tx: Tx, ...attempts: readonly BudgetKey[]): void {
  for (const key of attempts) {
    const row = store.find(tx, keyOf(key));
    if (row && row.used > 0) store.put(tx, { ...row, used: row.used - 1 });
  }
}

/** Removes expired counters. @returns how many, SWEEP_BATCH_ROWS at most */
export const sweep = (tx: Tx, nowMs: number): number => store.removeExpired(tx, nowMs);

/** The stored key: the part is appended to the subject. */
const keyOf = ({ name, subject, part }: BudgetKey): BudgetKey => {
  const whole = digestOf(`${name}\0${subject}`);
  return { name, subject: part === undefined ? whole : `${whole}.${digestOf(part)}` };
};

const digestOf = (text: string): string => sha256Hex(text).slice(0, SUBJECT_DIGITS);

/**
 * @returns the counter if its window is open; undefined also if the window ends later than possible because the clock was set back
 */
function openWindow(
  connection: Connection,
  key: BudgetKey,
  window: Pick<Budget, "nowMs" | "windowSeconds">,
): store.BudgetRow | undefined {
  const row = store.find(connection, key);
  if (!row || row.resetsAtMs <= window.nowMs) return undefined;
  return row.resetsAtMs <= latestEndMs(window) ? row : undefined;
}

/** @returns the end of a window that begins now */
const latestEndMs = ({ nowMs, windowSeconds }: Pick<Budget, "nowMs" | "windowSeconds">): number =>
  nowMs + windowSeconds * SECOND_MS;

function refuseSpent(row: store.BudgetRow | undefined, { name, limit, windowSeconds, nowMs }: Budget): void {
  if (!row || row.used < limit) return;
  const retryAfterSeconds = Math.ceil((row.resetsAtMs - nowMs) / SECOND_MS);
  const budget = { name, limit, windowSeconds };
  const minutes = Math.ceil(retryAfterSeconds / SECONDS_PER_MINUTE);
  const text = `too many attempts; try again in ${countText(minutes, "minute")}`;
  throw new DomainError("too_many", "access.too_many_attempts", text, { retryAfterSeconds, budget });
}
