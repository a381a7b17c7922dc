// Distinguishes keys of unknown form from names: a random text has few runs of letters that could be words.
import { UUID_PATTERN } from "../../../platform/ids.ts";

export const RANDOM_CHARACTERS_MIN = 20;
/** A longer text is an image or an archive. */
export const RANDOM_CHARACTERS_MAX = 4_096;
const CHARACTERS = /^[\w+/=.~-]+$/;
/** a path, or a digest as in lock files */
const ORDINARY_START = /^(?:\.{0,2}\/|~\/|sha\d{1,3}[-:])/;
const HEXADECIMAL = /^[\da-f]{32,}$/i;
/** Forty lower-case digits are more often a commit than a key. */
const COMMIT = /^[\da-f]{40}$/;
/** the form of secret keys of AWS */
const BASE64_OF_30_BYTES = /^[A-Za-z\d+/]{40}$/;
/** Parts of names and versions are shorter. */
const PART_CHARACTERS_MIN = 8;
const WORD = /[A-Z]?[a-z]{3,}|[A-Z]{3,}|\d{4,}/g;
/** Random letters and digits leave two thirds of their characters outside of words; names leave less than a third. */
const OUTSIDE_WORDS_MIN = 0.4;
const OUTSIDE_WORDS_MIN_OF_BASE64 = 0.3;
const ONE_CASE = /^(?:[a-z\d]{24,}|[A-Z\d]{24,})$/;
/** In random text, a letter is next to a digit in 40 % of the places. */
const CHANGES_MIN = 0.28;

/** @returns whether a text looks like a random key: hexadecimal, base64 or letters mixed with digits */
export function isRandomText(text: string): boolean {
  if (text.length < RANDOM_CHARACTERS_MIN || text.length > RANDOM_CHARACTERS_MAX) return false;
  if (!CHARACTERS.test(text) || ORDINARY_START.test(text) || UUID_PATTERN.test(text)) return false;
  if (HEXADECIMAL.test(text)) return !COMMIT.test(text);
  if (!/\d/.test(text)) return false;
  if (ONE_CASE.test(text)) return changesIn(text) >= CHANGES_MIN * text.length;
  if (!/[a-z]/.test(text) || !/[A-Z]/.test(text)) return false;
  const isBase64 = BASE64_OF_30_BYTES.test(text);
  const least = isBase64 ? OUTSIDE_WORDS_MIN_OF_BASE64 : OUTSIDE_WORDS_MIN;
  return outsideWords(text, isBase64 ? 1 : PART_CHARACTERS_MIN) >= least * text.length;
}

/** @returns how often a letter is next to a digit */
const changesIn = (text: string): number => text.match(/\d(?=\D)|\D(?=\d)/g)?.length ?? 0;

/** @returns the number of characters in long parts that are not words or numbers */
const outsideWords = (text: string, partMin: number): number =>
  text
    .split(/[^A-Za-z\d]+/)
    .filter(({ length }) => length >= partMin)
    .reduce((count, part) => count + part.replaceAll(WORD, "").length, 0);
