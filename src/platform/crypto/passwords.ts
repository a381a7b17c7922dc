// Password hashing: argon2id with fixed cost, a bounded number at once, and the same work for an account that does
// not exist as for one that does. How long a password must be is for identity.
import { DomainError } from "../../domain/errors.ts";
import type { Secret } from "../secret.ts";

export interface Passwords {
  /** @returns the argon2id hash in PHC form */
  hash(password: Secret): Promise<string>;
  /** @param hash of the account; without one the same time is spent and the answer is false */
  verify(password: Secret, hash: string | null | undefined): Promise<boolean>;
}

export interface PasswordCost {
  memoryKib: number;
  passes: number;
}

export interface PasswordOptions {
  cost?: PasswordCost;
}

/** Above the OWASP minimum for argon2id; about 0.1 s of one core. */
export const PASSWORD_COST: PasswordCost = { memoryKib: 65_536, passes: 2 };
/** Each hash holds its memory and a core, so few run at once and only so many wait. */
export const PASSWORD_HASHES_MAX = 2;
export const PASSWORD_QUEUE_MAX = 64;
const BUSY_RETRY_SECONDS = 5;

/**
 * @returns hashing with its own queue; one per process
 * @throws (from its methods) DomainError `passwords.busy` when the queue is full
 */
export function createPasswords({ cost = PASSWORD_COST }: PasswordOptions = {}): Passwords {
  const limited = limiter();
  const absent = unmatchableHash(cost);
  const parameters = { algorithm: "argon2id", memoryCost: cost.memoryKib, timeCost: cost.passes } as const;
  return {
    hash: (password) => limited(() => Bun.password.hash(normalized(password), parameters)),
    verify: (password, hash) => limited(() => Bun.password.verify(normalized(password), hash ?? absent)),
  };
}

/** The same characters typed on two systems may arrive as different code points (NIST SP 800-63B section 5.1.1.2). */
const normalized = (password: Secret): string => password.reveal().normalize("NFKC");

/** A well-formed hash of zero bytes: verifying against it costs what a real one costs. */
function unmatchableHash({ memoryKib, passes }: PasswordCost): string {
  const zeros = Buffer.alloc(32).toString("base64").replace("=", "");
  return `$argon2id$v=19$m=${memoryKib},t=${passes},p=1$${zeros}$${zeros}`;
}

/** @returns runs work at once up to PASSWORD_HASHES_MAX, the rest in order of arrival */
export function limiter(): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (waiting.length >= PASSWORD_QUEUE_MAX) throw busy();
    // The one that finishes hands its place on, so a newcomer cannot slip in between.
    if (running >= PASSWORD_HASHES_MAX) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

function busy(): DomainError {
  return new DomainError("unavailable", "passwords.busy", "too many sign-ins at this moment; try again", {
    retryAfterSeconds: BUSY_RETRY_SECONDS,
  });
}
