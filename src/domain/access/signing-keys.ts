// The keys that sign access tokens: one is active, retired ones verify until the last token they can have signed is dead.
// Another process (the command line) may rotate them at any time, so the set is re-read when its revision moves.
// The cryptography is platform/signing.ts; what a token says is access-tokens.ts.
import { type Clock, DAY_MS, SECOND_MS } from "../../platform/clock.ts";
import type { Connection, Db, Tx } from "../../platform/database.ts";
import type { Sealing } from "../../platform/sealing.ts";
import { Secret } from "../../platform/secret.ts";
import {
  CLOCK_TOLERANCE_SECONDS,
  createSigner,
  generateSigningKeyPair,
  type PublicJwk,
  parsePublicJwk,
  type Signer,
  type SigningKeyPair,
} from "../../platform/signing.ts";
import type { Actor } from "../actor.ts";
import type { Audit } from "../audit/service.ts";
import { DomainError, invariant } from "../errors.ts";
import type { AccessSettings } from "./settings.ts";
import * as store from "./signing-keys-store.ts";

export interface SigningKeysDependencies {
  db: Db;
  clock: Clock;
  audit: Audit;
  sealing: Sealing;
  settings: Pick<AccessSettings, "accessTokenTtlSeconds" | "signingKeyRotationDays">;
}

/** A key as operators see it. */
export interface SigningKeyView {
  kid: string;
  algorithm: string;
  state: "active" | "retired";
  createdAtMs: number;
  retiredAtMs: number | null;
  /** null while the key is active */
  verifiesUntilMs: number | null;
}

/** Header `typ` of an access token (RFC 9068 section 2.1). */
export const ACCESS_TOKEN_TYPE = "at+jwt";

/** What the rows say at one revision. */
interface KeySet {
  revision: number;
  active: store.SigningKeyRow | undefined;
  keys: ReadonlyMap<string, { row: store.SigningKeyRow; publicJwk: PublicJwk }>;
}

/** The signing keys of this data directory; made once, in service.ts. */
export class SigningKeys {
  #set: KeySet | undefined;
  #signer: { kid: string; sign: Signer } | undefined;

  constructor(private readonly own: SigningKeysDependencies) {}

  /**
   * Makes the first key, and proves that the active one can be opened. Run at every start.
   * @throws DomainError `signing_key.sealed` when the sealing key of the active key is missing
   */
  async ensure(actor: Actor): Promise<void> {
    if (!activeOf(store.list(this.own.db.read))) await this.#replace(actor, (active) => active === undefined);
    this.signer();
  }

  /** @returns every key that still verifies or whose row is not swept yet, newest first */
  list(): SigningKeyView[] {
    return store.list(this.own.db.read).map(viewOf);
  }

  /** Makes a new active key. It works without the old private key, so it is also the way back when that is lost. */
  async rotate(actor: Actor): Promise<SigningKeyView> {
    const key = await this.#replace(actor, () => true);
    invariant(key, "a rotation that nothing speaks against makes a key");
    return key;
  }

  /** @returns the new key when the active one had reached the age of rotation, else undefined */
  async rotateIfDue(actor: Actor): Promise<SigningKeyView | undefined> {
    const maxAgeMs = this.own.settings.signingKeyRotationDays * DAY_MS;
    const isDue = (active: store.SigningKeyRow | undefined): boolean =>
      active === undefined || active.createdAtMs + maxAgeMs <= this.own.clock.nowMs();
    return isDue(activeOf(store.list(this.own.db.read))) ? await this.#replace(actor, isDue) : undefined;
  }

  /** Removes retired keys that no living token needs. @returns how many */
  async dropDead(): Promise<number> {
    const nowMs = this.own.clock.nowMs();
    const hasDead = store.list(this.own.db.read).some((row) => !verifies(row, nowMs));
    if (!hasDead) return 0;
    return (await this.own.db.write((tx) => store.removeDead(tx, nowMs), "access")).length;
  }

