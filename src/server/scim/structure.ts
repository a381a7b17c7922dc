// What a parsed value no longer shows: how deep its text is nested, and members that are there twice. Names do not count
// their letters' case in SCIM, so `active` and `Active` in one object contradict each other (scim.md SCIM-37, SCIM-39).
import { scimInvalid } from "../../domain/scim/errors.ts";

/** Objects and lists inside each other at most. */
export const SCIM_DEPTH_MAX = 32;

/** Characters of a member's name that an error repeats. */
const NAME_SHOWN_MAX = 100;

/** Names that are compared one by one. */
const FEW_NAMES = 8;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const [OPEN_LIST, CLOSE_LIST] = [0x5b, 0x5d];
const [OPEN_OBJECT, CLOSE_OBJECT] = [0x7b, 0x7d];

/**
 * @param json text that is valid JSON
 * @throws ScimError 400 `invalidSyntax`
 */
export function refuseDeepOrDoubled(json: string): void {
  const open: (Names | undefined)[] = []; // undefined for a list
  const byDepth: Names[] = [];
  let isNameNext = false;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      at = isNameNext ? passName(json, at, open.at(-1)) : endOfString(json, at);
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      isNameNext = code === OPEN_OBJECT;
      open.push(isNameNext ? emptyNames(byDepth, open.length) : undefined);
      if (open.length > SCIM_DEPTH_MAX) throw tooDeep();
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      open.pop();
    } else if (code === COMMA || code === COLON) {
      isNameNext = code === COMMA && open.at(-1) !== undefined;
    }
  }
}

/**
 * The names of an open object. Objects of one depth share one: a large group has an object for each member, and their names
 * are mostly those of the object before, in the same order. They are recognized where they stand and not looked at again:
 * a set for each object would take ten times the room of the body, and their texts as much as the body.
 */
class Names {
  /** in quotes, as they stand in the text: those of the open object, and after them the rest of the one before */
  readonly #written: string[] = [];
  /** the same in lower case */
  readonly #keys: string[] = [];
  #count = 0;
  #many: Set<string> | undefined;

  clear(): void {
    this.#count = 0;
    this.#many = undefined;
  }

  /** @returns how long the name is that the object before had here, if this is the same; 0 for another one */
  follow(json: string, at: number): number {
    const next = this.#many ? undefined : this.#written[this.#count];
    if (next === undefined || !json.startsWith(next, at)) return 0;
    this.#count += 1;
    return next.length;
  }

  /** @returns whether it is new */
  add(quoted: string, key: string): boolean {
    this.#written.length = this.#count;
    this.#keys.length = this.#count;
    if (this.#count >= FEW_NAMES) this.#many ??= new Set(this.#keys);
    if (this.#many?.has(key) ?? this.#keys.includes(key)) return false;
    this.#many?.add(key);
    this.#written.push(quoted);
    this.#keys.push(key);
    this.#count += 1;
    return true;
  }
}

function emptyNames(byDepth: Names[], depth: number): Names {
  const names = byDepth[depth] ?? new Names();
  byDepth[depth] = names;
  names.clear();
  return names;
}

/** @returns the index of the quote that closes the string which `start` opens */
function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); ; end = json.indexOf('"', end + 1)) {
    let before = end;
    while (json[before - 1] === "\\") before -= 1;
    if ((end - before) % 2 === 0) return end;
  }
}

/** @returns the index of the quote that closes the name which `start` opens */
function passName(json: string, start: number, names: Names | undefined): number {
  const known = names?.follow(json, start) ?? 0;
  if (known > 0) return start + known - 1;
  const end = endOfString(json, start);
  const quoted = json.slice(start, end + 1);
  const name: string = quoted.includes("\\") ? JSON.parse(quoted) : quoted.slice(1, -1);
  if (names?.add(quoted, name.toLowerCase()) === false) {
    const shown = JSON.stringify(name.slice(0, NAME_SHOWN_MAX));
    throw scimInvalid(
      "invalidSyntax",
      `the member ${shown} is twice in one object; letter case does not count`,
    );
  }
  return end;
}

const tooDeep = () =>
  scimInvalid("invalidSyntax", `the body is nested more than ${SCIM_DEPTH_MAX} levels deep`);
