// The keys that sign one kind of token. One key is active; a retired key verifies until the last token that it may have signed has
// expired. A command may rotate keys at any time, so the set is read again when its revision changes. platform/crypto/signing.ts
// has the cryptography. The area that owns the ring decides what the tokens contain.
import { type Clock, DAY_MS, SECOND_MS } from "../../../platform/clock.ts";
import type { Sealing } from "../../../platform/crypto/sealing.ts";
import {
  CLOCK_TOLERANCE_SECONDS,
  createSigner,
  generateSigningKeyPair,
  type NewKeyAlgorithm,
  type PublicJwk,
  parsePublicJwk,
  type Signer,
  type SigningKeyPair,
} from "../../../platform/crypto/signing.ts";
import type { Db, Topic, Tx } from "../../../platform/database/database.ts";
import { DomainError, invariant } from "../../../platform/errors.ts";
import { Secret } from "../../../platform/secret.ts";
import type { Audit } from "../../audit/service.ts";
import type { Actor } from "../actor.ts";
import { signingKeyContext } from "../sealed-secrets.ts";
import type { SigningKeyStore } from "./signing-key-store.ts";
import type { SigningKeyRow } from "./signing-key-tables.ts";

export interface SigningKeyRingOptions {
  db: Db;
  clock: Clock;
  audit: Audit;
  sealing: Sealing;
  store: SigningKeyStore;
  /** topic of writes to the store */
  topic: Topic;
  algorithm: NewKeyAlgorithm;
  /** header `typ` of the tokens */
  typ: string;
  /** first part of the actions in the audit log */
  noun: string;
  /** lifetime of the longest-lived token */
  tokenTtlSeconds: number;
  rotationDays: number;
}

/** The function that signs with the active key, and the id of that key. */
export interface ActiveSigner {
  kid: string;
  sign: Signer;
}

/** A key as shown to operators. */
export interface SigningKeyView {
  kid: string;
  algorithm: string;
  state: "active" | "retired";
  createdAtMs: number;
  retiredAtMs: number | null;
  /** null while the key is active */
  verifiesUntilMs: number | null;
}

/** The keys at one revision. */
interface KeySet {
  revision: number;
  active: SigningKeyRow | undefined;
  keys: ReadonlyMap<string, { row: SigningKeyRow; publicJwk: PublicJwk }>;
}

export class SigningKeyRing {
  #set: KeySet | undefined;
  #signer: ActiveSigner | undefined;

  constructor(private readonly options: SigningKeyRingOptions) {}

