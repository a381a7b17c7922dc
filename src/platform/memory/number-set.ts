// A sorted set of natural numbers that are close together, such as row numbers; one bit each.

const WORD_BITS = 32;
const WORDS_MIN = 1024;

export class NumberSet {
  #words = new Uint32Array(WORDS_MIN);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** @param number a whole number from 0 */
  add(number: number): void {
    const at = Math.floor(number / WORD_BITS);
    if (at >= this.#words.length) this.#widen(at + 1);
    const [word, bit] = [this.#words[at] ?? 0, 1 << (number % WORD_BITS)];
    if ((word & bit) !== 0) return;
    this.#words[at] = word | bit;
    this.#size += 1;
  }

  /** @returns whether it was in the set */
  delete(number: number): boolean {
    const at = Math.floor(number / WORD_BITS);
    const [word, bit] = [this.#words[at] ?? 0, 1 << (number % WORD_BITS)];
    if ((word & bit) === 0) return false;
    this.#words[at] = word & ~bit;
    this.#size -= 1;
    return true;
  }

  copy(): NumberSet {
    const other = new NumberSet();
    other.#words = this.#words.slice();
    other.#size = this.#size;
    return other;
  }

  /** @returns all numbers in ascending order, in lists of `size`; the last list may be shorter */
  *slices(size: number): Generator<readonly number[]> {
    let slice: number[] = [];
    for (const [at, word] of this.#words.entries()) {
      for (let rest = word; rest !== 0; rest &= rest - 1) {
        slice.push(at * WORD_BITS + WORD_BITS - 1 - Math.clz32(rest & -rest));
        if (slice.length < size) continue;
        yield slice;
        slice = [];
      }
    }
    if (slice.length > 0) yield slice;
  }

  #widen(wordsMin: number): void {
    const words = new Uint32Array(Math.max(wordsMin, 2 * this.#words.length));
    words.set(this.#words);
    this.#words = words;
  }
}
