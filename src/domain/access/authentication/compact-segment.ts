// One part of a compact table: rows of 32-bit words in one array, found by open addressing with a bounded search. It grows
// by itself, and drops rows that are over whenever it is rearranged. Which part a key belongs to is compact-table.ts's.

/** Words of a key. */
export const KEY_WORDS = 4;
/** When the row is over, in seconds since 1970. */
export const EXPIRY = KEY_WORDS;
/** Of a row, before its own words. */
export const HEAD_WORDS = KEY_WORDS + 1;
/** The lowest bit of the first own word: whether the row was asked for since it was last considered for eviction. */
const MARK = HEAD_WORDS;
export const USED = 1;

/** There never was a row: a search ends. */
const NEVER = 0;
/** There was a row: a search goes on, and a new row may lie here. */
const REMOVED = 1;

/** Slots that a row may lie in: the one that its key names, and those behind it. */
const WINDOW = 64;
const FIRST_SLOTS = 16;
/** Larger segments grow by less: what they have too much counts. */
const GROWTH = { small: 1.5, large: 1.1 };
const LARGE_SLOTS = 128;
/** With a smaller share of living rows a segment is swept and keeps its size. */
const FULL = 0.7;

export interface SegmentOptions {
  rowWords: number;
  slotsMax: number;
}

export class CompactSegment {
  #slots = 0;
  #words = new Uint32Array(0);
  #sweptAt = 0;

  constructor(private readonly own: SegmentOptions) {}

  get words(): Uint32Array {
    return this.#words;
  }

  /** @returns rows that are not over */
  livingAt(nowSeconds: number): number {
    let rows = 0;
    for (let slot = 0; slot < this.#slots; slot += 1)
      if (this.#word(slot * this.own.rowWords + EXPIRY) > nowSeconds) rows += 1;
    return rows;
  }

  /**
   * @param hash of the key
   * @returns where the row begins, now marked as used; -1 without one. A row that is over may still be found
   */
  find(key: Uint32Array, hash: number): number {
    const { rowWords } = this.own;
    const slots = this.#slots;
    let slot = homeOf(hash, slots);
    for (let left = Math.min(WINDOW, slots); left > 0; left -= 1) {
      const at = slot * rowWords;
      const expiry = this.#word(at + EXPIRY);
      if (expiry === NEVER) return -1;
      if (expiry !== REMOVED && this.#isKeyAt(at, key)) {
        this.#words[at + MARK] = this.#word(at + MARK) | USED;
        return at;
      }
      slot = slot + 1 === slots ? 0 : slot + 1;
    }
    return -1;
  }

  remove(at: number): void {
    this.#words[at + EXPIRY] = REMOVED;
  }

  /**
   * Makes a row of a key that has none. Without room for it a row that is over gives way, else one that nobody asked for
   * since it was considered last (second chance), else the one that would be over first.
   * @param times in seconds
   * @returns where it begins; its own words are not cleared
   */
  add(key: Uint32Array, hash: number, { expiry, now }: { expiry: number; now: number }): number {
    let at = this.#freeAt(hash, now);
    if (at < 0) {
      this.#sweep(now);
      at = this.#freeAt(hash, now);
    }
    while (at < 0 && this.#grow(now)) at = this.#freeAt(hash, now);
    if (at < 0) at = this.#victimAt(hash);
    for (let word = 0; word < KEY_WORDS; word += 1) this.#words[at + word] = key[word] ?? 0;
    this.#words[at + EXPIRY] = expiry;
    this.#words[at + MARK] = 0;
    return at;
  }

  #word(at: number): number {
    return this.#words[at] ?? NEVER;
  }

  #isKeyAt(at: number, key: Uint32Array): boolean {
    const words = this.#words;
    return (
      words[at] === key[0] && words[at + 1] === key[1] && words[at + 2] === key[2] && words[at + 3] === key[3]
    );
  }

  /** @returns where the first free row of the window begins; -1 without one */
  #freeAt(hash: number, now: number): number {
    let slot = homeOf(hash, this.#slots);
    for (let left = Math.min(WINDOW, this.#slots); left > 0; left -= 1) {
      const at = slot * this.own.rowWords;
      if (this.#word(at + EXPIRY) <= now) return at;
      slot = slot + 1 === this.#slots ? 0 : slot + 1;
    }
    return -1;
  }

  /** @returns where the row of the window begins that has to go */
  #victimAt(hash: number): number {
    let slot = homeOf(hash, this.#slots);
    let first = -1;
    for (let left = Math.min(WINDOW, this.#slots); left > 0; left -= 1) {
      const at = slot * this.own.rowWords;
      const mark = this.#word(at + MARK);
      if ((mark & USED) === 0) return at;
      this.#words[at + MARK] = mark ^ USED;
      if (first < 0 || this.#word(at + EXPIRY) < this.#word(first + EXPIRY)) first = at;
      slot = slot + 1 === this.#slots ? 0 : slot + 1;
    }
    return first;
  }

  /** Looks for rows that are over once a second at most: where none are, that costs more than the row it is for. */
  #sweep(now: number): void {
    if (this.#sweptAt === now) return;
    this.#sweptAt = now;
    if (this.livingAt(now) < this.#slots * FULL) this.#moveTo(this.#slots, now);
  }

  /** @returns whether there was room to grow */
  #grow(now: number): boolean {
    const { slotsMax } = this.own;
    for (let slots = this.#slots; slots < slotsMax; ) {
      const growth = slots < LARGE_SLOTS ? GROWTH.small : GROWTH.large;
      slots = Math.min(slotsMax, Math.max(FIRST_SLOTS, Math.ceil(slots * growth)));
      if (this.#moveTo(slots, now)) return true;
    }
    return false;
  }

  /** @returns false where the rows that are not over found no place in so many slots: then all stay where they were */
  #moveTo(slots: number, now: number): boolean {
    const { rowWords } = this.own;
    const [former, formerSlots] = [this.#words, this.#slots];
    this.#words = new Uint32Array(slots * rowWords);
    this.#slots = slots;
    for (let at = 0; at < former.length; at += rowWords) {
      if ((former[at + EXPIRY] ?? NEVER) <= now) continue;
      const to = this.#freeAt(hashAt(former, at), now);
      if (to >= 0) {
        for (let word = 0; word < rowWords; word += 1) this.#words[to + word] = former[at + word] ?? 0;
        continue;
      }
      this.#words = former;
      this.#slots = formerSlots;
      return false;
    }
    return true;
  }
}

/** @returns the slot that a search begins with */
const homeOf = (hash: number, slots: number): number => Math.floor(((hash & 0xff_ffff) / 0x100_0000) * slots);

/** The multipliers of MurmurHash3: keys that differ little begin far apart. */
const MULTIPLIERS = [0x85eb_ca6b, 0xc2b2_ae35] as const;

/**
 * Not a secret: keys must be such that nobody can choose many that collide.
 * @returns 32 bits that follow from the last two words of a key, which must be its most random ones
 */
export function hashAt(words: Uint32Array, at: number): number {
  let hash = Math.imul((words[at + 3] ?? 0) ^ ((words[at + 2] ?? 0) >>> 5), MULTIPLIERS[0]);
  hash = Math.imul(hash ^ (hash >>> 13), MULTIPLIERS[1]);
  return (hash ^ (hash >>> 16)) >>> 0;
}
