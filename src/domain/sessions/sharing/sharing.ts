// Shows and replaces the sharing of a session. A grant works only while its recipient is active, because other users cannot sign
// in. Sessions stay shared after their owner leaves.
import type { Steps } from "../../../platform/steps.ts";
import { ProblemList } from "../../../platform/text/problem-list.ts";
import type { Actor } from "../../shared/actor.ts";
import type { Expectation } from "../../shared/expectation.ts";
import type { SessionsDependencies } from "../dependencies.ts";
import { notOwnSession, refuseRequest, sessionNotFound } from "../errors.ts";
import { granteesOf } from "../lists/list-store.ts";
import type { SessionRow, SharingMode, Viewer } from "../model.ts";
import { findSession } from "../store.ts";
import { mayManage, visibleSession } from "../visibility.ts";
import { Recipients, type UserRef } from "./recipients.ts";
import { readSharing, type SessionSharingRequest, type WantedSharing } from "./sharing-request.ts";
import { listShared, replaceSharing } from "./sharing-store.ts";

export interface SharingView {
  mode: SharingMode;
  canEdit: boolean;
  recipientCount: number;
  recipients: readonly UserRef[];
}

/** The effect of a sharing change. */
export interface PlannedSharing {
  before: WantedSharing;
  wanted: WantedSharing;
  isSame: boolean;
  /** whether the change lets another user find the session */
  isWider: boolean;
}

interface Replacement {
  id: string;
  request: SessionSharingRequest;
  expect?: Expectation<WantedSharing>;
}

type Dependencies = Pick<SessionsDependencies, "db" | "audit" | "identity">;

export class Sharing {
  readonly #recipients: Recipients;

  constructor(private readonly dependencies: Dependencies) {
    this.#recipients = new Recipients(dependencies);
  }

  /**
   * @returns recipients for the owner and administrators; other viewers find only themselves among them
   * @throws DomainError `sessions.not_found`, `sessions.not_visible`
   */
  *show(viewer: Viewer, id: string): Steps<SharingView> {
    const session = visibleSession(this.dependencies.db.read, viewer, id);
    return {
      mode: session.sharingMode,
      canEdit: session.userId === viewer.userId,
      recipientCount: yield* this.#recipients.count(session),
      recipients: yield* this.#shownTo(viewer, session),
    };
  }

  /** Checks a request without writing anything. @throws DomainError like `replace` */
  plan(viewer: Viewer, { id, request }: { id: string; request: SessionSharingRequest }): PlannedSharing {
    const session = this.#ownSession(viewer, id);
    const problems = new ProblemList();
    const wanted = readSharing(request, this.#factsFor(session), problems);
    refuseRequest(problems.list());
    const before = sharingOf(this.dependencies.db.read, session);
    return { before, wanted, isSame: isEqual(before, wanted), isWider: isWider(before, wanted) };
  }

  /**
   * Replaces mode and recipients; unchanged ones write nothing.
   * @param expect throws, which prevents the change, unless the sharing is as the caller expects
   * @throws DomainError `sessions.not_found`, `sessions.not_own`, `sessions.invalid` with all problems
   */
  async replace(
    actor: Actor,
    viewer: Viewer,
    { id, request, expect }: Replacement,
  ): Promise<WantedSharing & { id: string }> {
    const { db, audit } = this.dependencies;
    const { wanted, isSame } = this.plan(viewer, { id, request });
    if (isSame) return { id: id.toLowerCase(), ...wanted };
    await db.write((tx) => {
      const now = findSession(tx, { organizationId: viewer.organizationId, id });
      if (!now) throw sessionNotFound(id);
      const before = sharingOf(tx, now);
      if (isEqual(before, wanted)) return;
      expect?.(before);
      replaceSharing(tx, now, wanted);
      const change = { before: toAudit(before), after: toAudit(wanted) };
      audit.record(tx, { actor, action: "captured_session.share", target: now.id, ...change });
    }, "unobserved");
    return { id: id.toLowerCase(), ...wanted };
  }

  /** @returns the sharing that `end` would end */
  shared = (organizationId: string, wanted: { sessionId: string } | { ownerId: string }): SessionRow[] =>
    listShared(this.dependencies.db.read, organizationId, wanted);

  /**
   * Ends the sharing of one session, or of all sessions of an owner.
   * @returns how many sessions were shared
   */
  async end(actor: Actor, wanted: { sessionId: string } | { ownerId: string }): Promise<number> {
    const { db, audit } = this.dependencies;
    const nobody: WantedSharing = { mode: "private", userIds: [] };
    return await db.write((tx) => {
      const shared = listShared(tx, actor.organizationId, wanted);
      for (const session of shared) {
        const change = { before: toAudit(sharingOf(tx, session)), after: toAudit(nobody) };
        replaceSharing(tx, session, nobody);
        audit.record(tx, { actor, action: "captured_session.share", target: session.id, ...change });
      }
      return shared.length;
    }, "unobserved");
  }

  *#shownTo(viewer: Viewer, session: SessionRow): Steps<UserRef[]> {
    if (mayManage(session, viewer)) return yield* this.#recipients.list(session);
    const email =
      this.dependencies.identity.findUserById(this.dependencies.db.read, viewer.userId)?.email ?? "";
    return [{ id: viewer.userId, email }];
  }

  #ownSession(viewer: Viewer, id: string): SessionRow {
    const session = findSession(this.dependencies.db.read, { organizationId: viewer.organizationId, id });
    if (!session) throw sessionNotFound(id);
    if (session.userId !== viewer.userId) throw notOwnSession();
    return session;
  }

  #factsFor({ userId: ownerId, organizationId }: SessionRow) {
    const { identity, db } = this.dependencies;
    const isActiveColleague = (userId: string): boolean => {
      const user = identity.findUserById(db.read, userId);
      return user?.status === "active" && user.organizationId === organizationId;
    };
    return { ownerId, isActiveColleague };
  }
}

const sharingOf = (connection: Parameters<typeof granteesOf>[0], session: SessionRow): WantedSharing => ({
  mode: session.sharingMode,
  userIds: granteesOf(connection, session.id),
});

const isEqual = (one: WantedSharing, other: WantedSharing): boolean =>
  one.mode === other.mode && one.userIds.join() === other.userIds.join();

function isWider(before: WantedSharing, wanted: WantedSharing): boolean {
  if (before.mode === "workspace") return false;
  return wanted.mode === "workspace" || wanted.userIds.some((id) => !before.userIds.includes(id));
}

const toAudit = ({ mode, userIds }: WantedSharing) => ({ mode, user_ids: userIds });
