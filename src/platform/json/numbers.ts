// Finds numbers that a double cannot hold (RFC 8259 section 6): a parser would round them silently, to another number, to zero or
// to infinity. A fraction may lose digits after the sixteenth, as in every program that reads JSON.

import { endOfString } from "./names.ts";

/** Only a number of this length or with such an exponent can change, so other texts are not scanned. */
const LONG_NUMBER = /[\d.]{16}|\d[eE][-+]?\d{2}/;
const NUMBER = /[-+\d.][-+\w.]*/y;

/** @param text well-formed JSON @returns the index of each number that parsing would change, with the reason */
export function changedNumbersIn(text: string): { at: number; detail: string }[] {
  if (!LONG_NUMBER.test(text)) return [];
  const found: { at: number; detail: string }[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === MINUS || (code >= DIGIT_0 && code <= DIGIT_9)) {
      NUMBER.lastIndex = at;
      const [literal = "-"] = NUMBER.exec(text) ?? [];
      const detail = changeOf(literal, Number(literal));
      if (detail !== undefined) found.push({ at, detail });
      at += literal.length - 1;
    }
  }
  return found;
}

const QUOTE = 0x22;
const MINUS = 0x2d;
const [DIGIT_0, DIGIT_9] = [0x30, 0x39];

/**
 * @param literal in the notation of JSON or YAML
 * @param number its parsed value
 * @returns why the parsed value differs, without repeating the number; undefined if it does not
 */
export function changeOf(literal: string, number: number): string | undefined {
  if (/^[-+]?0\d/.test(literal)) return "begins with a zero, which a number would lose; write it in quotes";
  if (literal.length < SHORTEST_CHANGED && !/[eE]/.test(literal)) return undefined;
  if (!Number.isFinite(number))
    return /\d/.test(literal) ? "is too large for a number; write it in quotes" : undefined;
  if (number === 0)
    return /^[^eE]*[1-9]/.test(literal) ? "is too small for a number; write it in quotes" : undefined;
  if (Number.isSafeInteger(Math.trunc(number)) || isSameNumber(literal, number)) return undefined;
  return "has too many digits for a number and would be rounded; write it in quotes";
}

const SHORTEST_CHANGED = 16;

function isSameNumber(literal: string, number: number): boolean {
  const text = JSON.stringify(number);
  if (/^0[ox]/i.test(literal)) return BigInt(literal) === BigInt(number) && text === String(BigInt(literal));
  return decimalOf(literal) === decimalOf(text);
}

/** @returns the digits without leading and trailing zeros, and their exponent: equal for equal numbers */
function decimalOf(literal: string): string {
  const [, whole = "", fraction = "", exponent = "0"] =
    /^[-+]?(\d*)\.?(\d*)(?:e([-+]?\d+))?$/i.exec(literal) ?? [];
  const digits = whole + fraction;
  let [start, end] = [0, digits.length];
  while (digits[start] === "0") start += 1;
  while (end > start && digits[end - 1] === "0") end -= 1;
  return `${digits.slice(start, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}
