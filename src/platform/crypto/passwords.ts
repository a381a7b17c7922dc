// Password hashing: argon2id with fixed cost, in turn (password-queue.ts), and the same work for an account that does not exist
// as for one that does. How long a password must be is for identity.
import type { Secret } from "../secret.ts";
import { createPasswordQueue, type HashRequester } from "./password-queue.ts";

export type { HashRequester } from "./password-queue.ts";

export interface Passwords {
  /** @returns the argon2id hash in PHC form */
  hash(password: Secret): Promise<string>;
  /**
   * @param hash of the account; without one the same time is spent and the answer is false
   * @param asker who takes turns with others; without one the check waits for nobody but the queue
   */
  verify(password: Secret, hash: string | null | undefined, asker?: HashRequester): Promise<boolean>;
}

export interface PasswordCost {
  memoryKib: number;
  passes: number;
}

export interface PasswordOptions {
  cost?: PasswordCost | undefined;
}

/** Above the OWASP minimum for argon2id; about 0.1 s of one core. */
export const PASSWORD_COST: PasswordCost = { memoryKib: 65_536, passes: 2 };

/**
 * @returns hashing with its own queue; one per process
 * @throws (from its methods) DomainError `passwords.busy` when the queue is full
 */
export function createPasswords({ cost = PASSWORD_COST }: PasswordOptions = {}): Passwords {
  const queued = createPasswordQueue();
  const absent = unmatchableHash(cost);
  const parameters = { algorithm: "argon2id", memoryCost: cost.memoryKib, timeCost: cost.passes } as const;
  return {
    hash: (password) => queued(() => Bun.password.hash(normalized(password), parameters)),
    verify: (password, hash, asker) =>
      queued(() => Bun.password.verify(normalized(password), hash ?? absent), asker),
  };
}

/** The same characters typed on two systems may arrive as different code points (NIST SP 800-63B section 5.1.1.2). */
const normalized = (password: Secret): string => password.reveal().normalize("NFKC");

/** A well-formed hash of zero bytes: verifying against it costs what a real one costs. */
function unmatchableHash({ memoryKib, passes }: PasswordCost): string {
  const zeros = Buffer.alloc(32).toString("base64").replace("=", "");
  return `$argon2id$v=19$m=${memoryKib},t=${passes},p=1$${zeros}$${zeros}`;
}
