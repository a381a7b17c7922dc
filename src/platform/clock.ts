// Time as a dependency: services receive a Clock, so that tests can control it.

/** Reads the current time. */
export interface Clock {
  /** @returns UTC milliseconds since 1970 */
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** @returns the result of the work; undefined after the time limit, while the work continues */
export async function within<T>(limitMs: number, work: Promise<T>): Promise<T | undefined> {
  const limit = Promise.withResolvers<undefined>();
  const timer = setTimeout(limit.resolve, limitMs, undefined);
  try {
    return await Promise.race([work, limit.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** @returns `20260101T000000Z`, for the names of files */
export const toStamp = (ms: number): string => new Date(ms).toISOString().replace(/[-:]|\.\d+/g, "");

/** @returns UTC milliseconds of `20260101T000000Z`; undefined for any other text */
export function fromStamp(stamp: string): number | undefined {
  const ms = Date.parse(stamp.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/, "$1-$2-$3:$4:$5"));
  return Number.isNaN(ms) ? undefined : ms;
}

/** @returns RFC 3339 in UTC with milliseconds, as every interface shows time */
export const toRfc3339 = (ms: number): string => new Date(ms).toISOString();

const DATE = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?(?:Z|[+-]\d{2}:\d{2}))?$/;

/**
 * @param text `2027-06-30` (the beginning of that day in UTC) or an RFC 3339 time
 * @returns UTC milliseconds; undefined for any other text
 */
export function parseExactTime(text: string): number | undefined {
  const day = DATE.exec(text)?.[1];
  const timeMs = isDay(day) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(timeMs) ? undefined : timeMs;
}

/** `Date` accepts February 30 and turns it into March 2. */
const isDay = (day: string | undefined): boolean =>
  day !== undefined && !Number.isNaN(Date.parse(day)) && new Date(day).toISOString().startsWith(day);

const DISTANCE = /^(\d{1,6})([dhm])$/;
const UNITS_MS: Readonly<Record<string, number>> = { d: DAY_MS, h: HOUR_MS, m: MINUTE_MS };

/** @returns the milliseconds of `7d`, `12h` or `30m`; undefined for any other text */
export function parseDuration(text: string): number | undefined {
  const [, amount, letter = ""] = DISTANCE.exec(text) ?? [];
  const unitMs = UNITS_MS[letter];
  return unitMs === undefined ? undefined : Number(amount) * unitMs;
}
