// A bounded in-memory table: rows of 32-bit words under a 128-bit key, each with an expiry time. A million rows take a few
// hundred arrays, so they cost no objects and almost no garbage collection. verified-tokens.ts defines the meaning of the words.
import { CompactSegment, EXPIRY, HEAD_WORDS, hashAt } from "./compact-segment.ts";

const WORD_BYTES = 4;
/** A power of two. Each segment grows separately, so that no request waits for a copy of a large table. */
const SEGMENTS = 256;
const SEGMENT_MASK = SEGMENTS - 1;
const SEGMENT_SHIFT = 24;

/**
 * The location of a row, valid until the next row is added. Its own words begin at `at`, HEAD_WORDS after its key; the table uses
 * the lowest bit of the first.
 */
export interface Row {
  readonly words: Uint32Array;
  readonly at: number;
}

/** Number of low bits of the first own word that the table uses; the owner's bits are above them. */
export const OWN_BITS_SHIFT = 1;

export interface CompactTableOptions {
  ownWords: number;
  /** limit for all rows */
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

  /** @returns the bytes of the rows and of their spare capacity */
  get bytes(): number {
    return this.#segments.reduce((sum, { words }) => sum + words.byteLength, 0);
  }

  /** Scans every row. @returns the number of rows that have not expired */
  unexpiredAt(nowSeconds: number): number {
    return this.#segments.reduce((sum, segment) => sum + segment.unexpiredAt(nowSeconds), 0);
  }

  /** Marks the row as used. @returns the row of that key, expired or not */
  find(key: Uint32Array): Row | undefined {
    const hash = hashAt(key, 0);
    const segment = this.#segmentOf(hash);
    const at = segment.find(key, hash);
    return at < 0 ? undefined : { words: segment.words, at: at + HEAD_WORDS };
  }

  /** Adds or replaces the row of the key; may evict another key's row. @param own its own words */
  put(key: Uint32Array, own: ArrayLike<number>, times: { expiry: number; now: number }): void {
    const hash = hashAt(key, 0);
    const segment = this.#segmentOf(hash);
    const known = segment.find(key, hash);
    if (known >= 0) segment.remove(known);
    const at = segment.add(key, hash, times);
    segment.words.set(own, at + HEAD_WORDS);
  }

  /** Removes the row of that key. */
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

/** @returns the expiry time of a row, in seconds */
export const expiryOf = ({ words, at }: Row): number => words[at - HEAD_WORDS + EXPIRY] ?? 0;
