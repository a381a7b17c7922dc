// The interface of the audit log that erasure needs. domain/audit/redactions.ts implements it.
import type { Tx } from "../../platform/database/database.ts";
import type { Actor } from "../shared/actor.ts";
import type { Person } from "../shared/personal-data.ts";

export interface RedactLog {
  /** maximum number of entries for one call of `redact` */
  readonly redactedMax: number;
  /** @returns the addresses and identity provider names in the entries of and about a user */
  namesOf(
    organizationId: string,
    userId: string,
  ): { addresses: Iterable<string>; userNames: Iterable<string> };
  /** @returns the ids of the entries that mention the person, and the id of the last entry that was read */
  mentions(
    person: Person,
    walk: { signal?: AbortSignal; advance?: (entries: number) => void },
  ): Promise<{ ids: readonly number[]; upTo: number }>;
  /** @returns the ids of the entries after `upTo` that mention the person */
  since(tx: Tx, person: Person, upTo: number): number[];
  /** Redacts entries and records the erasure. @returns the number of redacted entries */
  redact(
    tx: Tx,
    redacting: {
      actor: Actor;
      person: Person;
      ids: readonly number[];
      summary: Readonly<Record<string, number | boolean>>;
    },
  ): number;
}
