// Text that others chose (host names, e-mail addresses, file contents) made harmless for a terminal.

/** Control characters, line and paragraph separators, and characters that change the direction of text. */
const HARMFUL = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** @returns one line without escape sequences; each harmful character is replaced by U+FFFD */
export const printable = (text: string): string => text.replace(HARMFUL, "\ufffd");

/**
 * @param json what `JSON.stringify` wrote, with or without indentation
 * @returns the same document, with harmful characters inside its strings as escapes; JSON itself escapes only C0 controls
 */
export const printableJson = (json: string): string =>
  json.replace(HARMFUL, (character) => (character === "\n" ? character : escaped(character)));

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
