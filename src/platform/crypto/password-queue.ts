// The queue in front of password hashing. A hash holds a core and much memory, so few run at once. A browser that has signed in
// to its account before goes first. Of the others, one account and one address get one place at a time, and what waited for
// neither goes before what did: a flood of guesses delays its own accounts and addresses and hardly anybody else.
import { DomainError } from "../errors.ts";

/** On whose behalf a password is checked. Accounts that do not exist are treated as those that do. */
export interface HashRequester {
  account: string;
  /** null where there is none: then only the account counts */
  address: string | null;
  /** whether the browser has signed in to the account before: guesses from elsewhere neither delay it nor take its place */
  isKnown: boolean;
}

/** Work that waits for its turn, unless there is a place at once. Without an asker it is taken for that of a known browser. */
export type Queued = <T>(work: () => Promise<T>, asker?: HashRequester) => Promise<T>;

export const PASSWORD_HASHES_MAX = 2;
/** Waiting checks: of known browsers altogether and as many of others, of one account, and of one address. */
export const PASSWORD_QUEUE_MAX = 64;
export const PASSWORD_QUEUE_PER_ACCOUNT_MAX = 4;
export const PASSWORD_QUEUE_PER_ADDRESS_MAX = 16;
/** Checks of known browsers that go before one that waits: whoever owns such browsers cannot keep all others out. */
export const PASSWORD_KNOWN_IN_A_ROW_MAX = 4;
const BUSY_RETRY_SECONDS = 5;

/** A name that only one running piece of work may have, and how many may wait for it. */
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
 * @returns a queue of its own; one per process
 * @throws (from the queue) DomainError when too many wait already: `passwords.crowded` of the account or address,
 *   `passwords.busy` altogether
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

/** Known browsers of one account share a place. Their address does not count: a whole office may have the same one. */
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
  /** names of what runs and of what is ready */
  readonly #claimed = new Set<string>();
  /** waits for nothing but a place, in the order in which it came to that */
  readonly #ready: Job[] = [];
  /** waits for other work with the same account or address, in order of arrival */
  readonly #blocked: Job[] = [];
  /** checks of known browsers that went before one that waited */
  #inARow = 0;

  /** Resolves when the work may run. A place is handed on, so a newcomer cannot slip in before those who wait. */
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

  /** @returns whether nothing that runs or is ready has one of the names; then they are taken */
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

/** The caller's own account or address is the reason, so it is no failure of the service. */
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
