// What an area keeps sealed, as whoever replaces the sealing key sees it (system/sealing-keys.ts): how much lies under which
// key, and the way to seal it anew. Each area knows its own rows; the private keys of signing key rings are alike in all.
import type { Sealing } from "../../platform/crypto/sealing.ts";
import type { Connection, Topic, Tx } from "../../platform/database/database.ts";
import { DomainError } from "../../platform/errors.ts";
import type { SigningKeyStore } from "./signing-key-store.ts";
import type { SigningKeyRow } from "./signing-key-tables.ts";

export interface SealedSecrets {
  /** names them in lists and in the audit log: `gateway_keys` */
  readonly noun: string;
  /** of writes to them */
  readonly topic: Topic;
  /** @returns how many there are under each key, by its id */
  count(connection: Connection): ReadonlyMap<string, number>;
  /** Seals some of those under one key anew, under the key that is active; the rest is left for the next step. */
  rewrap(tx: Tx, part: RewrapPart): RewrapStep;
}

export interface RewrapPart {
  /** id of the key they are sealed under */
  from: string;
  /** where the step before ended */
  after: string | undefined;
  /** secrets looked at in one step */
  limit: number;
}

export interface RewrapStep {
  rewrapped: number;
  /** left as they are, since they do not open */
  unreadable: number;
  /** undefined when the end was reached */
  next: string | undefined;
}

/**
 * @param context what the secret belongs to
 * @returns the same secret under the key that is active; undefined where it does not open
 */
export function resealSecret(sealing: Sealing, sealed: string, context: string): string | undefined {
  try {
    return sealing.seal(sealing.open(sealed, context), context);
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
}

export interface SealedSigningKeys extends Pick<SealedSecrets, "noun" | "topic"> {
  sealing: Sealing;
  store: Pick<SigningKeyStore, "list" | "reseal">;
}

/** What a private key of a ring is sealed for. */
export const signingKeyContext = ({ kid }: Pick<SigningKeyRow, "kid">): string => `signing-key:${kid}`;

/** @returns the private keys of a ring; one step deals with all, for few of them sign */
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
        const sealedPrivateKey = resealSecret(sealing, key.sealedPrivateKey, signingKeyContext(key));
        if (sealedPrivateKey === undefined) continue;
        store.reseal(tx, { kid: key.kid, sealedPrivateKey });
        rewrapped += 1;
      }
      return { rewrapped, unreadable: outdated.length - rewrapped, next: undefined };
    },
  };
}
