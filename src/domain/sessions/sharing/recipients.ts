// The recipients of a shared session. Only active users count.
import type { Steps } from "../../../platform/steps.ts";
import type { SessionsDependencies } from "../dependencies.ts";
import { RECIPIENTS_SHOWN_MAX } from "../limits.ts";
import { granteesOf } from "../lists/list-store.ts";
import type { SessionRow } from "../model.ts";

/** The parts of a user that others see. */
export interface UserRef {
  id: string;
  email: string;
}

type Shared = Pick<SessionRow, "id" | "organizationId" | "userId" | "sharingMode">;

export class Recipients {
  constructor(private readonly dependencies: Pick<SessionsDependencies, "db" | "identity">) {}

  /** @returns the number of active recipients */
  *count(session: Shared): Steps<number> {
    if (session.sharingMode === "private") return 0;
    if (session.sharingMode === "selected") return this.#activeGrantees(session).length;
    const { identity, db } = this.dependencies;
    const active = yield* identity.users.activeTotal(session.organizationId);
    return active - (identity.findUserById(db.read, session.userId)?.status === "active" ? 1 : 0);
  }

  /** @returns the active recipients, at most RECIPIENTS_SHOWN_MAX if everyone sees the session */
  *list(session: Shared): Steps<UserRef[]> {
    const { identity, db } = this.dependencies;
    if (session.sharingMode === "private") return [];
    if (session.sharingMode === "selected")
      return this.#activeGrantees(session).map((id) => ({
        id,
        email: identity.findUserById(db.read, id)?.email ?? "",
      }));
    const wanted = { q: undefined, of: session.userId, limit: RECIPIENTS_SHOWN_MAX };
    const colleagues = yield* identity.users.colleagues(session.organizationId, wanted);
    return colleagues.map(({ id, email }) => ({ id, email }));
  }

  #activeGrantees({ id }: Shared): string[] {
    const { identity, db } = this.dependencies;
    const grantees = granteesOf(db.read, id);
    const inactive = new Set(identity.inactiveAmong(db.read, grantees));
    return grantees.filter((grantee) => !inactive.has(grantee));
  }
}
