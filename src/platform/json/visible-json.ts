// Makes JSON safe to print on a terminal: for the log and for the output of `--json`.

/** Characters that break a line, control a terminal, change the direction of text, or are invisible. */
const INVISIBLE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Escapes the other unsafe characters; JSON.stringify escapes only C0 controls.
 * @param json output of `JSON.stringify`, with or without indentation
 * @returns JSON text with the same value
 */
export const visibleJson = (json: string): string =>
  /[^\n -~]/.test(json) ? json.replace(INVISIBLE, escaped) : json;

/** A character above U+FFFF becomes two escapes (RFC 8259 section 7). */
const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
    .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
    .join("");
