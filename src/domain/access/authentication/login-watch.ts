// Whether logins go on for callers who stay connected: they are admitted once (authenticate.ts) and may lose their access
// while we still talk to them. That a credential expires is theirs to know; whatever takes access away ends rows.
import type { Db } from "../../../platform/database/database.ts";
import type { Principal } from "./authenticate.ts";
import * as store from "./login-watch-store.ts";

export type LoginWatch = ReturnType<typeof createLoginWatch>;

/** @returns the id of the row behind a credential: a grant, or the login session of a browser */
export const loginIdOf = ({ grantId, sessionId }: Pick<Principal, "grantId" | "sessionId">): string =>
  grantId ?? sessionId ?? "";

/** @returns the questions; made once, in service.ts */
export const createLoginWatch = ({ db }: { db: Db }) => ({
  /** Grows whenever a login may have ended, by us or by another process. */
  revision: (): number => db.revision("access"),

  /** @returns those of the logins that were revoked or ended, or are gone */
  endedAmong: (ids: readonly string[]): ReadonlySet<string> => new Set(store.endedAmong(db.read, ids)),
});
