// Caches verified access tokens in rows of 44 bytes, because a fleet has one token per workstation. A token is stored as a digest
// under a key of this process, so it cannot be recovered. grant-holders.ts caches the holder of the grant; authenticate.ts checks
// that cached entries are still valid.
import { createKeyedDigest, DIGEST_WORDS } from "../../../platform/crypto/keyed-digest.ts";
import { CLOCK_TOLERANCE_SECONDS } from "../../../platform/crypto/signing.ts";
import { UUID_WORDS, writeUuid } from "../../../platform/uuid-words.ts";
import type { ReadToken } from "../tokens/access-tokens.ts";
import { USER_SCOPES } from "../wire.ts";
import { CompactTable, expiryOf, OWN_BITS_SHIFT } from "./compact-table.ts";

/** Upper bound of the table's bytes per token, including spare capacity, once there are thousands of tokens. */
export const TOKEN_BYTES_MAX = 64;

/** The cached facts about a token. */
export interface KnownToken {
  /** UUID of its grant, valid until the next token is looked up */
  grant: Uint32Array;
  /** hash of its subject: see `subjectMark` */
  subject: number;
  /** id of the key that signed it */
  kid: string;
  scopes: ReadonlySet<string>;
  /** Unix seconds, as in the token */
  expiresAtSeconds: number;
  issuedAtSeconds: number;
}

/** Offsets of the row's own words. The first packs the lifetime in seconds, the key and the scopes, above the table's bit. */
const PACKED = 0;
const SUBJECT = 1;
const GRANT = 2;
const OWN_WORDS = GRANT + UUID_WORDS;

const KEY_SHIFT = OWN_BITS_SHIFT + USER_SCOPES.length;
const KEY_BITS = 8;
const LIFE_SHIFT = KEY_SHIFT + KEY_BITS;
/** Longest lifetime of a cached token. */
export const LIFE_SECONDS_MAX = 2 ** (32 - LIFE_SHIFT) - 1;
const SCOPES_MASK = 2 ** USER_SCOPES.length - 1;
const KEY_MASK = 2 ** KEY_BITS - 1;
/**
 * Maximum number of signing keys among cached tokens. A process does not see that many rotations in a year; tokens of later
 * keys are not cached.
 */
export const KEYS_MAX = 2 ** KEY_BITS;

export class VerifiedTokens {
  readonly #digestOf = createKeyedDigest();
  /** digest of the last token that was looked up, because an unknown token is usually added next */
  readonly #digest = new Uint32Array(DIGEST_WORDS);
  #digested: string | undefined;
  readonly #row = new Uint32Array(OWN_WORDS);
  readonly #grant = new Uint32Array(UUID_WORDS);
  readonly #kids: string[] = [];
  readonly #table: CompactTable;

  /** @param bytesMax limit for all rows */
  constructor(bytesMax: number) {
    this.#table = new CompactTable({ ownWords: OWN_WORDS, bytesMax });
  }

  /** @returns the bytes in use */
  get bytes(): number {
    return this.#table.bytes;
  }

  /** Scans every row. @returns the number of tokens that have not expired */
  unexpiredAt(nowSeconds: number): number {
    return this.#table.unexpiredAt(nowSeconds);
  }

  /** @returns the entry of this token, which may have expired */
  find(token: string): KnownToken | undefined {
    if (this.#digested !== token) this.#digestOf(token, this.#digest);
    const row = this.#table.find(this.#digest);
    this.#digested = row ? undefined : token;
    if (!row) return undefined;
    const { words, at } = row;
    for (let word = 0; word < UUID_WORDS; word += 1) this.#grant[word] = words[at + GRANT + word] ?? 0;
    const packed = words[at + PACKED] ?? 0;
    const expiresAtSeconds = expiryOf(row) - CLOCK_TOLERANCE_SECONDS;
    return {
      grant: this.#grant,
      subject: words[at + SUBJECT] ?? 0,
      kid: this.#kids[(packed >>> KEY_SHIFT) & KEY_MASK] ?? "",
      scopes: SCOPE_SETS[(packed >>> OWN_BITS_SHIFT) & SCOPES_MASK] ?? NO_SCOPES,
      expiresAtSeconds,
      issuedAtSeconds: expiresAtSeconds - (packed >>> LIFE_SHIFT),
    };
  }

  /** Caches a token that we verified or signed. A token that does not fit the row format is verified each time instead. */
  add(token: string, { claims, kid }: ReadToken, nowSeconds: number): void {
    const life = claims.exp - claims.iat;
    const scopes = scopeBitsOf(claims.scope);
    const key = this.#keyOf(kid);
    if (life < 0 || life > LIFE_SECONDS_MAX || scopes === undefined || key === undefined) return;
    if (!writeUuid(claims.grant_id, this.#row, GRANT)) return;
    this.#row[PACKED] = (life << LIFE_SHIFT) | (key << KEY_SHIFT) | (scopes << OWN_BITS_SHIFT);
    this.#row[SUBJECT] = subjectMark(claims.sub);
    if (this.#digested !== token) this.#digestOf(token, this.#digest);
    this.#digested = undefined; // keep the token no longer than needed
    const times = { expiry: claims.exp + CLOCK_TOLERANCE_SECONDS, now: nowSeconds };
    this.#table.put(this.#digest, this.#row, times);
  }

  #keyOf(kid: string): number | undefined {
    const known = this.#kids.indexOf(kid);
    if (known >= 0) return known;
    return this.#kids.length < KEYS_MAX ? this.#kids.push(kid) - 1 : undefined;
  }
}

/** @returns a 32-bit hash that shows whether the subject is the same, without revealing it */
export const subjectMark = (subject: string): number => Bun.hash.murmur32v3(subject);

/** Indexed by the bits of USER_SCOPES. */
const SCOPE_SETS: readonly ReadonlySet<string>[] = Array.from(
  { length: SCOPES_MASK + 1 },
  (_, bits) => new Set(USER_SCOPES.filter((_scope, at) => (bits >>> at) & 1)),
);
const NO_SCOPES: ReadonlySet<string> = new Set();

const SCOPE_NAMES: readonly string[] = USER_SCOPES;

/** @returns undefined for a scope that is not one of ours */
function scopeBitsOf(scope: string): number | undefined {
  let bits = 0;
  for (const name of scope.split(" ")) {
    const at = SCOPE_NAMES.indexOf(name);
    if (at < 0) return undefined;
    bits |= 1 << at;
  }
  return bits;
}
