// Detects ended logins of callers that stay connected: authenticate.ts checks them once, and they may lose access during the
// connection. Callers track expiry themselves; revoking access ends rows.
import type { Db } from "../../../platform/database/database.ts";
import type { Principal } from "./authenticate.ts";
import * as store from "./login-watch-store.ts";

export type LoginWatch = ReturnType<typeof createLoginWatch>;

/** @returns the id of the row behind a credential: a grant, or the login session of a browser */
export const loginIdOf = ({ grantId, sessionId }: Pick<Principal, "grantId" | "sessionId">): string =>
  grantId ?? sessionId ?? "";

/** @returns the operations; created once, in service.ts */
export const createLoginWatch = ({ db }: { db: Db }) => ({
  /** Grows whenever a login may have ended, in this or another process. */
  revision: (): number => db.revision("access"),

  /** @returns the logins that were revoked or ended, or no longer exist */
  endedAmong: (ids: readonly string[]): ReadonlySet<string> => new Set(store.endedAmong(db.read, ids)),
});
