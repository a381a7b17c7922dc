// Turns the error of a gateway or an executable into a log text: short, on one line, without anything that looks like a secret.
// Also parses times of upstream systems, which both kinds of provisioner receive as text.

/** Maximum characters of a diagnosis. */
export const DIAGNOSIS_CHARS_MAX = 500;

const CONTROL = /\p{Cc}+/gu;
const SECRET = /(?<![a-z0-9])sk-\S+|\bBearer\S*\s+\S+/gi;

/** @returns the text on one line, shortened, with a mark in place of keys and bearer tokens */
export const toDiagnosis = (text: string): string =>
  text.replace(CONTROL, " ").replace(SECRET, "[secret]").trim().slice(0, DIAGNOSIS_CHARS_MAX);

const TIME =
  /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

/**
 * @returns UTC milliseconds; undefined unless it is RFC 3339 with its offset and an existing day
 * @source handbook: gateway, Answers
 */
export function parseTime(text: string): number | undefined {
  const day = TIME.exec(text)?.[1];
  if (day === undefined || !new Date(day).toJSON()?.startsWith(day)) return undefined;
  return Date.parse(text.toUpperCase());
}
