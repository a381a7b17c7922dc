// Access tokens that were verified before: a row of 44 bytes each, for a fleet has a token for each workstation. Nothing in
// it could be made into a token again, for a token is kept as a digest under a key of this process. Who holds the grant of
// a token is grant-holders.ts's; whether what is kept still holds is for authenticate.ts to ask.
import { createKeyedDigest, DIGEST_WORDS } from "../../../platform/crypto/keyed-digest.ts";
import { CLOCK_TOLERANCE_SECONDS } from "../../../platform/crypto/signing.ts";
import { UUID_WORDS, writeUuid } from "../../../platform/uuid-words.ts";
import type { ReadToken } from "../tokens/access-tokens.ts";
import { USER_SCOPES } from "../wire.ts";
import { CompactTable, expiryOf, OWN_BITS_SHIFT } from "./compact-table.ts";

/** What a token takes of the table at most, room for others included, once there are thousands. */
export const TOKEN_BYTES_MAX = 64;

/** What a remembered token says. */
export interface KnownToken {
  /** UUID of its grant, in words that are overwritten by the next question */
  grant: Uint32Array;
  /** stands for its subject: see `subjectMark` */
  subject: number;
  /** id of the key that signed it */
  kid: string;
  scopes: ReadonlySet<string>;
  /** Unix seconds, as in the token */
  expiresAtSeconds: number;
  issuedAtSeconds: number;
}

/** Own words of a row. The first packs the life in seconds, the key and the scopes, above the bit of the table. */
const PACKED = 0;
const SUBJECT = 1;
const GRANT = 2;
const OWN_WORDS = GRANT + UUID_WORDS;

const KEY_SHIFT = OWN_BITS_SHIFT + USER_SCOPES.length;
const KEY_BITS = 8;
const LIFE_SHIFT = KEY_SHIFT + KEY_BITS;
const LIFE_SECONDS_MAX = 2 ** (32 - LIFE_SHIFT) - 1;
const SCOPES_MASK = 2 ** USER_SCOPES.length - 1;
const KEY_MASK = 2 ** KEY_BITS - 1;
/** Keys that ever signed a remembered token. More than rotations in a year of a process, so a later one is just not remembered. */
const KEYS_MAX = 2 ** KEY_BITS;

export class VerifiedTokens {
  readonly #digestOf = createKeyedDigest();
  /** of the token that was asked about last: one that is not known is mostly added next */
  readonly #digest = new Uint32Array(DIGEST_WORDS);
  #digested: string | undefined;
  readonly #row = new Uint32Array(OWN_WORDS);
  readonly #grant = new Uint32Array(UUID_WORDS);
  readonly #kids: string[] = [];
  readonly #table: CompactTable;

  /** @param bytesMax of all rows together */
  constructor(bytesMax: number) {
    this.#table = new CompactTable({ ownWords: OWN_WORDS, bytesMax });
  }

  /** @returns bytes that are taken */
  get bytes(): number {
    return this.#table.bytes;
  }

  /** Looks at every row. @returns tokens that are not over */
  livingAt(nowSeconds: number): number {
    return this.#table.livingAt(nowSeconds);
  }

  /** @returns what was remembered of the whole token, which may be over; undefined for one that differs by a character */
  find(token: string): KnownToken | undefined {
    this.#digestOf(token, this.#digest);
    const row = this.#table.find(this.#digest);
    this.#digested = row ? undefined : token;
    if (!row) return undefined;
    const { words, at } = row;
    const packed = words[at + PACKED] ?? 0;
    for (let word = 0; word < UUID_WORDS; word += 1) this.#grant[word] = words[at + GRANT + word] ?? 0;
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

  /** Remembers a token whose signature was verified or made by us; one that no row can tell is verified each time. */
  add(token: string, { claims, kid }: ReadToken, nowSeconds: number): void {
    const life = claims.exp - claims.iat;
    const scopes = scopeBitsOf(claims.scope);
    const key = this.#keyOf(kid);
    if (life < 0 || life > LIFE_SECONDS_MAX || scopes === undefined || key === undefined) return;
    if (!writeUuid(claims.grant_id, this.#row, GRANT)) return;
    this.#row[PACKED] = (life << LIFE_SHIFT) | (key << KEY_SHIFT) | (scopes << OWN_BITS_SHIFT);
    this.#row[SUBJECT] = subjectMark(claims.sub);
    if (this.#digested !== token) this.#digestOf(token, this.#digest);
    this.#digested = undefined; // a token is not kept for longer than it is needed
    const times = { expiry: claims.exp + CLOCK_TOLERANCE_SECONDS, now: nowSeconds };
    this.#table.put(this.#digest, this.#row, times);
  }

  #keyOf(kid: string): number | undefined {
    const known = this.#kids.indexOf(kid);
    if (known >= 0) return known;
    return this.#kids.length < KEYS_MAX ? this.#kids.push(kid) - 1 : undefined;
  }
}

/** @returns 32 bits in place of the text: they tell whether a subject is still the same one, not who it is */
export const subjectMark = (subject: string): number => Bun.hash.murmur32v3(subject);

/** By the bits of USER_SCOPES. */
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
