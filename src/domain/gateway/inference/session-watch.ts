// Finds running requests whose callers have lost access: key-resolver.ts admits a request once, and its response may take an
// hour. Needs few queries, however many requests run.
import type { Db } from "../../../platform/database/database.ts";
import type { LoginWatch } from "../../access/service.ts";
import type { Identity } from "../../identity/service.ts";
import * as sessionStore from "./inference-sessions-store.ts";

export interface WatchedSession {
  readonly gatewaySessionId: string;
  readonly grantId: string;
  readonly loginSessionId: string;
  readonly userId: string;
}

/** What has ended. */
export type EndedBy = "session" | "login" | "user";

export interface SessionWatchDependencies {
  db: Db;
  identity: Pick<Identity, "inactiveAmong">;
  loginWatch: Pick<LoginWatch, "endedAmong">;
}

export type SessionWatch = ReturnType<typeof createSessionWatch>;

export const createSessionWatch = ({ db, identity, loginWatch }: SessionWatchDependencies) => ({
  /** Grows whenever a session, a login or a user may have lost access, in this or another process. */
  revision: (): number => db.revision("access") + db.revision("gateway"),

  /** @returns what has ended, by the id of the gateway session; valid sessions are omitted */
  endedAmong(sessions: readonly WatchedSession[]): ReadonlyMap<string, EndedBy> {
    const ids = sessions.map(({ gatewaySessionId }) => gatewaySessionId);
    const users = sessions.map(({ userId }) => userId);
    const inactive = new Set(identity.inactiveAmong(db.read, users));
    const logins = loginWatch.endedAmong(
      sessions.flatMap(({ grantId, loginSessionId }) => [grantId, loginSessionId]),
    );
    const revoked = new Set(sessionStore.revokedAmong(db.read, ids));
    const ended = new Map<string, EndedBy>();
    for (const { gatewaySessionId: id, grantId, loginSessionId, userId } of sessions) {
      if (inactive.has(userId)) ended.set(id, "user");
      else if (logins.has(grantId) || logins.has(loginSessionId)) ended.set(id, "login");
      else if (revoked.has(id)) ended.set(id, "session");
    }
    return ended;
  },
});
