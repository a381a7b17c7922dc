// Hashes passwords with argon2id at a fixed cost, in a queue (password-queue.ts). An account that does not exist takes the
// same work as an existing one. The identity area checks the length of passwords.
import type { Secret } from "../secret.ts";
import { createPasswordQueue, type HashRequester } from "./password-queue.ts";

export type { HashRequester } from "./password-queue.ts";

export interface Passwords {
  /** @returns the argon2id hash in PHC form */
  hash(password: Secret): Promise<string>;
  /**
   * @param hash hash of the account; without one the check takes the same time and returns false
   * @param asker requester, which the queue uses for fairness; without one the check counts as one of a known browser
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

/** Above the OWASP minimum for argon2id; takes about 0.1 s of one core. */
export const PASSWORD_COST: PasswordCost = { memoryKib: 65_536, passes: 2 };

/**
 * @returns password hashing with its own queue; use one per process
 * @throws (from its methods) DomainError `passwords.busy`, `passwords.crowded` if the queue is full
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

/** Two systems may send the same typed characters as different code points (NIST SP 800-63B section 5.1.1.2). */
const normalized = (password: Secret): string => password.reveal().normalize("NFKC");

/** @returns a well-formed hash of zero bytes; verifying it takes as long as verifying a real hash */
function unmatchableHash({ memoryKib, passes }: PasswordCost): string {
  const zeros = Buffer.alloc(32).toString("base64").replace("=", "");
  return `$argon2id$v=19$m=${memoryKib},t=${passes},p=1$${zeros}$${zeros}`;
}
