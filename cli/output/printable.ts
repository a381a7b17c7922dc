// Makes untrusted text (host names, e-mail addresses, file contents) safe to print on a terminal.

/** Control characters, line and paragraph separators, and bidirectional controls. */
const HARMFUL = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** @returns one line without escape sequences; each harmful character is replaced by U+FFFD */
export const printable = (text: string): string => text.replace(HARMFUL, "\ufffd");

/** The same for JSON: every invisible character inside a string becomes an escape, as in the log. */
export { visibleJson as printableJson } from "../../src/platform/observe/log-value.ts";
