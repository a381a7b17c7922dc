// Lists of the sessions that a caller may see: numbered pages, pages after a cursor, and portable sessions to resume.
import type { Steps } from "../../../platform/steps.ts";
import { offsetOf, type Page, type PageRequest, WALK_PAGE_MAX } from "../../shared/page.ts";
import {
  type OrderedRows,
  type PageWindow,
  pageInSteps,
  placesOf,
  STEP_ROWS,
} from "../../shared/page-steps.ts";
import type { SessionsDependencies } from "../dependencies.ts";
import { SHARING_MODES, type Viewer } from "../model.ts";
import { Recipients } from "../sharing/recipients.ts";
import { findSession } from "../store.ts";
import { mayView } from "../visibility.ts";
import { countByDay, inSpansOf } from "./count-store.ts";
import {
  type ListRequest,
  type OwnerScope,
  readListQuery,
  type Scope,
  type SessionFilter,
  type SessionQuery,
} from "./list-query.ts";
import { countPrivate, type ListedSession, listedSessions, sessionsLike } from "./list-store.ts";
import { pageStart } from "./page-start.ts";
import { countWithText } from "./search-store.ts";
import { unfinishedPlaces } from "./unfinished-store.ts";

/** A session in a list. */
export interface SessionView extends ListedSession {
  userEmail: string;
  /** number of active users with whom it is shared */
  recipientCount: number;
}

/** A page after a cursor. */
interface CursorPage {
  items: readonly SessionView[];
  /** null at the end */
  nextCursor: string | null;
}

export type SessionPage =
  | ({ mode: "numbered" } & Page<SessionView>)
  | ({ mode: "cursor" | "resumable" } & CursorPage);

/** How many texts can be read in the order of their index in the time that one session takes in list order. */
const TEXT_ORDER_GAIN = 8;
const SHARED_MODES = SHARING_MODES.filter((mode) => mode !== "private");

type Dependencies = Pick<SessionsDependencies, "db" | "identity">;

/** Methods that return steps let the caller yield to the event loop between them. */
export class SessionLists {
  readonly #recipients: Recipients;

  constructor(private readonly dependencies: Dependencies) {
    this.#recipients = new Recipients(dependencies);
  }

  /**
   * @returns the organization's sessions for administrators, own and shared sessions for other users
   * @throws DomainError `sessions.invalid`
   */
  *list(viewer: Viewer, query: SessionQuery): Steps<SessionPage> {
    const request = readListQuery(query);
    const scope = scopeOf(viewer, request, query);
    if (request.mode !== "numbered") return yield* this.#cursorPage(viewer, scope, request);
    const { filter, page } = request;
    const { items, total } = yield* this.#page(scope, filter, this.#numberedWindow(scope, filter, page));
    return { mode: "numbered", page: page.page, perPage: page.perPage, total, items };
  }

  /**
   * Walks a numbered list by position.
   * @param after the last session so far; undefined for the first ones
   * @returns up to WALK_PAGE_MAX sessions after it; none at the end
   * @throws DomainError `sessions.invalid`
   */
  *following(
    viewer: Viewer,
    query: SessionQuery,
    after: Pick<SessionView, "id" | "updatedAtMs"> | undefined,
  ): Steps<readonly SessionView[]> {
    const request = readListQuery({ ...query, page: 1, perPage: WALK_PAGE_MAX, isWalk: true });
    const place = after && { first: after.updatedAtMs, second: after.id };
    const window = { after: place, offset: 0, limit: WALK_PAGE_MAX, known: 0 };
    return (yield* this.#page(scopeOf(viewer, request, query), request.filter, window)).items;
  }

  /** Uses stored totals, except for text searches and for versions that are not current. */
  #numberedWindow(scope: Scope, filter: SessionFilter, page: PageRequest): PageWindow {
    const offset = offsetOf(page);
    if (filter.q !== undefined || filter.status !== undefined) return { offset, limit: page.perPage };
    const days = countByDay(this.dependencies.db.read, scope, filter);
    const known = days.reduce((total, { sessions }) => total + sessions, 0);
    const limit = Math.max(0, Math.min(page.perPage, known - offset));
    return { ...pageStart(days, offset, filter.sort), limit, known };
  }

  /** @returns the number of sessions that the viewer owns */
  countOwn({ organizationId, userId }: Pick<Viewer, "organizationId" | "userId">): number {
    return this.#count({ kind: "owner", organizationId, userId });
  }

