// Abuse limits: how often something may be tried in a window. Counters are rows, so they survive a restart and the
// command line shares them; their subjects are hashed, so the table holds no address and no e-mail.
import { MINUTE_MS, SECOND_MS } from "../../../platform/clock.ts";
import type { Connection, Tx } from "../../../platform/database/database.ts";
import { DomainError } from "../../../platform/errors.ts";
import { sha256Hex } from "../../../platform/ids.ts";
import * as store from "./budgets-store.ts";

/** Whose attempts, of what kind. */
export interface BudgetKey {
  /** the kind of attempt: `password.account` */
  name: string;
  /** who is counted: an e-mail key, a user id, a `countedAddress` */
  subject: string;
  /** tells counters of one subject apart that `clearAll` forgets together */
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
 * Refuses when the budget is used up. Only reads: call it with `db.read` before `spend`, and a flood writes nothing.
 * @throws DomainError `access.too_many_attempts` with the seconds until the window ends
 */
export function check(connection: Connection, budget: Budget): void {
  refuseSpent(openWindow(connection, keyOf(budget), budget), budget);
}

/**
 * Counts one attempt in each budget before its outcome is known, so that attempts at the same moment cannot pass together.
 * @throws DomainError `access.too_many_attempts`; the transaction then counts nothing
 */
export function spend(tx: Tx, ...attempts: readonly Budget[]): void {
  for (const budget of attempts) {
    const key = keyOf(budget);
    const { limit, nowMs } = budget;
    const latestMs = latestEndMs(budget);
    if (store.increment(tx, { ...key, limit, nowMs, latestMs })) continue;
    refuseSpent(openWindow(tx, key, budget), budget);
    store.put(tx, { ...key, used: 1, resetsAtMs: latestMs });
  }
}

/** Forgets every attempt: a success proves that the subject is who it claims to be. */
export function clear(tx: Tx, key: BudgetKey): void {
  store.remove(tx, keyOf(key));
}

/** Forgets every attempt of a subject in all its parts. @returns how many counters of these were still open */
export const clearAll = (tx: Tx, key: Omit<BudgetKey, "part">, nowMs: number): number =>
  store.removeParts(tx, keyOf(key)).filter(({ resetsAtMs }) => nowMs < resetsAtMs).length;

/** Gives one attempt back in each budget: it was none, or succeeded and proves nothing about the others there. */
export function refund(tx: Tx, ...attempts: readonly BudgetKey[]): void {
  for (const key of attempts) {
    const row = store.find(tx, keyOf(key));
    if (row && row.used > 0) store.put(tx, { ...row, used: row.used - 1 });
  }
}

/** Removes counters whose window is over. @returns how many, SWEEP_BATCH_ROWS at most */
export const sweep = (tx: Tx, nowMs: number): number => store.removeExpired(tx, nowMs);

/** As rows are found: the parts of a subject lie behind it. */
const keyOf = ({ name, subject, part }: BudgetKey): BudgetKey => {
  const whole = digestOf(`${name}\0${subject}`);
  return { name, subject: part === undefined ? whole : `${whole}.${digestOf(part)}` };
};

const digestOf = (text: string): string => sha256Hex(text).slice(0, SUBJECT_DIGITS);

/** @returns the counter, unless its window is over, or ends later than one can: then the clock went back */
function openWindow(
  connection: Connection,
  key: BudgetKey,
  window: Pick<Budget, "nowMs" | "windowSeconds">,
): store.BudgetRow | undefined {
  const row = store.find(connection, key);
  if (!row || row.resetsAtMs <= window.nowMs) return undefined;
  return row.resetsAtMs <= latestEndMs(window) ? row : undefined;
}

/** @returns when a window ends that begins now */
const latestEndMs = ({ nowMs, windowSeconds }: Pick<Budget, "nowMs" | "windowSeconds">): number =>
  nowMs + windowSeconds * SECOND_MS;

function refuseSpent(row: store.BudgetRow | undefined, { name, limit, windowSeconds, nowMs }: Budget): void {
  if (!row || row.used < limit) return;
  const retryAfterSeconds = Math.ceil((row.resetsAtMs - nowMs) / SECOND_MS);
  const budget = { name, limit, windowSeconds };
  const minutes = Math.ceil(retryAfterSeconds / SECONDS_PER_MINUTE);
  const text = `too many attempts; try again in ${minutes === 1 ? "1 minute" : `${minutes} minutes`}`;
  throw new DomainError("too_many", "access.too_many_attempts", text, { retryAfterSeconds, budget });
}
