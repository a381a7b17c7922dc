// A bounded table in plain memory: rows of 32-bit words under a key of 128 bits, each with a time at which it is over. A
// million rows are a few hundred arrays, so they cost no object each and a garbage collection passes them by. What the words
// mean is for verified-tokens.ts.
import { CompactSegment, EXPIRY, HEAD_WORDS, hashAt } from "./compact-segment.ts";

const WORD_BYTES = 4;
/** A power of two. Each grows by itself, so that no request waits until a large table is copied. */
const SEGMENTS = 256;
const SEGMENT_MASK = SEGMENTS - 1;
const SEGMENT_SHIFT = 24;

/** Where a row lies until the next row is added. Its own words begin at `at`; the lowest bit of the first is the table's. */
export interface Row {
  readonly words: Uint32Array;
  readonly at: number;
}

/** Bits that the first own word of a row has for its owner, above the table's. */
export const OWN_BITS_SHIFT = 1;

export interface CompactTableOptions {
  ownWords: number;
  /** of all rows at most */
  bytesMax: number;
}

export class CompactTable {
  readonly #segments: readonly CompactSegment[];
  readonly #first: CompactSegment;

  constructor({ ownWords, bytesMax }: CompactTableOptions) {
    const rowWords = HEAD_WORDS + ownWords;
    const slotsMax = Math.max(1, Math.floor(bytesMax / (SEGMENTS * rowWords * WORD_BYTES)));
    this.#first = new CompactSegment({ rowWords, slotsMax });
    const others = Array.from({ length: SEGMENT_MASK }, () => new CompactSegment({ rowWords, slotsMax }));
    this.#segments = [this.#first, ...others];
  }

  /** @returns bytes of the rows and of the room for more */
  get bytes(): number {
    return this.#segments.reduce((sum, { words }) => sum + words.byteLength, 0);
  }

  /** Looks at every row. @returns rows that are not over */
  livingAt(nowSeconds: number): number {
    return this.#segments.reduce((sum, segment) => sum + segment.livingAt(nowSeconds), 0);
  }

  /** @returns the row of that key, over or not; it counts as used */
  find(key: Uint32Array): Row | undefined {
    const hash = hashAt(key, 0);
    const segment = this.#segmentOf(hash);
    const at = segment.find(key, hash);
    return at < 0 ? undefined : { words: segment.words, at: at + HEAD_WORDS };
  }

  /** Makes the row of a key, in place of one it had; another key's may have to go for it. @param own its own words */
  put(key: Uint32Array, own: ArrayLike<number>, times: { expiry: number; now: number }): void {
    const hash = hashAt(key, 0);
    const segment = this.#segmentOf(hash);
    const known = segment.find(key, hash);
    if (known >= 0) segment.remove(known);
    const at = segment.add(key, hash, times);
    const { words } = segment;
    for (let word = 0; word < own.length; word += 1) words[at + HEAD_WORDS + word] = own[word] ?? 0;
  }

  /** Forgets the row of that key. */
  remove(key: Uint32Array): void {
    const hash = hashAt(key, 0);
    const segment = this.#segmentOf(hash);
    const at = segment.find(key, hash);
    if (at >= 0) segment.remove(at);
  }

  #segmentOf(hash: number): CompactSegment {
    return this.#segments[hash >>> SEGMENT_SHIFT] ?? this.#first;
  }
}

/** @returns when a row is over, in seconds */
export const expiryOf = ({ words, at }: Row): number => words[at - HEAD_WORDS + EXPIRY] ?? 0;
