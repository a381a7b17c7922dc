// SQL of the search index. The index gives sessions that may contain a text; then the text of each is compared.
import { and, count, eq, isNotNull, isNull, or, type SQL, sql } from "drizzle-orm";
import type { Connection } from "../../../platform/database/database.ts";
import { runSynchronously, type Steps } from "../../../platform/steps.ts";
import { isAmong } from "../../shared/ordered-rows-store.ts";
import { STEP_ROWS } from "../../shared/page-steps.ts";
import { type IndexedTexts, waitingIds } from "../../shared/text-search/indexed-texts-store.ts";
import { candidateNumbers } from "../../shared/text-search/trigram-store.ts";
import { SEARCH_CANDIDATES_MAX } from "../limits.ts";
import { capturedSessions, sessionGrants } from "../tables.ts";
import type { Scope, SessionFilter } from "./list-query.ts";

const { id, organizationId, userId, harness, sharingMode, searchText, searchNumber, resumable } =
  capturedSessions;
const isCurrent = isNotNull(capturedSessions.currentArtifactId);

/** The texts that the job adds. */
export const INDEXED_TEXTS: IndexedTexts = {
  index: "session_search",
  table: capturedSessions,
  id,
  number: searchNumber,
  text: searchText,
  isWaiting: and(isCurrent, isNull(searchNumber)),
};
const INDEX = { index: "session_search", terms: "session_search_terms" } as const;

/**
 * @returns the ids of the scope's sessions with the text; undefined without a text, if it is too short for the index, if too many
 * sessions may contain it, and for lists that include sessions without a current artifact
 */
export function searched(
  connection: Connection,
  scope: Scope,
  { q, harness: wanted, isResumable, status }: SessionFilter,
): string[] | undefined {
  if (q === undefined || status !== undefined) return undefined;
  const text = { text: q, max: SEARCH_CANDIDATES_MAX };
  const numbers = runSynchronously(candidateNumbers(connection, INDEX, text));
  if (numbers === undefined || numbers.length > SEARCH_CANDIDATES_MAX) return undefined;
  const waiting = waitingIds(connection, INDEXED_TEXTS, SEARCH_CANDIDATES_MAX + 1);
  if (numbers.length + waiting.length > SEARCH_CANDIDATES_MAX) return undefined;
  const matching = and(
    ...[isCurrent, seenIn(scope), sql`instr(${searchText}, ${q}) > 0`],
    wanted === undefined ? undefined : sql`+${harness} = ${wanted}`,
    isResumable ? eq(resumable, true) : undefined,
  );
  return [isAmong(searchNumber, numbers), isAmong(id, waiting)].flatMap((isCandidate) =>
    connection
      .select({ id })
      .from(capturedSessions)
      .where(and(isCandidate, matching))
      .limit(SEARCH_CANDIDATES_MAX)
      .all()
      .map((row) => row.id),
  );
}

const rowid = sql<number>`${sql.raw("captured_sessions.rowid")}`;

/**
 * Counts in table order, which reads each page of the file once. List order would read a page per session.
 * @param q folded
 * @returns the number of the scope's listed sessions with the text
 */
export function* countWithText(connection: Connection, scope: Scope, q: string): Steps<number> {
  const isMatch = sql<number>`(${isCurrent} AND ${seenIn(scope)} AND instr(${searchText}, ${q}) > 0)`;
  const step = connection
    .select({ number: rowid.as("number"), isMatch: isMatch.as("is_match") })
    .from(capturedSessions)
    .where(sql`${rowid} > ${sql.placeholder("after")}`)
    .orderBy(rowid)
    .limit(STEP_ROWS)
    .as("step");
  const counted = connection
    .select({
      last: sql<number | null>`max(${step.number})`,
      rows: count(),
      found: sql<number | null>`sum(${step.isMatch})`,
    })
    .from(step)
    .prepare();
  let total = 0;
  for (let after = 0; ; ) {
    const read = counted.get({ after });
    total += read?.found ?? 0;
    if (!read || read.last === null || read.rows < STEP_ROWS) return total;
    after = read.last;
    yield;
  }
}

/** The plus keeps SQLite from using indexes of these columns, because other columns select the rows. */
function seenIn(scope: Scope): SQL | undefined {
  const isIn = sql`+${organizationId} = ${scope.organizationId}`;
  if (scope.kind === "organization") return isIn;
  const isOwn = sql`+${userId} = ${scope.userId}`;
  if (scope.kind === "owner") return and(isIn, isOwn);
  const isGranted = sql`EXISTS (SELECT 1 FROM ${sessionGrants}
    WHERE ${sessionGrants.sessionId} = ${id} AND ${sessionGrants.userId} = ${scope.userId})`;
  const isShared = sql`(${sharingMode} = 'workspace' OR ${sharingMode} = 'selected' AND ${isGranted})`;
  return and(isIn, or(isOwn, isShared));
}
