// What erasure needs of the audit log; domain/audit/redactions.ts is it.
import type { Tx } from "../../platform/database/database.ts";
import type { Actor } from "../shared/actor.ts";
import type { Person } from "../shared/personal-data.ts";

export interface RedactLog {
  /** entries that `redact` takes at most */
  readonly redactedMax: number;
  /** @returns addresses and names of the identity provider that entries of and about a user have */
  namesOf(
    organizationId: string,
    userId: string,
  ): { addresses: Iterable<string>; userNames: Iterable<string> };
  /** @returns ids of the entries that mention the person, and the id of the last that was read */
  mentions(
    person: Person,
    walk: { signal?: AbortSignal; advance?: (entries: number) => void },
  ): Promise<{ ids: readonly number[]; upTo: number }>;
  /** @returns ids of the entries that were recorded since */
  since(tx: Tx, person: Person, upTo: number): number[];
  /** Redacts entries, and records who did so. @returns how many */
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
