// One segment of a compact table: rows of 32-bit words in one array, found by open addressing with a bounded search. New rows
// replace expired ones. The segment grows as needed and then drops expired rows. compact-table.ts assigns keys to segments.

/** Number of words in a key. */
const KEY_WORDS = 4;
/** Offset of the expiry time of a row, in seconds since 1970. */
export const EXPIRY = KEY_WORDS;
/** Number of words before a row's own words. */
export const HEAD_WORDS = KEY_WORDS + 1;
/**
 * Offset of the second-chance bit, the lowest bit of the first own word: set if the row was used since eviction last considered it.
 */
const MARK = HEAD_WORDS;
const USED = 1;

/** The slot was never used: a search ends here. */
const NEVER = 0;
/** The row was removed: a search continues, and a new row may use the slot. */
const REMOVED = 1;

/** Number of slots that may hold a key's row: the slot that its hash selects, and those after it. */
const WINDOW = 64;
const FIRST_SLOTS = 16;
/** Larger segments grow by a smaller factor, because their unused space costs more. */
const GROWTH = { small: 1.5, large: 1.1 };
const LARGE_SLOTS = 128;

export interface SegmentOptions {
  rowWords: number;
  slotsMax: number;
}

export class CompactSegment {
  #slots = 0;
  #words = new Uint32Array(0);
  /** offset in the window at which the last eviction ended */
  #hand = -1;

  constructor(private readonly options: SegmentOptions) {}

  get words(): Uint32Array {
    return this.#words;
  }

  /** @returns the number of rows that have not expired */
  unexpiredAt(nowSeconds: number): number {
    let rows = 0;
    for (let slot = 0; slot < this.#slots; slot += 1)
      if (this.#word(slot * this.options.rowWords + EXPIRY) > nowSeconds) rows += 1;
    return rows;
  }

  /**
   * Marks the row as used.
   * @param hash of the key
   * @returns the offset of the row, which may have expired; -1 if there is none
   */
  find(key: Uint32Array, hash: number): number {
    const { rowWords } = this.options;
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
   * Adds a row for a key that has none. If the table is full, replaces an expired row, else a row that was not used since
   * eviction last considered it (second chance), else the row that expires first.
   * @param times in seconds
   * @returns the offset of the row; the caller sets its own words
   */
  add(key: Uint32Array, hash: number, { expiry, now }: { expiry: number; now: number }): number {
    let at = this.#freeAt(hash, now);
    while (at < 0 && this.#grow(now)) at = this.#freeAt(hash, now);
    if (at < 0) at = this.#victimAt(hash);
    this.#words.set(key, at);
    this.#words[at + EXPIRY] = expiry;
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

  /** @returns the offset of the first free row of the window; -1 if there is none */
  #freeAt(hash: number, now: number): number {
    let slot = homeOf(hash, this.#slots);
    for (let left = Math.min(WINDOW, this.#slots); left > 0; left -= 1) {
      const at = slot * this.options.rowWords;
      if (this.#word(at + EXPIRY) <= now) return at;
      slot = slot + 1 === this.#slots ? 0 : slot + 1;
    }
    return -1;
  }

  /**
   * Continues in the window where the last eviction ended. A search from the start would always evict the first rows, and rows
   * behind them would keep their mark, although their tokens are no longer sent.
   * @returns the offset of the row of the window to evict
   */
  #victimAt(hash: number): number {
    const home = homeOf(hash, this.#slots);
    const span = Math.min(WINDOW, this.#slots);
    let first = -1;
    for (let left = span; left > 0; left -= 1) {
      this.#hand = (this.#hand + 1) % span;
      const at = ((home + this.#hand) % this.#slots) * this.options.rowWords;
      const mark = this.#word(at + MARK);
      if ((mark & USED) === 0) return at;
      this.#words[at + MARK] = mark ^ USED;
      if (first < 0 || this.#word(at + EXPIRY) < this.#word(first + EXPIRY)) first = at;
    }
    return first;
  }

  /** @returns whether the table could grow */
  #grow(now: number): boolean {
    const { slotsMax } = this.options;
    for (let slots = this.#slots; slots < slotsMax; ) {
      const growth = slots < LARGE_SLOTS ? GROWTH.small : GROWTH.large;
      slots = Math.min(slotsMax, Math.max(FIRST_SLOTS, Math.ceil(slots * growth)));
      if (this.#moveTo(slots, now)) return true;
    }
    return false;
  }

  /** @returns false if the live rows do not fit into that many slots; nothing moves then */
  #moveTo(slots: number, now: number): boolean {
    const { rowWords } = this.options;
    const [former, formerSlots] = [this.#words, this.#slots];
    this.#words = new Uint32Array(slots * rowWords);
    this.#slots = slots;
    for (let at = 0; at < former.length; at += rowWords) {
      if ((former[at + EXPIRY] ?? NEVER) <= now) continue;
      const to = this.#freeAt(hashAt(former, at), now);
      if (to >= 0) {
        this.#copyRow(former, at, to);
        continue;
      }
      this.#words = former;
      this.#slots = formerSlots;
      return false;
    }
    return true;
  }

  /** Copies word by word: the view that `set` needs takes several times as long as the copy. A row moves about ten times. */
  #copyRow(from: Uint32Array, at: number, to: number): void {
    const words = this.#words;
    for (let word = 0; word < this.options.rowWords; word += 1) words[to + word] = from[at + word] ?? 0;
  }
}

/** @returns the slot at which a search begins */
const homeOf = (hash: number, slots: number): number => Math.floor(((hash & 0xff_ffff) / 0x100_0000) * slots);

/** The multipliers of MurmurHash3: they spread similar keys far apart. */
const MULTIPLIERS = [0x85eb_ca6b, 0xc2b2_ae35] as const;

/**
 * The hash has no secret, so keys must be values that nobody can choose to collide.
 * @returns a 32-bit hash of the last two words of a key, which must be its most random ones
 */
export function hashAt(words: Uint32Array, at: number): number {
  let hash = Math.imul((words[at + 3] ?? 0) ^ ((words[at + 2] ?? 0) >>> 5), MULTIPLIERS[0]);
  hash = Math.imul(hash ^ (hash >>> 13), MULTIPLIERS[1]);
  return (hash ^ (hash >>> 16)) >>> 0;
}
