// The queue in front of password hashing. A hash holds a core and much memory, so few run at once. One account and one
// address get one of these places at a time, and addresses take turns: a flood of guesses delays its own account and address
// and hardly anybody else.
import { DomainError } from "../../domain/errors.ts";

/** On whose behalf a password is checked. Accounts that do not exist are treated as those that do. */
export interface Asker {
  account: string;
  /** null where there is none: then only the account counts */
  address: string | null;
}

/** Work that waits for its turn, unless there is a place at once. */
export type Queued = <T>(work: () => Promise<T>, asker?: Asker) => Promise<T>;

export const PASSWORD_HASHES_MAX = 2;
/** Waiting checks altogether, of one account, and of one address. */
export const PASSWORD_QUEUE_MAX = 64;
export const PASSWORD_QUEUE_PER_ACCOUNT_MAX = 4;
export const PASSWORD_QUEUE_PER_ADDRESS_MAX = 16;
const BUSY_RETRY_SECONDS = 5;

/** A name that only one running piece of work may have, and how many may wait for it. */
interface Claim {
  name: string;
  waitingMax: number;
}

interface Job {
  claims: readonly Claim[];
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
    await queue.turn(claims);
    try {
      return await work();
    } finally {
      queue.finish(claims);
    }
  };
}

/** The address comes last: it is what takes turns where there is one. */
const claimsOf = (asker: Asker | undefined): Claim[] =>
  asker === undefined
    ? []
    : [
        { name: `account ${asker.account}`, waitingMax: PASSWORD_QUEUE_PER_ACCOUNT_MAX },
        ...(asker.address === null
          ? []
          : [{ name: `address ${asker.address}`, waitingMax: PASSWORD_QUEUE_PER_ADDRESS_MAX }]),
      ];

class PasswordQueue {
  #running = 0;
  readonly #claimed = new Set<string>();
  readonly #waiting: Job[] = [];
  /** what had its turn, the latest last; only what still waits is kept */
  readonly #served = new Set<string>();

  /** Resolves when the work may run. A place is handed on, so a newcomer cannot slip in before those who wait. */
  turn(claims: readonly Claim[]): Promise<void> {
    if (this.#canRun(claims)) {
      this.#begin(claims);
      return Promise.resolve();
    }
    this.#refuseFull(claims);
    return new Promise((resolve) => this.#waiting.push({ claims, start: resolve }));
  }

  finish(claims: readonly Claim[]): void {
    this.#running -= 1;
    for (const { name } of claims) this.#claimed.delete(name);
    for (let next = this.#takeNext(); next; next = this.#takeNext()) {
      this.#begin(next.claims);
      next.start();
    }
  }

  #begin(claims: readonly Claim[]): void {
    this.#running += 1;
    for (const { name } of claims) this.#claimed.add(name);
  }

  #canRun(claims: readonly Claim[]): boolean {
    return this.#running < PASSWORD_HASHES_MAX && claims.every(({ name }) => !this.#claimed.has(name));
  }

  /** The first of those whose address was served longest ago. */
  #takeNext(): Job | undefined {
    const ready = this.#waiting.filter(({ claims }) => this.#canRun(claims));
    const order = [...this.#served];
    const rank = (job: Job): number => order.indexOf(turnOf(job));
    const [next] = ready.sort((one, other) => rank(one) - rank(other));
    if (!next) return undefined;
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    this.#remember(next);
    return next;
  }

  #remember(job: Job): void {
    const turn = turnOf(job);
    this.#served.delete(turn);
    this.#served.add(turn);
    const present = new Set(this.#waiting.map(turnOf));
    for (const name of this.#served) if (!present.has(name)) this.#served.delete(name);
  }

  #refuseFull(claims: readonly Claim[]): void {
    const isFull = ({ name, waitingMax }: Claim): boolean => {
      const same = this.#waiting.filter((job) => job.claims.some((claim) => claim.name === name));
      return same.length >= waitingMax;
    };
    if (this.#waiting.length >= PASSWORD_QUEUE_MAX) throw busy();
    if (claims.some(isFull)) throw crowded();
  }
}

const turnOf = ({ claims }: Job): string => claims.at(-1)?.name ?? "";

/** The caller's own account or address is the reason, so it is no failure of the service. */
const crowded = (): DomainError =>
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
