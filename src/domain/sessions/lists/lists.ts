// Lists of the sessions that a caller may see: numbered pages, pages behind a cursor, and portable sessions to resume.
import type { Steps } from "../../../platform/steps.ts";
import { offsetOf, type Page } from "../../shared/page.ts";
import { type PageWindow, pageInSteps } from "../../shared/page-steps.ts";
import type { SessionsDependencies } from "../dependencies.ts";
import type { Viewer } from "../model.ts";
import { Recipients } from "../sharing/recipients.ts";
import { findSession, totals } from "../store.ts";
import { mayView } from "../visibility.ts";
import { type ListRequest, readListQuery, type SessionFilter, type SessionQuery } from "./list-query.ts";
import { type ListedSession, listedSessions, type Scope, sessionsLike } from "./list-store.ts";

/** A session as lists show it. */
export interface SessionView extends ListedSession {
  userEmail: string;
  /** active users with whom it is shared */
  recipientCount: number;
}

/** A page behind a cursor. */
export interface CursorPage {
  items: readonly SessionView[];
  /** null at the end */
  nextCursor: string | null;
}

export type SessionPage =
  | ({ mode: "numbered" } & Page<SessionView>)
  | ({ mode: "cursor" | "resumable" } & CursorPage);

type Own = Pick<SessionsDependencies, "db" | "identity">;

/** Operations in steps are for callers who let the event loop turn. */
export class SessionLists {
  readonly #recipients: Recipients;

  constructor(private readonly own: Own) {
    this.#recipients = new Recipients(own);
  }

  /**
   * @returns administrators see the organization, other users own and shared sessions
   * @throws DomainError `sessions.invalid`
   */
  *list(viewer: Viewer, query: SessionQuery): Steps<SessionPage> {
    const request = readListQuery(query);
    const scope = scopeOf(viewer, request);
    if (request.mode !== "numbered") return yield* this.#cursorPage(viewer, scope, request);
    const { filter, page } = request;
    const offset = offsetOf(page);
    const known = this.#knownTotal(scope, filter);
    const { items, total } = yield* this.#page(scope, filter, { offset, limit: page.perPage, known });
    return { mode: "numbered", page: page.page, perPage: page.perPage, total, items };
  }

  /** @returns a session as lists show it */
  *view(session: ListedSession): Steps<SessionView> {
    const { identity, db } = this.own;
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
      cursor === undefined ? undefined : findSession(this.own.db.read, { organizationId, id: cursor });
    if (cursor !== undefined && !(last && mayView(this.own.db.read, last, viewer)))
      return { mode, items: [], nextCursor: null };
    const after = last && { first: last.updatedAtMs, second: last.id };
    // One more tells whether there is a next page.
    const found = yield* this.#page(scope, filter, { after, offset: 0, limit: limit + 1, known: 0 });
    const items = found.items.slice(0, limit);
    return { mode, items, nextCursor: found.items.length > limit ? (items.at(-1)?.id ?? null) : null };
  }

  *#page(
    scope: Scope,
    filter: SessionFilter,
    window: PageWindow,
  ): Steps<{ items: SessionView[]; total: number }> {
    const { db } = this.own;
    const rows = sessionsLike(db.read, scope, filter);
    // Without a condition to check, indexes alone tell the total: 100,000 sessions take some milliseconds.
    const known = window.known ?? (rows.isComplete ? rows.count({}) : undefined);
    const { items: places, total } = yield* pageInSteps(rows, { ...window, known });
    const items: SessionView[] = [];
    for (const session of listedSessions(
      db.read,
      places.map(({ second }) => second),
    )) {
      items.push(yield* this.view(session));
      yield;
    }
    return { items, total };
  }

  /** Every session of a list of all sessions has exactly one complete artifact, and those are counted as they come and go. */
  #knownTotal(scope: Scope, { q, harness, status, updated }: SessionFilter): number | undefined {
    const isWhole = [q, harness, status, updated.fromMs, updated.beforeMs].every(
      (value) => value === undefined,
    );
    if (scope.kind !== "organization" || !isWhole) return undefined;
    const complete = totals(this.own.db.read).filter(({ state }) => state === "complete");
    return complete.reduce((sum, { artifacts }) => sum + artifacts, 0);
  }
}

/** Only owners and administrators see sessions by the state of an unfinished, failed or old version. */
function scopeOf(viewer: Viewer, { mode, filter, ownerId }: ListRequest): Scope {
  const { organizationId, userId } = viewer;
  if (mode === "resumable") return { kind: "visible", organizationId, userId };
  if (viewer.isAdministrator)
    return ownerId === undefined
      ? { kind: "organization", organizationId }
      : { kind: "owner", organizationId, userId: ownerId };
  return { kind: filter.status === undefined ? "visible" : "owner", organizationId, userId };
}
