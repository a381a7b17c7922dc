// Reads a list request in one of its three modes, and reports all problems together.
import type { Problem } from "../../../platform/errors.ts";
import { type DayRange, type DayRangeQuery, readTimeRange } from "../../shared/day-range.ts";
import { type PageQuery, type PageRequest, readPageQuery, readUuid, readWord } from "../../shared/page.ts";
import { refuseRequest } from "../errors.ts";
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX } from "../limits.ts";
import { ARTIFACT_STATUSES, type ArtifactStatus, foldForSearch } from "../model.ts";

export const SESSION_SORTS = ["updated_desc", "updated_asc"] as const;
export type SessionSort = (typeof SESSION_SORTS)[number];

/** An unchecked list request; text that is not a number is NaN. */
export interface SessionQuery extends PageQuery {
  limit?: number | undefined;
  cursor?: string | undefined;
  harness?: string | undefined;
  userId?: string | undefined;
  status?: string | undefined;
  updated?: DayRangeQuery | undefined;
  /** replaces `updated`; never set by the API, whose days are in UTC */
  updatedIn?: DayRange | undefined;
  sort?: string | undefined;
  resumable?: string | undefined;
  /** only the viewer's sessions; never set by the API */
  isOwn?: boolean | undefined;
}

export interface SessionFilter {
  /** folded */
  q: string | undefined;
  harness: string | undefined;
  /** only portable sessions */
  isResumable?: boolean;
  /** state of an artifact that the sessions must have; undefined for sessions with a current artifact */
  status?: Exclude<ArtifactStatus, "complete"> | undefined;
  updated: DayRange;
  sort: SessionSort;
}

/** The sessions that a list selects from. */
export type Scope =
  | { kind: "organization"; organizationId: string }
  | { kind: "owner"; organizationId: string; userId: string }
  /** the user's own and shared sessions */
  | { kind: "visible"; organizationId: string; userId: string };

export type OwnerScope = Extract<Scope, { kind: "owner" }>;

export type ListRequest =
  | { mode: "numbered"; filter: SessionFilter; ownerId: string | undefined; page: PageRequest }
  | {
      mode: "cursor" | "resumable";
      filter: SessionFilter;
      ownerId: string | undefined;
      limit: number;
      cursor: string | undefined;
    };

/** @throws DomainError `sessions.invalid` with all problems */
export function readListQuery(query: SessionQuery): ListRequest {
  const problems: Problem[] = [];
  const page = readPageQuery(query, problems);
  const status = readWord(query.status, { name: "status", words: ARTIFACT_STATUSES, problems });
  const filter: SessionFilter = {
    q: page.q === undefined ? undefined : foldForSearch(page.q),
    harness: query.harness,
    status: status === "complete" ? undefined : status,
    updated: query.updatedIn ?? readTimeRange(query.updated ?? {}, { name: "updated", problems }),
    sort: readWord(query.sort, { name: "sort", words: SESSION_SORTS, problems }) ?? "updated_desc",
  };
  const limit = readLimit(query.limit, problems);
  const cursor = readUuid(query.cursor, "cursor", problems);
  const ownerId = readUuid(query.userId, "user_id", problems);
  const isResumable = readFlag(query.resumable, problems);
  const isNumbered = !isResumable && asksForNumbers(query);
  if (isNumbered) refuseCursor(query, problems);
  refuseRequest(problems);
  if (isNumbered) return { mode: "numbered", filter, ownerId, page };
  if (!isResumable) return { mode: "cursor", filter, ownerId, limit, cursor };
  const { q, harness } = filter;
  const portable = { q, harness, isResumable, updated: ANY_DAY, sort: SESSION_SORTS[0] };
  return { mode: "resumable", filter: portable, ownerId: undefined, limit, cursor };
}

const ANY_DAY: DayRange = { fromMs: undefined, beforeMs: undefined };

/** Parameters that select numbered pages. */
const asksForNumbers = ({ page, perPage, q, updated = {}, updatedIn, sort }: SessionQuery): boolean =>
  [page, perPage, q, updated.from, updated.to, updatedIn, sort].some((value) => value !== undefined);

function refuseCursor({ cursor, limit }: SessionQuery, problems: Problem[]): void {
  for (const [name, value] of Object.entries({ cursor, limit })) {
    if (value === undefined) continue;
    const detail = `${name} belongs to a list without page, per_page, q, updated_from, updated_to and sort`;
    problems.push({ pointer: `/${name}`, detail });
  }
}

function readLimit(limit: number | undefined, problems: Problem[]): number {
  if (limit === undefined) return LIST_LIMIT_DEFAULT;
  if (!(limit >= 1 && limit <= LIST_LIMIT_MAX))
    problems.push({ pointer: "/limit", detail: `limit must be a whole number from 1 to ${LIST_LIMIT_MAX}` });
  return limit;
}

const readFlag = (text: string | undefined, problems: Problem[]): boolean =>
  readWord(text, { name: "resumable", words: ["true", "false"], problems }) === "true";
