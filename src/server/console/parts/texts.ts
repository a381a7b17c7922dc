// Formats values as text: times, numbers, sizes, percentages, ids, and texts from outside. values.tsx puts them into elements, and
// CSV files use some of them.
import { LRUCache } from "lru-cache";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../platform/clock.ts";

/** Formatters are expensive to make. Languages and zones come from readers, so the number kept is bounded. */
const FORMATS_KEPT = 100;
const numbers = new LRUCache<string, Intl.NumberFormat>({ max: FORMATS_KEPT });
const times = new LRUCache<string, Intl.DateTimeFormat>({ max: FORMATS_KEPT });
const relative = new Intl.RelativeTimeFormat("en-US", { numeric: "auto" });

/** Older times are shown exactly only. */
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
      ...{ year, month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" },
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

/** @returns a whole percentage that is 0 or 100 only if the share is exactly that */
export function percentText(part: number, whole: number): string {
  if (whole === 0) return "0%";
  const rounded = Math.round((100 * part) / whole);
  const bounded = Math.min(part < whole ? 99 : 100, Math.max(part > 0 ? 1 : 0, rounded));
  return `${bounded}%`;
}

/** Characters at each end of a shortened id. */
const ENDS = 6;
/** Shorter texts are shown whole. */
const SHOWN_WHOLE = 16;

/** @returns `0197c2…4f6a10`; a digest keeps its `sha256:` */
export function shortened(id: string): string {
  const colon = id.indexOf(":") + 1;
  const body = id.slice(colon);
  return body.length <= SHOWN_WHOLE ? id : `${id.slice(0, colon)}${body.slice(0, ENDS)}…${body.slice(-ENDS)}`;
}

/** Characters above one base character that a name of any script needs. */
const MARKS_KEPT = 8;
const LONG_MARKS = new RegExp(`(\\p{M}{${MARKS_KEPT}})\\p{M}+`, "gu");
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to make visible
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f]/g;
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u0080-\u009f\u2028\u2029\ufeff]/g;
const PICTURES = 0x2400;
const DELETE = "\u007f";

/** @returns the text with control characters as symbols, direction controls by their code points, and piles of marks cut */
export const visibleText = (text: string): string =>
  text
    .replace(CONTROLS, (found) =>
      found === DELETE ? "␡" : String.fromCodePoint(PICTURES + (found.codePointAt(0) ?? 0)),
    )
    .replace(
      DIRECTIONS,
      (found) => `[U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}]`,
    )
    .replace(LONG_MARKS, "$1…");
