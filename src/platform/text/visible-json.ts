// JSON that a terminal shows as it is: for the log and for what commands print with `--json`.

/** Characters that break a line, steer a terminal, reverse its text or cannot be seen. */
const INVISIBLE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * JSON itself escapes only C0 controls. All others sit inside its strings and are escaped the same way.
 * @param json what `JSON.stringify` wrote, with or without indentation
 * @returns the same document
 */
export const visibleJson = (json: string): string =>
  /[^\n -~]/.test(json) ? json.replace(INVISIBLE, escaped) : json;

/** A character beyond U+FFFF is two escapes (RFC 8259 section 7). */
const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
    .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
    .join("");