  /** @returns a session as lists show it */
  *view(session: ListedSession): Steps<SessionView> {
    const { identity, db } = this.dependencies;
    const userEmail = identity.findUserById(db.read, session.userId)?.email ?? "";
    return { ...session, userEmail, recipientCount: yield* this.#recipients.count(session) };
  }

  *#cursorPage(
    viewer: Viewer,
    scope: Scope,
    { mode, filter, limit, cursor }: Exclude<ListRequest, { mode: "numbered" }>,
  ): Steps<SessionPage> {
    const { organizationId } = viewer;
    const last =
      cursor === undefined
        ? undefined
        : findSession(this.dependencies.db.read, { organizationId, id: cursor });
    if (cursor !== undefined && !(last && mayView(this.dependencies.db.read, last, viewer)))
      return { mode, items: [], nextCursor: null };
    const after = last && { first: last.updatedAtMs, second: last.id };
    // One extra row shows whether there is a next page.
    const found = yield* this.#page(scope, filter, { after, offset: 0, limit: limit + 1, known: 0 });
    const items = found.items.slice(0, limit);
    return { mode, items, nextCursor: found.items.length > limit ? (items.at(-1)?.id ?? null) : null };
  }

  /** @returns the total of a search that compares the text of every session; undefined for all other searches */
  *#textTotal(
    scope: Scope,
    filter: SessionFilter,
    { isComplete }: Pick<OrderedRows<unknown>, "isComplete">,
  ): Steps<number | undefined> {
    const { q, harness, status, updated } = filter;
    const isWhole = [harness, status, updated.fromMs, updated.beforeMs].every((value) => value === undefined);
    if (q === undefined || isComplete || !isWhole) return undefined;
    const { read } = this.dependencies.db;
    const all = this.#count({ kind: "organization", organizationId: scope.organizationId });
    const isLargePart = (part: Scope): boolean => this.#count(part) * TEXT_ORDER_GAIN >= all;
    if (scope.kind !== "organization" && !isLargePart(scope)) return undefined;
    const own = scope.kind === "visible" ? ({ ...scope, kind: "owner" } as const) : undefined;
    if (own === undefined || isLargePart(own))
      return yield* countWithText(read, scope, { q, modes: SHARING_MODES });
    const shared = yield* countWithText(read, scope, { q, modes: SHARED_MODES });
    return shared + (yield* this.#privateTotal(own, { ...filter, q }));
  }

  /** @returns how many of the owner's sessions that nobody else sees have the text */
  *#privateTotal(own: OwnerScope, filter: SessionFilter & { q: string }): Steps<number> {
    const { read } = this.dependencies.db;
    let total = 0;
    for (const days of inSpansOf(STEP_ROWS, countByDay(read, own, { ...filter, sort: "updated_asc" }))) {
      total += countPrivate(read, own, { q: filter.q, days });
      yield;
    }
    return total;
  }

  #count(scope: Scope): number {
    const { filter } = readListQuery({ page: 1 });
    const days = countByDay(this.dependencies.db.read, scope, filter);
    return days.reduce((total, { sessions }) => total + sessions, 0);
  }

  *#places(scope: Scope, filter: SessionFilter, window: PageWindow): Steps<{ ids: string[]; total: number }> {
    const { read } = this.dependencies.db;
    const { status } = filter;
    if (status === "pending" || status === "failed") {
      const places = yield* unfinishedPlaces(read, scope, { status, filter });
      const isDescending = filter.sort === "updated_desc";
      return { ids: placesOf(places, { ...window, isDescending }), total: places.length };
    }
    const rows = sessionsLike(read, scope, filter);
    const counted = window.known === undefined ? yield* this.#textTotal(scope, filter, rows) : undefined;
    const limit = Math.min(window.limit, Math.max(0, (counted ?? Number.POSITIVE_INFINITY) - window.offset));
    const known = window.known ?? counted;
    const { items, total } = yield* pageInSteps(rows, { ...window, known, limit });
    return { ids: items.map(({ second }) => second), total };
  }

  *#page(
    scope: Scope,
    filter: SessionFilter,
    window: PageWindow,
  ): Steps<{ items: SessionView[]; total: number }> {
    const { ids, total } = yield* this.#places(scope, filter, window);
    const items: SessionView[] = [];
    for (const session of listedSessions(this.dependencies.db.read, ids)) {
      items.push(yield* this.view(session));
      yield;
    }
    return { items, total };
  }
}

/** Only owners and administrators can filter by the state of an unfinished, failed or old version. */
function scopeOf(
  viewer: Viewer,
  { mode, filter, ownerId }: ListRequest,
  { isOwn }: Pick<SessionQuery, "isOwn">,
): Scope {
  const { organizationId, userId } = viewer;
  if (mode === "resumable") return { kind: "visible", organizationId, userId };
  if (isOwn) return { kind: "owner", organizationId, userId };
  if (viewer.isAdministrator)
    return ownerId === undefined
      ? { kind: "organization", organizationId }
      : { kind: "owner", organizationId, userId: ownerId };
  return { kind: filter.status === undefined ? "visible" : "owner", organizationId, userId };
}
