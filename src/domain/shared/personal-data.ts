// Whose personal data is erased, and how the areas take part: each one knows its own rows. What belongs to an erasure as a whole
// is domain/erasure's.
import type { Sealing } from "../../platform/crypto/sealing.ts";
import type { Tx } from "../../platform/database/database.ts";
import type { Actor } from "./actor.ts";

/** A person as the rows know it. */
export interface Person {
  organizationId: string;
  /** undefined where only an address is known, such as that of somebody who was invited and never came */
  userId: string | undefined;
  /** folded; those that belong to nobody else, former ones too */
  addresses: readonly string[];
  /** how an identity provider named the person; another person may have the same name by now */
  userNames: readonly string[];
  /** stands for the person from now on */
  pseudonym: string;
}

/** How many rows of each kind were removed or changed, by a name in the plural: `login_sessions`. */
export type ErasedRows = Readonly<Record<string, number>>;

export interface Erasing {
  /** who erases */
  actor: Actor;
  person: Person;
  nowMs: number;
}

/** Erases what one area knows of a person, in the transaction that erases all of it. */
export type ErasePersonalData = (tx: Tx, erasing: Erasing) => ErasedRows;

const PURPOSE = "pseudonym";
const PSEUDONYM_DIGITS = 16;

/** Begins every pseudonym. */
export const PSEUDONYM_MARK = "erased-";

/**
 * @param subject id of a user, or a folded address
 * @returns the same text for the same subject under one sealing key; nobody without that key can tell whose it is
 */
export function pseudonymOf(sealing: Pick<Sealing, "mac">, subject: string): string {
  const mac = Buffer.from(sealing.mac(subject, PURPOSE), "base64url").toString("hex");
  return PSEUDONYM_MARK + mac.slice(0, PSEUDONYM_DIGITS);
}

/**
 * Finds addresses in any case. One within a longer one is another person's; what follows may be a number, as in the names of
 * gateway keys.
 * @returns a function that puts the pseudonym in the place of each address in a text
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
