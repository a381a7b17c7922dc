// Reads the names of members in place in a JSON text, usually without creating strings, which would take many times the memory
// of the text. Hashes are seeded, because callers choose the names.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ASCII_MAX = 0x7f;
const [UPPER_A, UPPER_Z, TO_LOWER] = [0x41, 0x5a, 0x20];
const [seed = 0] = crypto.getRandomValues(new Int32Array(1));

/**
 * @param from where to begin: the end is not before it
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

/** The names in one text. */
export class JsonNames {
  constructor(private readonly text: string) {}

  /** @param start index of the opening quote @returns a 32-bit integer */
  hashAt(start: number, foldsCase: boolean): number {
    const { text } = this;
    let hash = seed;
    for (let at = start + 1; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) return hash;
      if (code === BACKSLASH || (foldsCase && code > ASCII_MAX)) return hashOf(this.nameAt(start, foldsCase));
      hash = mixHash(hash, foldsCase && code >= UPPER_A && code <= UPPER_Z ? code + TO_LOWER : code);
    }
    return hash;
  }

  /** Compares without allocating a string: most names are short and have no escapes. */
  isSame(one: number, other: number, foldsCase: boolean): boolean {
    const { text } = this;
    for (let at = 1; ; at += 1) {
      const code = text.charCodeAt(one + at);
      if (code !== text.charCodeAt(other + at) || code === BACKSLASH) break;
      if (code === QUOTE) return true;
    }
    return this.nameAt(one, foldsCase) === this.nameAt(other, foldsCase);
  }

  /** @returns the decoded name, in lower case if case is ignored */
  nameAt(start: number, foldsCase: boolean): string {
    const name = stringAt(this.text, start);
    return foldsCase ? name.toLowerCase() : name;
  }
}

function hashOf(name: string): number {
  let hash = seed;
  for (let at = 0; at < name.length; at += 1) hash = mixHash(hash, name.charCodeAt(at));
  return hash;
}

/** @returns both 32-bit integers mixed into one; a bijection in either of them */
export function mixHash(hash: number, code: number): number {
  const product = Math.imul(hash ^ code, 0x5bd1e995);
  return product ^ (product >>> 15);
}
