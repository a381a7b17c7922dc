// Finds duplicate member names in a JSON text. Uses a hash table of positions in the text, because a set of strings would take
// many times the memory of the text. The hash is seeded, because callers choose the names.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ASCII_MAX = 0x7f;
const [UPPER_A, UPPER_Z, TO_LOWER] = [0x41, 0x5a, 0x20];
const SLOTS_MIN = 64;
/** A slot has two numbers: index of the name's opening quote, and hash. */
const SLOT_SIZE = 2;
const EMPTY = -1;
const [seed = 0] = crypto.getRandomValues(new Int32Array(1));

/**
 * @param from where to begin to look: everything before is known not to be the end
 * @returns the index of the closing quote of the string that opens at `start`; the length of the text if it is unterminated
 */
export function endOfString(text: string, start: number, from = start + 1): number {
  for (let end = text.indexOf('"', from); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (text.charCodeAt(before - 1) === BACKSLASH) before -= 1;
    if ((end - before) % 2 === 0) return end;
  }
  return text.length;
}

/** @param start index of the opening quote @returns the decoded string */
export function stringAt(text: string, start: number): string {
  const quoted = text.slice(start, endOfString(text, start) + 1);
  if (!quoted.includes("\\")) return quoted.slice(1, -1);
  try {
    return JSON.parse(quoted);
  } catch {
    return quoted.slice(1, -1); // the text is malformed, and JSON.parse will report it
  }
}

/** Result of `add`: the name is new in the text, new in its object but known in the text, or already in its object. */
export type Found = "new" | "known" | "duplicate";

/** The member names of all objects in one text. */
export class NameTable {
  readonly #names: PositionSet;
  readonly #members: PositionSet;

  /** @param foldsCase whether names are compared without regard to case */
  constructor(
    private readonly text: string,
    private readonly foldsCase: boolean,
  ) {
    const isSame = this.#isSame.bind(this);
    this.#names = new PositionSet(isSame);
    this.#members = new PositionSet(isSame);
  }

  /** Number of distinct names. */
  get size(): number {
    return this.#names.size;
  }

  /**
   * @param start index of the opening quote
   * @param object number of the object that has the name, from 1
   */
  add(start: number, object: number): Found {
    const hash = this.#hashAt(start);
    // An equal name has different hashes in different objects, because `mixed` is a bijection of either argument.
    if (!this.#members.add(start, mixed(hash, object))) return "duplicate";
    return this.#names.add(start, hash) ? "new" : "known";
  }

  /** Compares without allocating a string: most names are short and have no escapes. */
  #isSame(one: number, other: number): boolean {
    const { text } = this;
    for (let at = 1; ; at += 1) {
      const code = text.charCodeAt(one + at);
      if (code !== text.charCodeAt(other + at) || code === BACKSLASH) break;
      if (code === QUOTE) return true;
    }
    return this.#nameAt(one) === this.#nameAt(other);
  }

  #nameAt(start: number): string {
    const name = stringAt(this.text, start);
    return this.foldsCase ? name.toLowerCase() : name;
  }

  #hashAt(start: number): number {
    let hash = seed;
    for (let at = start + 1; at < this.text.length; at += 1) {
      const code = this.text.charCodeAt(at);
      if (code === QUOTE) return hash;
      if (code === BACKSLASH || (this.foldsCase && code > ASCII_MAX)) return this.#slowHash(start);
      hash = mixed(hash, this.foldsCase && code >= UPPER_A && code <= UPPER_Z ? code + TO_LOWER : code);
    }
    return hash;
  }

  /** The same for a name that must be decoded before it can be compared. */
  #slowHash(start: number): number {
    const name = this.#nameAt(start);
    let hash = seed;
    for (let at = 0; at < name.length; at += 1) hash = mixed(hash, name.charCodeAt(at));
    return hash;
  }
}

/** A hash set of names, stored as positions in one array of numbers. */
class PositionSet {
  size = 0;
  #slots: Int32Array = new Int32Array(SLOTS_MIN * SLOT_SIZE).fill(EMPTY);

  constructor(private readonly isSame: (start: number, otherStart: number) => boolean) {}

  /**
   * @param start index of the name's opening quote
   * @returns false if an equal name with the same hash is there already
   */
  add(start: number, hash: number): boolean {
    if ((this.size + 1) * 2 * SLOT_SIZE > this.#slots.length) this.#slots = widened(this.#slots);
    const slots = this.#slots;
    let slot = firstSlot(slots, hash);
    for (; slots[slot] !== EMPTY; slot = nextSlot(slots, slot)) {
      if (slots[slot + 1] === hash && this.isSame(slots[slot] ?? 0, start)) return false;
    }
    slots[slot] = start;
    slots[slot + 1] = hash;
    this.size += 1;
    return true;
  }
}

/** At least half of the slots are empty afterwards. */
function widened(slots: Int32Array): Int32Array {
  const wider = new Int32Array(slots.length * 2).fill(EMPTY);
  for (let from = 0; from < slots.length; from += SLOT_SIZE) {
    if (slots[from] === EMPTY) continue;
    const hash = slots[from + 1] ?? 0;
    let slot = firstSlot(wider, hash);
    while (wider[slot] !== EMPTY) slot = nextSlot(wider, slot);
    wider[slot] = slots[from] ?? 0;
    wider[slot + 1] = hash;
  }
  return wider;
}

function mixed(hash: number, code: number): number {
  const product = Math.imul(hash ^ code, 0x5bd1e995);
  return product ^ (product >>> 15);
}

/** The number of slots is a power of two. */
const firstSlot = (slots: Int32Array, hash: number): number =>
  (hash & (slots.length / SLOT_SIZE - 1)) * SLOT_SIZE;

const nextSlot = (slots: Int32Array, slot: number): number =>
  slot + SLOT_SIZE === slots.length ? 0 : slot + SLOT_SIZE;
