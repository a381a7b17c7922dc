// Text that others chose (host names, e-mail addresses, file contents) made harmless for a terminal.

/** control characters, and those that reverse the direction of text */
const HARMFUL = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** @returns one line without escape sequences; each harmful character is replaced by U+FFFD */
export const printable = (text: string): string => text.replace(HARMFUL, "\ufffd");
