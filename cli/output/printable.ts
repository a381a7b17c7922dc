// Text that others chose (host names, e-mail addresses, file contents) made harmless for a terminal.

/** Control characters, line and paragraph separators, and characters that change the direction of text. */
const HARMFUL = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** @returns one line without escape sequences; each harmful character is replaced by U+FFFD */
export const printable = (text: string): string => text.replace(HARMFUL, "\ufffd");

/** The same for JSON, inside whose strings every invisible character becomes an escape, as in the log. */
export { visibleJson as printableJson } from "../../src/platform/text/visible-json.ts";
