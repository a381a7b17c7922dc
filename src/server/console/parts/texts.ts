// Formats values as text: times, numbers, sizes, percentages, ids, and untrusted texts. values.tsx puts them into elements, and
// CSV files use some of them.
import { LRUCache } from "lru-cache";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../platform/clock.ts";

/**
 * Creating a formatter is slow, so formatters are cached. Languages and time zones come from readers, so the cache is bounded.
 */
const FORMATS_KEPT = 100;
const numbers = new LRUCache<string, Intl.NumberFormat>({ max: FORMATS_KEPT });
const times = new LRUCache<string, Intl.DateTimeFormat>({ max: FORMATS_KEPT });
const relative = new Intl.RelativeTimeFormat("en-US", { numeric: "auto" });

/** Older times have no relative form. */
const RELATIVE_DAYS = 7;

/** @returns for example `Nov 23, 2026, 14:02 UTC` */
export const exactTime = (ms: number, zone: string): string => formatted(ms, { zone, year: "numeric" });

/** @returns for example `Nov 23, 14:02 UTC`, for times beside a relative one */
export const nearTime = (ms: number, zone: string): string => formatted(ms, { zone, year: undefined });

function formatted(ms: number, { zone, year }: { zone: string; year: "numeric" | undefined }): string {
  const key = `${zone} ${year}`;
  const known = times.get(key);
  const format =
    known ??
    new Intl.DateTimeFormat("en-US", {
      year,
      month: "short",
      day: "numeric",
      hour: "2-digit",
      minute: "2-digit",
      hourCycle: "h23",
      timeZone: zone,
      timeZoneName: "short",
    });
  if (!known) times.set(key, format);
  return format.format(ms);
}

/** @returns for example `2 hours ago`; undefined for times more than 7 days away */
export function relativeTime(ms: number, nowMs: number): string | undefined {
  const difference = ms - nowMs;
  const distance = Math.abs(difference);
  if (distance > RELATIVE_DAYS * DAY_MS) return undefined;
  if (distance < MINUTE_MS) return difference > 0 ? "in less than a minute" : "just now";
  const [unit, size] =
    distance < HOUR_MS
      ? (["minute", MINUTE_MS] as const)
      : distance < DAY_MS
        ? (["hour", HOUR_MS] as const)
        : (["day", DAY_MS] as const);
  return relative.format(Math.trunc(difference / size), unit);
}

/** @returns the day in a zone: `2026-11-23` */
export const dayText = (ms: number, zone: string): string =>
  Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).toPlainDate().toString();

/** @returns the number with the grouping of a language */
export function numberText(value: number, language: string): string {
  const known = numbers.get(language);
  const format = known ?? new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
  if (!known) numbers.set(language, format);
  return format.format(value);
}

const UNIT_STEP = 1024;
const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

/** @returns for example `1.4 MiB` */
export function sizeText(bytes: number, language: string): string {
  let value = bytes;
  let unit = 0;
  while (value >= UNIT_STEP && unit < UNITS.length - 1) {
    value /= UNIT_STEP;
    unit += 1;
  }
  return `${numberText(value, language)} ${UNITS[unit]}`;
}

/** @returns a whole percentage; 0 and 100 only for exactly 0 and 100 percent */
export function percentText(part: number, whole: number): string {
  if (whole === 0) return "0%";
  const rounded = Math.round((100 * part) / whole);
  const bounded = Math.min(part < whole ? 99 : 100, Math.max(part > 0 ? 1 : 0, rounded));
  return `${bounded}%`;
}

/** Characters at each end of a shortened id. */
const ENDS = 6;
/** Shorter texts are not shortened. */
const SHOWN_WHOLE = 16;

/** @returns `0197c2…4f6a10`; a digest keeps its `sha256:` */
export function shortened(id: string): string {
  const colon = id.indexOf(":") + 1;
  const body = id.slice(colon);
  return body.length <= SHOWN_WHOLE ? id : `${id.slice(0, colon)}${body.slice(0, ENDS)}…${body.slice(-ENDS)}`;
}

/** Maximum number of combining characters on one base character; names in all scripts fit. */
const MARKS_KEPT = 8;
const LONG_MARKS = new RegExp(`(\\p{M}{${MARKS_KEPT}})\\p{M}+`, "gu");

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);
const CONTROLS = [...range(0, 0x08), ...range(0x0b, 0x1f)];
const DIRECTIONS = [0x061c, 0x200e, 0x200f, ...range(0x202a, 0x202e), ...range(0x2066, 0x2069)];
const INVISIBLE = [...range(0x80, 0x9f), 0x2028, 0x2029, 0xfeff];
/** The symbol for NUL. The symbols of the other control characters follow it. */
const PICTURES = 0x2400;

/** The visible replacement of a character that is invisible or that changes the direction of the text after it. */
const SYMBOLS: readonly (readonly [string, string])[] = [
  ...CONTROLS.map((code) => [String.fromCodePoint(code), String.fromCodePoint(PICTURES + code)] as const),
  ["\u007f", "␡"],
  ...[...DIRECTIONS, ...INVISIBLE].map((code) => {
    const digits = code.toString(16).toUpperCase().padStart(4, "0");
    return [String.fromCodePoint(code), `[U+${digits}]`] as const;
  }),
];
const HIDDEN = new RegExp(`[${SYMBOLS.map(([character]) => character).join("")}]`);

/**
 * A pass for each character is eight times as fast as a callback for each match, and transcripts may have 200,000 matches.
 * @returns the text with control characters as symbols, direction controls as their code points, and long runs of combining
 *   characters cut
 */
export function visibleText(text: string): string {
  let visible = text;
  if (HIDDEN.test(text))
    for (const [character, symbol] of SYMBOLS) visible = visible.replaceAll(character, symbol);
  return visible.replace(LONG_MARKS, "$1…");
}

/** A tag, or a whole textarea, whose text a form sends back unchanged. The renderer quotes every value. */
const MARKUP = /(<textarea\b[\s\S]*?<\/textarea>|<(?:"[^"]*"|[^">])*>)/;

/**
 * @param html as preact-render-to-string renders it
 * @returns the same with visible text in place of control characters and direction controls; values of attributes and
 * fields stay as they are. Pages shorten runs of combining characters themselves, because searching every page would be
 * slow.
 */
export function visibleHtml(html: string): string {
  if (!HIDDEN.test(html)) return html;
  return html
    .split(MARKUP)
    .map((part, at) => (at % 2 === 0 ? visibleText(part) : part))
    .join("");
}

const ALL_HIDDEN = new RegExp(HIDDEN, "g");

/** @returns indented JSON with escapes in place of characters that are invisible or change the direction of the text after them */
export const visibleJson = (value: object): string =>
  JSON.stringify(value, null, 2).replaceAll(
    ALL_HIDDEN,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