  /** @returns the public keys that verify now (RFC 7517 section 5) */
  jwks(): { keys: PublicJwk[] } {
    const nowMs = this.own.clock.nowMs();
    const keys = [...this.#current().keys.values()].filter(({ row }) => verifies(row, nowMs));
    return { keys: keys.map(({ publicJwk }) => publicJwk) };
  }

  /** @returns the public key of that id while it verifies; a miss costs one look-up in memory and never a query */
  find(kid: string): PublicJwk | undefined {
    const key = this.#current().keys.get(kid);
    return key && verifies(key.row, this.own.clock.nowMs()) ? key.publicJwk : undefined;
  }

  /**
   * @returns the function that signs access tokens with the key that is active now
   * @throws DomainError `signing_key.sealed`, `signing_key.missing`
   */
  signer(): Signer {
    const active = this.#active();
    if (this.#signer?.kid === active.kid) return this.#signer.sign;
    const privateKey = openPrivateKey(this.own.sealing, active);
    const sign = createSigner(privateKey, { kid: active.kid, typ: ACCESS_TOKEN_TYPE });
    this.#signer = { kid: active.kid, sign };
    return sign;
  }

  #active(): store.SigningKeyRow {
    const { active } = this.#current();
    if (active) return active;
    throw new DomainError(
      "unavailable",
      "signing_key.missing",
      "there is no signing key; start the server once",
    );
  }

  #current(): KeySet {
    const revision = this.own.db.revision("access");
    if (this.#set?.revision !== revision) this.#set = readKeySet(this.own.db.read, revision);
    return this.#set;
  }

  /** Decides again inside the transaction: another process may have made a key while ours was generated. */
  async #replace(
    actor: Actor,
    isWanted: (active: store.SigningKeyRow | undefined) => boolean,
  ): Promise<SigningKeyView | undefined> {
    const pair = await generateSigningKeyPair();
    return await this.own.db.write((tx) => {
      const active = activeOf(store.list(tx));
      if (!isWanted(active)) return undefined;
      const row = this.#insert(tx, pair);
      const before = active && { before: { kid: active.kid } };
      const action = active ? "signing_key.rotate" : "signing_key.create";
      this.own.audit.record(tx, { actor, action, target: row.kid, ...before, after: { kid: row.kid } });
      return viewOf(row);
    }, "access");
  }

  #insert(tx: Tx, { publicJwk, privateKey }: SigningKeyPair): store.SigningKeyRow {
    const { clock, sealing, settings } = this.own;
    const nowMs = clock.nowMs();
    const lastTokenMs = (settings.accessTokenTtlSeconds + CLOCK_TOLERANCE_SECONDS) * SECOND_MS;
    const row: store.SigningKeyRow = {
      kid: publicJwk.kid,
      algorithm: publicJwk.alg,
      publicJwk: JSON.stringify(publicJwk),
      sealedPrivateKey: sealing.seal(privateKey.reveal(), sealingContext(publicJwk.kid)),
      createdAtMs: nowMs,
      retiredAtMs: null,
      verifiesUntilMs: null,
    };
    store.retireActive(tx, { retiredAtMs: nowMs, verifiesUntilMs: nowMs + lastTokenMs });
    store.add(tx, row);
    return row;
  }
}

const sealingContext = (kid: string): string => `signing-key:${kid}`;

const activeOf = (rows: readonly store.SigningKeyRow[]): store.SigningKeyRow | undefined =>
  rows.find(({ retiredAtMs }) => retiredAtMs === null);

const verifies = ({ verifiesUntilMs }: store.SigningKeyRow, nowMs: number): boolean =>
  verifiesUntilMs === null || nowMs < verifiesUntilMs;

function readKeySet(connection: Connection, revision: number): KeySet {
  const rows = store.list(connection);
  const keys = rows.map((row) => [row.kid, { row, publicJwk: parsePublicJwk(row.publicJwk) }] as const);
  return { revision, active: activeOf(rows), keys: new Map(keys) };
}

function openPrivateKey(sealing: Sealing, { kid, sealedPrivateKey }: store.SigningKeyRow): Secret {
  try {
    return new Secret(sealing.open(sealedPrivateKey, sealingContext(kid)));
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

function viewOf(row: store.SigningKeyRow): SigningKeyView {
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
