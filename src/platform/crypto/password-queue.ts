// The queue for password hashing. A hash takes a core and much memory, so few run at a time. A check from a browser that has
// signed in to the account before goes first. Of the others, each account and each address has one check running or ready at a
// time, so that a flood of guesses delays its own accounts and addresses and hardly anybody else.
import { DomainError } from "../errors.ts";

/** The requester of a password check. Accounts that do not exist are treated like existing ones. */
export interface HashRequester {
  account: string;
  /** null without an address: then only the account counts */
  address: string | null;
  /** whether the browser has signed in to the account before; guesses from elsewhere do not delay it */
  isKnown: boolean;
}

/** Runs work when it is its turn, or at once if there is a free place. Without an asker it counts as work of a known browser. */
export type Queued = <T>(work: () => Promise<T>, asker?: HashRequester) => Promise<T>;

export const PASSWORD_HASHES_MAX = 2;
/** Waiting checks at most: of known browsers, and the same number of others; then of one account, and of one address. */
export const PASSWORD_QUEUE_MAX = 64;
export const PASSWORD_QUEUE_PER_ACCOUNT_MAX = 4;
export const PASSWORD_QUEUE_PER_ADDRESS_MAX = 16;
/** Checks of known browsers that may overtake a waiting check, so that known browsers cannot block all others. */
export const PASSWORD_KNOWN_IN_A_ROW_MAX = 4;
const BUSY_RETRY_SECONDS = 5;

/** A name that only one running or ready check may have, and the number of checks that may wait for it. */
interface Claim {
  name: string;
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
  const { account, address, isKnown } = asker;
  const waitingMax = PASSWORD_QUEUE_PER_ACCOUNT_MAX;
  if (isKnown) return [{ name: `known ${account}`, waitingMax }];
  const ofAccount = { name: `account ${account}`, waitingMax };
  if (address === null) return [ofAccount];
  return [ofAccount, { name: `address ${address}`, waitingMax: PASSWORD_QUEUE_PER_ADDRESS_MAX }];
}

class PasswordQueue {
  #running = 0;
  /** names of the running and the ready checks */
  readonly #claimed = new Set<string>();
  /** checks that wait only for a place, in the order in which they became ready */
  readonly #ready: Job[] = [];
  /** checks that wait for another one of the same account or address, in order of arrival */
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
    for (const { name } of claims) this.#claimed.delete(name);
    this.#unblock();
    while (this.#running < PASSWORD_HASHES_MAX) {
      const next = this.#takeNext();
      if (!next) return;
      this.#running += 1;
      next.start();
    }
  }

  /** Takes the names, unless a running or ready check has one of them. @returns whether they were taken */
  #claim(claims: readonly Claim[]): boolean {
    if (claims.some(({ name }) => this.#claimed.has(name))) return false;
    for (const { name } of claims) this.#claimed.add(name);
    return true;
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
    if (waiting.filter((job) => job.isKnown === isKnown).length >= PASSWORD_QUEUE_MAX) throw busy();
    if (claims.some(isFull)) throw queueFull();
  }
}

/** The cause is the account or address of the caller and not the service. */
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
