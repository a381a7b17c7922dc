// Reads a caller's query for workstations: filter, order and position. Reports all problems together.
import { DAY_MS } from "../../../platform/clock.ts";
import type { Problem } from "../../../platform/errors.ts";
import { type DayRangeQuery, readTimeRange } from "../../shared/day-range.ts";
import { type PageQuery, type PageRequest, readPageQuery, readUuid, readWord } from "../../shared/page.ts";
import { refuseQuery } from "../errors.ts";
import { NOT_SEEN_DAYS_MAX, STALE_AFTER_DAYS } from "../limits.ts";
import { COUNT_KINDS, type CountKind, HEALTHS, SORTS, type Sort, VIEWS } from "../model.ts";
import { cursorPlace, type Place } from "./cursor.ts";
import type { InventoryFilter } from "./list-store.ts";

/** An unchecked query for workstations. */
export interface ClientFilterQuery {
  /** part of the host name, the instance id or the user's address */
  q?: string | undefined;
  userId?: string | undefined;
  harness?: string | undefined;
  health?: string | undefined;
  /** the whole reported version */
  revision?: string | undefined;
  clientVersion?: string | undefined;
  platform?: string | undefined;
  lastSeen?: DayRangeQuery | undefined;
  /** `true` or `false`: whether seen within STALE_AFTER_DAYS */
  stale?: string | undefined;
  notSeenForDays?: number | undefined;
  /** UTC milliseconds, inclusive; overrides the beginning of `lastSeen` */
  seenFromMs?: number | undefined;
  /** UTC milliseconds, exclusive; overrides the end of `lastSeen` */
  seenBeforeMs?: number | undefined;
  /** UTC milliseconds, inclusive; clients whose first report came later do not match */
  firstSeenToMs?: number | undefined;
}

export interface ClientQuery extends ClientFilterQuery, PageQuery {
  sort?: string | undefined;
  /** only validated here; the caller chooses the operation */
  view?: string | undefined;
  /** `next` of the previous page; replaces the page number, so that later pages need not skip earlier rows */
  cursor?: string | undefined;
  /** last client of the previous page, as a cursor for callers that have the row */
  after?: { id: string; orderKey: string | number } | undefined;
}

export interface ClientRequest extends PageRequest {
  filter: InventoryFilter;
  sort: Sort;
  after: Place | undefined;
  known: number | undefined;
  /** whether `known` is the exact number of matching rows, not a bound */
  isKnownExact: boolean;
}

export interface Reading {
  nowMs: number;
  hasAddressLike(text: string): NonNullable<InventoryFilter["q"]>["hasAddress"];
}

/** @throws DomainError `client.invalid` */
export function readClientQuery(query: ClientQuery, reading: Reading): ClientRequest {
  const problems: Problem[] = [];
  const page = readPageQuery(query, problems);
  const filter = readClientFilter({ ...query, q: page.q }, { ...reading, problems });
  const sort = readWord(query.sort, { name: "sort", words: SORTS, problems }) ?? SORTS[0];
  readWord(query.view, { name: "view", words: VIEWS, problems });
  const place = query.cursor === undefined ? undefined : cursorPlace(query.cursor, sort, problems);
  if (query.cursor !== undefined && query.page !== undefined)
    problems.push({ pointer: "/cursor", detail: "cursor and page must not be sent together" });
  refuseQuery(problems);
  const after = query.after && { first: query.after.orderKey, second: query.after.id };
  const { known = query.known, isExact: isKnownExact = true } = place ?? {};
  return { ...page, filter, sort, after: place?.place ?? after, known, isKnownExact };
}

/**
 * @param text words separated by commas; undefined for all kinds
 * @throws DomainError `client.invalid`
 */
export function readCountKinds(text: string | undefined): ReadonlySet<CountKind> {
  if (text === undefined) return new Set(COUNT_KINDS);
  const problems: Problem[] = [];
  const kinds = text
    .split(",")
    .map((word) => readWord(word.trim(), { name: "by", words: COUNT_KINDS, problems }));
  refuseQuery(problems.slice(0, 1));
  return new Set(kinds.filter((kind) => kind !== undefined));
}

/** @returns the filter; use it only if `problems` stays empty */
function readClientFilter(
  query: ClientFilterQuery,
  { problems, nowMs, hasAddressLike }: Reading & { problems: Problem[] },
): InventoryFilter {
  const { q, harness, revision, clientVersion, platform } = query;
  const userId = readUuid(query.userId, "user_id", problems);
  const days = readTimeRange(query.lastSeen ?? {}, { name: "last_seen", problems });
  const stale = readWord(query.stale, { name: "stale", words: ["true", "false"], problems });
  const staleMs = nowMs - STALE_AFTER_DAYS * DAY_MS + 1;
  const unseenMs = unseenSince(query.notSeenForDays, { nowMs, problems });
  return {
    q: q === undefined ? undefined : { text: q, hasAddress: hasAddressLike(q) },
    userId,
    harness,
    health: readWord(query.health, { name: "health", words: HEALTHS, problems }),
    revision,
    clientVersion,
    platform,
    seenFromMs: latest(query.seenFromMs ?? days.fromMs, stale === "false" ? staleMs : undefined),
    seenBeforeMs: earliest(
      query.seenBeforeMs ?? days.beforeMs,
      stale === "true" ? staleMs : undefined,
      unseenMs,
    ),
    firstSeenToMs: query.firstSeenToMs,
  };
}

/**
 * @param days unchecked
 * @returns UTC milliseconds: a client last seen before then was not seen for that many days. Use it only if `problems` stays empty.
 */
export function unseenSince(
  days: number | undefined,
  { nowMs, problems }: { nowMs: number; problems: Problem[] },
): number | undefined {
  if (days === undefined) return undefined;
  if (!Number.isInteger(days) || days < 1 || days > NOT_SEEN_DAYS_MAX) {
    const detail = `not_seen_for_days must be a whole number from 1 to ${NOT_SEEN_DAYS_MAX}`;
    problems.push({ pointer: "/not_seen_for_days", detail });
  }
  return nowMs - days * DAY_MS + 1; // as with STALE_AFTER_DAYS, a workstation seen exactly that long ago is included
}

const earliest = (...times: readonly (number | undefined)[]): number | undefined => extreme(times, Math.min);
const latest = (...times: readonly (number | undefined)[]): number | undefined => extreme(times, Math.max);

function extreme(
  times: readonly (number | undefined)[],
  choose: (...times: number[]) => number,
): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : choose(...known);
}
