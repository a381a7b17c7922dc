// The sealed secrets of an area, for replacing the sealing key (system/sealing-keys.ts): counts them by key, and seals them again.
// Each area handles its own rows. The private keys of signing key rings share code.
import type { Sealing } from "../../platform/crypto/sealing.ts";
import type { Connection, Topic, Tx } from "../../platform/database/database.ts";
import { DomainError } from "../../platform/errors.ts";
import type { SigningKeyStore } from "./signing-keys/signing-key-store.ts";
import type { SigningKeyRow } from "./signing-keys/signing-key-tables.ts";

export interface SealedSecrets {
  /** their name in lists and in the audit log: `gateway_keys` */
  readonly noun: string;
  /** topic of writes to them */
  readonly topic: Topic;
  /** @returns the number of secrets under each sealing key, by the id of the key */
  count(connection: Connection): ReadonlyMap<string, number>;
  /** Seals up to `limit` secrets of one sealing key again, under the active one. */
  rewrap(tx: Tx, part: RewrapPart): RewrapStep;
}

export interface RewrapPart {
  /** id of the sealing key that sealed them */
  from: string;
  /** `next` of the previous step; undefined for the first */
  after: string | undefined;
  /** number of secrets that one step reads */
  limit: number;
}

interface RewrapStep {
  rewrapped: number;
  /** number of secrets left unchanged because they cannot be opened */
  unreadable: number;
  /** undefined at the end */
  next: string | undefined;
}

/**
 * @param context identifies the row that the secret belongs to
 * @returns the secret, sealed under the active key; undefined if it cannot be opened
 */
function rewrapSecret(sealing: Sealing, sealed: string, context: string): string | undefined {
  try {
    return sealing.seal(sealing.open(sealed, context), context);
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
}

export interface SealedRow {
  id: string;
  sealed: string;
}

export interface SealedRowsStore<Row extends SealedRow> {
  /** @returns the number of secrets under each sealing key */
  countUnder(connection: Connection): ReadonlyMap<string, number>;
  /** @returns secrets under one sealing key, ordered by id */
  listUnder(connection: Connection, part: RewrapPart): readonly Row[];
  /** Replaces only the wrapping of a secret. */
  rewrap(tx: Tx, row: Row, sealedAgain: string): void;
}

interface SealedRows<Row extends SealedRow> extends Pick<SealedSecrets, "noun" | "topic"> {
  sealing: Sealing;
  store: SealedRowsStore<Row>;
  /** @returns the sealing context of a row */
  contextOf(row: Row): string;
}

/** @returns the secrets of a table; each step handles some of them */
export const sealedRows = <Row extends SealedRow>({
  noun,
  topic,
  sealing,
  store,
  contextOf,
}: SealedRows<Row>): SealedSecrets => ({
  noun,
  topic,
  count: (connection) => store.countUnder(connection),
  rewrap(tx, part) {
    const rows = store.listUnder(tx, part);
    let rewrapped = 0;
    for (const row of rows) {
      const sealedAgain = rewrapSecret(sealing, row.sealed, contextOf(row));
      if (sealedAgain === undefined) continue;
      store.rewrap(tx, row, sealedAgain);
      rewrapped += 1;
    }
    const next = rows.length < part.limit ? undefined : rows.at(-1)?.id;
    return { rewrapped, unreadable: rows.length - rewrapped, next };
  },
});

export interface SealedSigningKeys extends Pick<SealedSecrets, "noun" | "topic"> {
  sealing: Sealing;
  store: Pick<SigningKeyStore, "list" | "rewrap">;
}

/** @returns the sealing context of a private key of a ring */
export const signingKeyContext = ({ kid }: Pick<SigningKeyRow, "kid">): string => `signing-key:${kid}`;

/** @returns the private keys of a ring. There are few, so one step handles all */
export function sealedSigningKeys({ noun, topic, sealing, store }: SealedSigningKeys): SealedSecrets {
  const sealedIn = (connection: Connection) =>
    store.list(connection).filter(({ sealedPrivateKey }) => sealedPrivateKey !== "");
  return {
    noun,
    topic,
    count(connection) {
      const ids = sealedIn(connection).map(({ sealedPrivateKey }) => sealing.keyIdOf(sealedPrivateKey));
      return new Map([...new Set(ids)].map((id) => [id, ids.filter((other) => other === id).length]));
    },
    rewrap(tx, { from }) {
      const outdated = sealedIn(tx).filter((key) => sealing.keyIdOf(key.sealedPrivateKey) === from);
      let rewrapped = 0;
      for (const key of outdated) {
        const sealedPrivateKey = rewrapSecret(sealing, key.sealedPrivateKey, signingKeyContext(key));
        if (sealedPrivateKey === undefined) continue;
        store.rewrap(tx, { kid: key.kid, sealedPrivateKey });
        rewrapped += 1;
      }
      return { rewrapped, unreadable: outdated.length - rewrapped, next: undefined };
    },
  };
}
