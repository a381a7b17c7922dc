// Types and helpers for erasing a person's data. Each area erases its own rows; domain/erasure coordinates them.
import type { Sealing } from "../../platform/crypto/sealing.ts";
import type { Tx } from "../../platform/database/database.ts";
import type { Actor } from "./actor.ts";

/** The identifiers of a person in the rows of all areas. */
export interface Person {
  organizationId: string;
  /** undefined if only an address is known, for example from an invitation that was never accepted */
  userId: string | undefined;
  /** folded current and former addresses, without those of other users */
  addresses: readonly string[];
  /** names that an identity provider gave the person; another person may have the same name now */
  userNames: readonly string[];
  /** replaces the person in the audit log */
  pseudonym: string;
}

/** Number of rows of each kind that were removed or changed, by a plural name: `login_sessions`. */
export type ErasedRows = Readonly<Record<string, number>>;

interface Erasing {
  /** the actor of the erasure */
  actor: Actor;
  person: Person;
  nowMs: number;
}

/** Erases the rows of one area about a person, in the transaction of the whole erasure. */
export type ErasePersonalData = (tx: Tx, erasing: Erasing) => ErasedRows;

/** Personal data outside the database, which is erased before the transaction, so that a repeated erasure continues. */
export interface OutsideData {
  /** @returns what `erase` would remove */
  count(person: Person): ErasedRows;
  erase(person: Person): ErasedRows;
}

const PURPOSE = "pseudonym";
const PSEUDONYM_DIGITS = 16;

/** Prefix of every pseudonym. */
const PSEUDONYM_MARK = "erased-";

/**
 * @param subject id of a user, or a folded address
 * @returns the same text for the same subject under one sealing key, without which the subject cannot be identified
 */
export function pseudonymOf(sealing: Pick<Sealing, "mac">, subject: string): string {
  const mac = Buffer.from(sealing.mac(subject, PURPOSE), "base64url").toString("hex");
  return PSEUDONYM_MARK + mac.slice(0, PSEUDONYM_DIGITS);
}

/**
 * Finds addresses in any letter case. An address within a longer one belongs to another person. A number may follow an address,
 * as in the names of gateway keys.
 * @returns a function that replaces each address in a text with the pseudonym
 */
export function replaceAddresses({
  addresses,
  pseudonym,
}: Pick<Person, "addresses" | "pseudonym">): (text: string) => string {
  if (addresses.length === 0) return (text) => text;
  const either = addresses.map(RegExp.escape).join("|");
  const before = "(?<![\\p{L}\\p{M}\\p{N}.+_-])";
  const behind = "(?![\\p{L}\\p{M}\\p{N}]|[.-]\\p{L})";
  const mention = new RegExp(`${before}(?:${either})${behind}`, "giu");
  return (text) => text.replace(mention, pseudonym);
}
