// What a parsed value no longer shows: how deep its text is nested, and members that are there twice. Names do not count
// their letters' case in SCIM, so `active` and `Active` in one object contradict each other (scim.md SCIM-37, SCIM-39).
import { scimInvalid } from "../../domain/scim/errors.ts";

/** Objects and lists inside each other at most. */
export const SCIM_DEPTH_MAX = 32;

/** Characters of a member's name that an error repeats. */
const NAME_SHOWN_MAX = 100;

/** Names that are compared one by one. */
const FEW_NAMES = 8;

/**
 * @param json text that is valid JSON
 * @throws ScimError 400 `invalidSyntax`
 */
export function refuseDeepOrDoubled(json: string): void {
  const open: (Names | undefined)[] = []; // undefined for a list
  const byDepth: Names[] = [];
  let isNameNext = false;
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (character === '"') {
      const end = endOfString(json, at);
      if (isNameNext) addName(open.at(-1), json.slice(at, end + 1));
      at = end;
    } else if (character === "{" || character === "[") {
      isNameNext = character === "{";
      open.push(isNameNext ? emptyNames(byDepth, open.length) : undefined);
      if (open.length > SCIM_DEPTH_MAX) throw tooDeep();
    } else if (character === "}" || character === "]") {
      open.pop();
    } else if (character === "," || character === ":") {
      isNameNext = character === "," && open.at(-1) !== undefined;
    }
  }
}

/**
 * The names of an open object. Objects of one depth share one: a large group has an object for each member, and a set for
 * each of them would take ten times the room of the body.
 */
class Names {
  #few: string[] = [];
  #many: Set<string> | undefined;

  clear(): void {
    this.#few.length = 0;
    this.#many = undefined;
  }

  has(name: string): boolean {
    return this.#many?.has(name) ?? this.#few.includes(name);
  }

  add(name: string): void {
    if (this.#few.length < FEW_NAMES) this.#few.push(name);
    else this.#many = (this.#many ?? new Set(this.#few)).add(name);
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

function addName(names: Names | undefined, quoted: string): void {
  const name: string = quoted.includes("\\") ? JSON.parse(quoted) : quoted.slice(1, -1);
  const key = name.toLowerCase();
  if (names?.has(key)) {
    const shown = JSON.stringify(name.slice(0, NAME_SHOWN_MAX));
    throw scimInvalid(
      "invalidSyntax",
      `the member ${shown} is twice in one object; letter case does not count`,
    );
  }
  names?.add(key);
}

const tooDeep = () =>
  scimInvalid("invalidSyntax", `the body is nested more than ${SCIM_DEPTH_MAX} levels deep`);