  /**
   * Creates the first key, and checks that the active one can be opened. Called at every start.
   * @throws DomainError `signing_key.sealed` when the sealing key of the active key is missing
   */
  async ensure(actor: Actor): Promise<void> {
    if (!activeOf(this.#rows())) await this.#replace(actor, (active) => active === undefined);
    this.signer();
  }

  /** @returns all keys that still verify, and expired ones until their rows are removed; newest first */
  list(): SigningKeyView[] {
    return this.#rows().map(viewOf);
  }

  /**
   * Creates a new active key. It does not need the old private key, so it also recovers from the loss of that key.
   * @param replaces id of the key that the caller saw in use; if another key is in use, no key is created
   * @returns the key in use
   */
  async rotate(actor: Actor, replaces?: string): Promise<SigningKeyView> {
    const isSeen = (active: SigningKeyRow | undefined) => replaces === undefined || active?.kid === replaces;
    const key = (await this.#replace(actor, isSeen)) ?? this.list().find(({ state }) => state === "active");
    invariant(key, "a key is in use after a rotation");
    return key;
  }

  /** @returns the new key if the active one was due for rotation, else undefined */
  async rotateIfDue(actor: Actor): Promise<SigningKeyView | undefined> {
    const maxAgeMs = this.options.rotationDays * DAY_MS;
    const isDue = (active: SigningKeyRow | undefined): boolean =>
      active === undefined || active.createdAtMs + maxAgeMs <= this.options.clock.nowMs();
    return isDue(activeOf(this.#rows())) ? await this.#replace(actor, isDue) : undefined;
  }

  /** Removes retired keys that no valid token needs. @returns the number of removed keys */
  async dropDead(): Promise<number> {
    const nowMs = this.options.clock.nowMs();
    const hasDead = this.#rows().some((row) => !verifies(row, nowMs));
    if (!hasDead) return 0;
    return (await this.options.db.write((tx) => this.options.store.removeDead(tx, nowMs), this.options.topic))
      .length;
  }

  /** @returns the public keys that verify now (RFC 7517 section 5) */
  jwks(): { keys: PublicJwk[] } {
    const nowMs = this.options.clock.nowMs();
    const keys = [...this.#current().keys.values()].filter(({ row }) => verifies(row, nowMs));
    return { keys: keys.map(({ publicJwk }) => publicJwk) };
  }

  /** @returns the public key with that id while it verifies. An unknown id takes a lookup in memory and no query. */
  find(kid: string): PublicJwk | undefined {
    const key = this.#current().keys.get(kid);
    return key && verifies(key.row, this.options.clock.nowMs()) ? key.publicJwk : undefined;
  }

  /**
   * @returns the function that signs with the active key
   * @throws DomainError `signing_key.sealed`, `signing_key.missing`
   */
  signer(): ActiveSigner {
    const active = this.#active();
    if (this.#signer?.kid === active.kid) return this.#signer;
    const { sealing, algorithm, typ } = this.options;
    const privateKey = openPrivateKey(sealing, active);
    const sign = createSigner(privateKey, { alg: algorithm, kid: active.kid, typ });
    this.#signer = { kid: active.kid, sign };
    return this.#signer;
  }

  #rows(): SigningKeyRow[] {
    return this.options.store.list(this.options.db.read);
  }

  #active(): SigningKeyRow {
    const { active } = this.#current();
    if (active) return active;
    throw new DomainError(
      "unavailable",
      "signing_key.missing",
      "there is no signing key; start the server once",
    );
  }

  #current(): KeySet {
    const revision = this.options.db.revision(this.options.topic);
    if (this.#set?.revision !== revision) this.#set = readKeySet(this.#rows(), revision);
    return this.#set;
  }

  /** Decides again inside the transaction, because another process may have created a key since. */
  async #replace(
    actor: Actor,
    isWanted: (active: SigningKeyRow | undefined) => boolean,
  ): Promise<SigningKeyView | undefined> {
    const pair = await generateSigningKeyPair(this.options.algorithm);
    return await this.options.db.write((tx) => {
      const active = activeOf(this.options.store.list(tx));
      if (!isWanted(active)) return undefined;
      const row = this.#insert(tx, pair);
      const before = active && { before: { kid: active.kid } };
      const action = `${this.options.noun}.${active ? "rotate" : "create"}`;
      this.options.audit.record(tx, { actor, action, target: row.kid, ...before, after: { kid: row.kid } });
      return viewOf(row);
    }, this.options.topic);
  }

  #insert(tx: Tx, { publicJwk, privateKey }: SigningKeyPair): SigningKeyRow {
    const { clock, sealing, store, tokenTtlSeconds } = this.options;
    const nowMs = clock.nowMs();
    const lastTokenMs = (tokenTtlSeconds + CLOCK_TOLERANCE_SECONDS) * SECOND_MS;
    const row: SigningKeyRow = {
      kid: publicJwk.kid,
      algorithm: publicJwk.alg,
      publicJwk: JSON.stringify(publicJwk),
      sealedPrivateKey: sealing.seal(privateKey.reveal(), signingKeyContext(publicJwk)),
      createdAtMs: nowMs,
      retiredAtMs: null,
      verifiesUntilMs: null,
    };
    store.retireActive(tx, { retiredAtMs: nowMs, verifiesUntilMs: nowMs + lastTokenMs });
    store.add(tx, row);
    return row;
  }
}

const activeOf = (rows: readonly SigningKeyRow[]): SigningKeyRow | undefined =>
  rows.find(({ retiredAtMs }) => retiredAtMs === null);

const verifies = ({ verifiesUntilMs }: SigningKeyRow, nowMs: number): boolean =>
  verifiesUntilMs === null || nowMs < verifiesUntilMs;

function readKeySet(rows: readonly SigningKeyRow[], revision: number): KeySet {
  const keys = rows.map((row) => [row.kid, { row, publicJwk: parsePublicJwk(row.publicJwk) }] as const);
  return { revision, active: activeOf(rows), keys: new Map(keys) };
}

function openPrivateKey(sealing: Sealing, row: SigningKeyRow): Secret {
  try {
    return new Secret(sealing.open(row.sealedPrivateKey, signingKeyContext(row)));
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw new DomainError(
      "unavailable",
      "signing_key.sealed",
      `the signing key cannot be opened: ${error.message}`,
      {
        hint: `${error.hint ?? "restore the sealing key of this data directory"}; if it is lost, rotate the signing keys`,
        cause: error,
      },
    );
  }
}

function viewOf(row: SigningKeyRow): SigningKeyView {
  const { kid, algorithm, createdAtMs, retiredAtMs, verifiesUntilMs } = row;
  return {
    kid,
    algorithm,
    state: retiredAtMs === null ? "active" : "retired",
    createdAtMs,
    retiredAtMs,
    verifiesUntilMs,
  };
}
