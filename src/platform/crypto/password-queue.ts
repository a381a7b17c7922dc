// The queue for password hashing. A hash takes a core and much memory, so few run at a time. A check from a browser that has signed
// in to the account before goes first. All other checks are limited: each account and each address has one running or ready at a
// time, each network a few. A flood of guesses thus delays little more than its own accounts and addresses.
import { DomainError } from "../errors.ts";

/** The requester of a password check. Accounts that do not exist are treated like existing ones. */
export interface HashRequester {
  account: string;
  /** null without an address; then only the account counts */
  address: string | null;
  /** contains the address; its owner can choose addresses from it */
  network: string | null;
  /** whether the browser has signed in to the account before; guesses from elsewhere do not delay it */
  isKnown: boolean;
}

/** Runs the work when its turn comes. Work without an asker counts as work of a known browser. */
export type Queued = <T>(work: () => Promise<T>, asker?: HashRequester) => Promise<T>;

export const PASSWORD_HASHES_MAX = 2;
/** Maximum of checks that wait only for a place, once for known browsers and once for all others. */
export const PASSWORD_QUEUE_MAX = 64;
/** Maximum of checks that wait for another check of the same account, address or network. They take no place from ready checks. */
export const PASSWORD_BLOCKED_MAX = 512;
/** Maximum of waiting checks per account, per address and per network. */
export const PASSWORD_QUEUE_PER_ACCOUNT_MAX = 4;
export const PASSWORD_QUEUE_PER_ADDRESS_MAX = 16;
export const PASSWORD_QUEUE_PER_NETWORK_MAX = 64;
/** Maximum of running and ready checks per network, so that one network cannot fill the queue. */
export const PASSWORD_READY_PER_NETWORK_MAX = 8;
/** How many checks of known browsers may overtake a waiting check, so that known browsers cannot block all others. */
export const PASSWORD_KNOWN_IN_A_ROW_MAX = 4;
const BUSY_RETRY_SECONDS = 5;

/** A name with limits: how many running and ready checks may hold it, and how many may wait for it. */
interface Claim {
  name: string;
  readyMax: number;
  waitingMax: number;
}

interface Job {
  claims: readonly Claim[];
  isKnown: boolean;
  start(): void;
}

/**
 * @returns a new queue; use one per process
 * @throws (from the queue) DomainError if too many checks wait: `passwords.crowded` for the account or address,
 *   `passwords.busy` in total
 */
export function createPasswordQueue(): Queued {
  const queue = new PasswordQueue();
  return async (work, asker) => {
    const claims = claimsOf(asker);
    await queue.turn(claims, asker?.isKnown ?? true);
    try {
      return await work();
    } finally {
      queue.finish(claims);
    }
  };
}

/** Known browsers of one account share a place. Their address does not count, because a whole office may share one. */
function claimsOf(asker: HashRequester | undefined): Claim[] {
  if (asker === undefined) return [];
  const { account, address, network, isKnown } = asker;
  const one = { readyMax: 1, waitingMax: PASSWORD_QUEUE_PER_ACCOUNT_MAX };
  if (isKnown) return [{ ...one, name: `known ${account}` }];
  const ofNetwork = { readyMax: PASSWORD_READY_PER_NETWORK_MAX, waitingMax: PASSWORD_QUEUE_PER_NETWORK_MAX };
  return [
    { ...one, name: `account ${account}` },
    ...(address === null
      ? []
      : [{ ...one, name: `address ${address}`, waitingMax: PASSWORD_QUEUE_PER_ADDRESS_MAX }]),
    ...(network === null ? [] : [{ ...ofNetwork, name: `network ${network}` }]),
  ];
}

class PasswordQueue {
  #running = 0;
  /** number of running and ready checks, by name */
  readonly #claimed = new Map<string, number>();
  /** checks that wait only for a place, in the order in which they became ready */
  readonly #ready: Job[] = [];
  /** checks that wait for another one of the same account, address or network, in order of arrival */
  readonly #blocked: Job[] = [];
  /** checks of known browsers that have overtaken a waiting check */
  #inARow = 0;

  /** Resolves when the work may run. `finish` passes a place on, so that a new check cannot overtake the waiting ones. */
  turn(claims: readonly Claim[], isKnown: boolean): Promise<void> {
    if (this.#running < PASSWORD_HASHES_MAX && this.#claim(claims)) {
      this.#running += 1;
      return Promise.resolve();
    }
    this.#refuseFull(claims, isKnown);
    return new Promise((start) => {
      const job = { claims, isKnown, start };
      (this.#claim(claims) ? this.#ready : this.#blocked).push(job);
    });
  }

  finish(claims: readonly Claim[]): void {
    this.#running -= 1;
    for (const { name } of claims) this.#release(name);
    this.#unblock();
    while (this.#running < PASSWORD_HASHES_MAX) {
      const next = this.#takeNext();
      if (!next) return;
      this.#running += 1;
      next.start();
    }
  }

  /** Takes the names, unless one of them is at its limit. @returns whether they were taken */
  #claim(claims: readonly Claim[]): boolean {
    if (!this.#mayClaim(claims)) return false;
    for (const { name } of claims) this.#claimed.set(name, (this.#claimed.get(name) ?? 0) + 1);
    return true;
  }

  #mayClaim(claims: readonly Claim[]): boolean {
    return claims.every(({ name, readyMax }) => (this.#claimed.get(name) ?? 0) < readyMax);
  }

  #release(name: string): void {
    const left = (this.#claimed.get(name) ?? 0) - 1;
    if (left > 0) this.#claimed.set(name, left);
    else this.#claimed.delete(name);
  }

  #unblock(): void {
    for (const job of [...this.#blocked]) {
      if (!this.#claim(job.claims)) continue;
      this.#blocked.splice(this.#blocked.indexOf(job), 1);
      this.#ready.push(job);
    }
  }

  #takeNext(): Job | undefined {
    const known = this.#ready.findIndex(({ isKnown }) => isKnown);
    const other = this.#ready.findIndex(({ isKnown }) => !isKnown);
    const isOthersTurn = known < 0 || (other >= 0 && this.#inARow >= PASSWORD_KNOWN_IN_A_ROW_MAX);
    this.#inARow = isOthersTurn || other < 0 ? 0 : this.#inARow + 1;
    const at = isOthersTurn ? other : known;
    return at < 0 ? undefined : this.#ready.splice(at, 1)[0];
  }

  #refuseFull(claims: readonly Claim[], isKnown: boolean): void {
    const waiting = [...this.#ready, ...this.#blocked];
    const isFull = ({ name, waitingMax }: Claim): boolean =>
      waiting.filter((job) => job.claims.some((claim) => claim.name === name)).length >= waitingMax;
    if (claims.some(isFull)) throw queueFull();
    const isReady = this.#mayClaim(claims);
    const [line, max] = isReady
      ? [this.#ready.filter((job) => job.isKnown === isKnown), PASSWORD_QUEUE_MAX]
      : [this.#blocked, PASSWORD_BLOCKED_MAX];
    if (line.length >= max) throw busy();
  }
}

/** The caller's account or address is the cause, not the service. */
const queueFull = (): DomainError =>
  new DomainError(
    "too_many",
    "passwords.crowded",
    "too many sign-ins to this account or from this address at this moment; try again",
    { retryAfterSeconds: BUSY_RETRY_SECONDS },
  );

const busy = (): DomainError =>
  new DomainError("unavailable", "passwords.busy", "too many sign-ins at this moment; try again", {
    retryAfterSeconds: BUSY_RETRY_SECONDS,
  });
