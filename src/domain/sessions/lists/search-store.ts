// SQL of the search index. The index names sessions that may contain a text; then the text of each is compared.
import { and, asc, count, eq, isNotNull, isNull, or, type SQL, sql } from "drizzle-orm";
import type { Connection, Tx } from "../../../platform/database/database.ts";
import { runSynchronously, type Steps } from "../../../platform/steps.ts";
import { isAmong } from "../../shared/ordered-rows-store.ts";
import { STEP_ROWS } from "../../shared/page-steps.ts";
import {
  numbersWith,
  numbersWithPair,
  searchParts,
  TEXT_END,
} from "../../shared/text-search/trigram-store.ts";
import { SEARCH_CANDIDATES_MAX } from "../limits.ts";
import { capturedSessions, sessionGrants } from "../tables.ts";
import type { Scope, SessionFilter } from "./list-query.ts";

const { id, organizationId, userId, harness, sharingMode, searchText, searchNumber, resumable } =
  capturedSessions;
const isCurrent = isNotNull(capturedSessions.currentArtifactId);
const isWaiting = and(isCurrent, isNull(searchNumber));
/** Without this order, SQLite chooses another index and reads every session. */
const inOrderOfWaiting = asc(id);

const INDEX = { index: "session_search", terms: "session_search_terms" } as const;
const PAIR_LENGTH = 2;

/** @returns the numbers of sessions that may have the text; undefined if it is too short, or if there are too many of them */
function candidates(connection: Connection, q: string): number[] | undefined {
  const wanted = { max: SEARCH_CANDIDATES_MAX };
  const parts = searchParts(q);
  if (parts.length > 0) return runSynchronously(numbersWith(connection, INDEX.index, { ...wanted, parts }));
  return [...q].length === PAIR_LENGTH
    ? numbersWithPair(connection, INDEX, { ...wanted, pair: q })
    : undefined;
}

/**
 * @returns the ids of the scope's sessions with the text; undefined without a text, if the text is too short for the index, if
 *   too many sessions may have it, and in lists that also have sessions without a current artifact
 */
export function searched(
  connection: Connection,
  scope: Scope,
  { q, harness: wanted, isResumable, status }: SessionFilter,
): string[] | undefined {
  const numbers = q === undefined || status !== undefined ? undefined : candidates(connection, q);
  if (numbers === undefined || numbers.length > SEARCH_CANDIDATES_MAX) return undefined;
  const waiting = connection
    .select({ id })
    .from(capturedSessions)
    .where(isWaiting)
    .orderBy(inOrderOfWaiting)
    .limit(SEARCH_CANDIDATES_MAX + 1)
    .all();
  if (numbers.length + waiting.length > SEARCH_CANDIDATES_MAX) return undefined;
  const matching = and(
    ...[isCurrent, seenIn(scope), sql`instr(${searchText}, ${q}) > 0`],
    wanted === undefined ? undefined : sql`+${harness} = ${wanted}`,
    isResumable ? eq(resumable, true) : undefined,
  );
  const waitingIds = waiting.map((row) => row.id);
  return [isAmong(searchNumber, numbers), isAmong(id, waitingIds)].flatMap((isCandidate) =>
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
 * Counts in the order of the table, which reads each page of the file once. In the order of a list it would read one for each session.
 * @param q folded
 * @returns how many listed sessions of the scope have the text
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

/** Checks rows that other columns select: the plus prevents SQLite from using indexes of these columns. */
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

/** Limits of one transaction, which takes some milliseconds: texts and characters. */
const BATCH_ROWS = 100;
const BATCH_LENGTH = 30_000;

/** Puts texts of listed sessions into the index. @returns how many; 0 at the end */
export function indexTexts(tx: Tx): number {
  const rows = tx
    .select({ id, length: sql<number>`length(${searchText})` })
    .from(capturedSessions)
    .where(isWaiting)
    .orderBy(inOrderOfWaiting)
    .limit(BATCH_ROWS)
    .all();
  let length = 0;
  const batch = rows.filter((row, at) => {
    length += row.length;
    return at === 0 || length <= BATCH_LENGTH;
  });
  if (batch.length === 0) return 0;
  const ids = JSON.stringify(batch.map((row) => row.id));
  const highest = tx
    .select({ number: sql<number>`coalesce(max(${searchNumber}), 0)` })
    .from(capturedSessions)
    .where(isNotNull(searchNumber))
    .get();
  const last = highest?.number ?? 0;
  tx.run(sql`UPDATE ${capturedSessions} SET search_number = ${last} + 1 + wanted.key
    FROM json_each(${ids}) AS wanted WHERE ${id} = wanted.value`);
  tx.run(sql`INSERT INTO session_search (rowid, text)
    SELECT ${searchNumber}, ${searchText} || ${TEXT_END} FROM ${capturedSessions} WHERE ${searchNumber} > ${last}`);
  return batch.length;
}
