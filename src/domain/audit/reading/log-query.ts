// Reads the query parameters of the list of audit entries.
import { parseExactTime } from "../../../platform/clock.ts";
import type { Problem } from "../../../platform/errors.ts";
import { readLimit, refuseProblems } from "../../shared/page.ts";
import type { KeyedAuditQuery } from "../log.ts";

/** Longer values match no entry and would only bloat errors. */
export const FILTER_LENGTH_MAX = 320;

/** The query parameters as received. */
export interface SentAuditQuery {
  actor?: string | undefined;
  action?: string | undefined;
  target?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
  cursor?: string | undefined;
  limit?: string | undefined;
}

/** @throws DomainError `audit.invalid` that names every problem */
export function readAuditQuery(sent: SentAuditQuery): KeyedAuditQuery {
  const problems: Problem[] = [];
  const query = {
    actor: readText("actor", sent.actor, problems),
    action: readText("action", sent.action, problems),
    target: readText("target", sent.target, problems),
    sinceMs: readTime("since", sent.since, problems),
    beforeMs: readTime("until", sent.until, problems),
    after: readCursor(sent.cursor, problems),
    limit: readLimit(sent.limit, problems),
  };
  const { sinceMs, beforeMs } = query;
  if (sinceMs !== undefined && beforeMs !== undefined && sinceMs >= beforeMs)
    problems.push({ pointer: "/until", detail: "until must be later than since" });
  refuseProblems("audit.invalid", problems);
  return query;
}

function readText(name: string, text: string | undefined, problems: Problem[]): string | undefined {
  if (text !== undefined && text.length > FILTER_LENGTH_MAX)
    problems.push({
      pointer: `/${name}`,
      detail: `${name} may have at most ${FILTER_LENGTH_MAX} characters`,
    });
  return text === "" ? undefined : text;
}

function readTime(name: string, text: string | undefined, problems: Problem[]): number | undefined {
  const timeMs = text === undefined ? undefined : parseExactTime(text);
  if (text !== undefined && timeMs === undefined)
    problems.push({
      pointer: `/${name}`,
      detail: `${name} must be a day such as 2027-06-30, which begins in UTC, or an RFC 3339 time`,
    });
  return timeMs;
}

const CURSOR = /^(\d{1,15})-(\d{1,15})$/;

function readCursor(text: string | undefined, problems: Problem[]): KeyedAuditQuery["after"] {
  if (text === undefined) return undefined;
  const [, atMs, id] = CURSOR.exec(text) ?? [];
  if (id === undefined)
    problems.push({ pointer: "/cursor", detail: "cursor must be next_cursor of the previous page" });
  return { atMs: Number(atMs), id: Number(id) };
}

/**
 * @param text id of an entry, as received
 * @throws DomainError `audit.invalid`
 */
export function readAfter(text: string | undefined): number {
  if (text === undefined) return 0;
  const isId = /^\d{1,15}$/.test(text);
  refuseProblems(
    "audit.invalid",
    isId ? [] : [{ pointer: "/after", detail: "after must be the id of an entry" }],
  );
  return Number(text);
}
