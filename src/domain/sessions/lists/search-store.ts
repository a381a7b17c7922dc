// SQL of the search index. The index gives sessions that may contain a text; then the text of each is compared.
import { and, count, eq, gt, inArray, isNotNull, isNull, max, min, type SQL, sql } from "drizzle-orm";
import type { Connection } from "../../../platform/database/database.ts";
import { runSynchronously, type Steps } from "../../../platform/steps.ts";
import { isAmong } from "../../shared/ordered-rows-store.ts";
import { STEP_ROWS } from "../../shared/page-steps.ts";
import { type IndexedTexts, waitingIds } from "../../shared/text-search/indexed-texts-store.ts";
import { candidateNumbers } from "../../shared/text-search/trigram-store.ts";
import { SEARCH_CANDIDATES_MAX } from "../limits.ts";
import type { SharingMode } from "../model.ts";
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
    ...[isCurrent, isIn(scope), isSeen(scope), sql`instr(${searchText}, ${q}) > 0`],
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

/** Number of texts in one step, which takes about a millisecond. */
const STEP_TEXTS = 4_000;

/**
 * Reads only an index that covers the count, in its order. List order would read a page per session.
 * @param wanted `q`: folded; `modes`: only sessions in these sharing modes
 * @returns the number of the scope's listed sessions with the text
 */
export function* countWithText(connection: Connection, scope: Scope, wanted: CountedText): Steps<number> {
  const next = connection
    .select({ number: min(searchNumber) })
    .from(capturedSessions)
    .where(sql`${searchNumber} > ${sql.placeholder("after")}`)
    .prepare();
  const found = connection
    .select({ total: count() })
    .from(capturedSessions)
    .where(
      and(
        eq(organizationId, scope.organizationId),
        sql`${searchNumber} BETWEEN ${sql.placeholder("first")} AND ${sql.placeholder("last")}`,
        hasText(scope, wanted),
      ),
    )
    .prepare();
  let total = 0;
  for (let last = 0; ; ) {
    const first = next.get({ after: last })?.number;
    if (first === null || first === undefined) break;
    last = first + STEP_TEXTS - 1;
    total += found.get({ first, last })?.total ?? 0;
    yield;
  }
  return total + (yield* countWaiting(connection, scope, wanted));
}

export interface CountedText {
  /** folded */
  q: string;
  modes: readonly SharingMode[];
}

/** Counts those sessions that the index does not have yet, usually few. */
function* countWaiting(connection: Connection, scope: Scope, wanted: CountedText): Steps<number> {
  const isMatch = and(isIn(scope), hasText(scope, wanted));
  const step = connection
    .select({ id, isMatch: sql<number>`(${isMatch})`.as("is_match") })
    .from(capturedSessions)
    .where(and(INDEXED_TEXTS.isWaiting, gt(id, sql.placeholder("after"))))
    .orderBy(id)
    .limit(STEP_ROWS)
    .as("step");
  const counted = connection
    .select({ last: max(step.id), rows: count(), found: sql<number | null>`sum(${step.isMatch})` })
    .from(step)
    .prepare();
  let total = 0;
  for (let after = ""; ; ) {
    const read = counted.get({ after });
    total += read?.found ?? 0;
    if (!read || read.last === null || read.rows < STEP_ROWS) return total;
    after = read.last;
    yield;
  }
}

const hasText = (scope: Scope, { q, modes }: CountedText): SQL | undefined =>
  and(inArray(sharingMode, [...modes]), isSeen(scope), sql`instr(${searchText}, ${q}) > 0`);

/** The plus keeps SQLite from using indexes of these columns, because other columns select the rows. */
const isIn = ({ organizationId: wanted }: Scope): SQL => sql`+${organizationId} = ${wanted}`;

/** @returns the condition for the scope's sessions among those of its organization */
function isSeen(scope: Scope): SQL | undefined {
  if (scope.kind === "organization") return undefined;
  const isOwn = sql`+${userId} = ${scope.userId}`;
  if (scope.kind === "owner") return isOwn;
  const isGranted = sql`EXISTS (SELECT 1 FROM ${sessionGrants}
    WHERE ${sessionGrants.sessionId} = ${id} AND ${sessionGrants.userId} = ${scope.userId})`;
  return sql`(${sharingMode} = 'workspace' OR ${isOwn} OR ${sharingMode} = 'selected' AND ${isGranted})`;
}
