// The operator's view of logins in one list: pending device logins, browser sign-ins (login sessions), and grants of
// workstations. It contains neither secrets nor their hashes. end-logins.ts decides what ends together; users.revokeLogins of
// identity ends all logins of one user.
import { type Clock, toRfc3339 } from "../../../platform/clock.ts";
import type { Connection, Db, Tx } from "../../../platform/database/database.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Audit } from "../../audit/service.ts";
import { countPasswordLinks, type Identity, removeAllPasswordLinks } from "../../identity/service.ts";
import type { Actor } from "../../shared/actor.ts";
import { loginNotFound } from "../errors.ts";
import { LOGINS_PER_PAGE_MAX, stateAt } from "../model.ts";
import { grantedScope } from "../tokens/scopes.ts";
import { type EndedAccess, endEverything, endGrants, endLoginSessions } from "./end-logins.ts";
import * as store from "./logins-store.ts";

export interface LoginsDependencies {
  db: Db;
  clock: Clock;
  audit: Audit;
  identity: Pick<Identity, "findUserById">;
}

export type LoginKind = "device_login" | "login_session" | "grant";
export type LoginState =
  | "pending"
  | "approved"
  | "refused"
  | "redeemed"
  | "active"
  | "expired"
  | "ended"
  | "revoked";

/** One login as operators see it. */
export interface LoginView {
  kind: LoginKind;
  /** UUIDv7 */
  id: string;
  state: LoginState;
  /** null until a user opens the device login */
  user: { id: string; email: string } | null;
  /** network address of the request */
  address: string | null;
  /** browser of a login session */
  userAgent: string | null;
  /** how a login session began: `oidc` is a sign-in at the identity provider; null for other kinds */
  method: "password" | "oidc" | null;
  /** login session that approved a device login or a grant */
  loginSessionId: string | null;
  scopes: readonly string[];
  createdAtMs: number;
  /** last extension of a session, last refresh of a grant, decision on a device login */
  usedAtMs: number | null;
  expiresAtMs: number;
  endedAtMs: number | null;
  /** why a grant was revoked */
  endedReason: string | null;
}

export interface LoginQuery {
  kind?: LoginKind | undefined;
  userId?: string | undefined;
  /** `live`, the default, omits logins that have ended */
  show?: "live" | "all" | undefined;
  /** id of the last login of the previous page */
  after?: string | undefined;
  /** 1 to LOGINS_PER_PAGE_MAX, which is the default */
  limit?: number | undefined;
}

export interface LoginPage {
  items: readonly LoginView[];
  /** `after` of the next page; null on the last one */
  next: string | null;
}

type Row = Omit<LoginView, "user"> & { userId: string | null };

/**
 * Ends all logins and password links of all users, in case a copy of the data has leaked. Also works on a database that is not
 * live yet. After an interruption, repeat it: some logins have ended without an audit entry.
 */
export async function revokeEverything(
  { db, clock, audit }: Pick<LoginsDependencies, "db" | "clock" | "audit">,
  actor: Actor,
): Promise<EndedAccess> {
  const nowMs = clock.nowMs();
  const passwordLinks = await db.write((tx) => {
    const removed = countPasswordLinks(tx, { nowMs });
    removeAllPasswordLinks(tx); // first: a link would open another session
    return removed;
  }, "access");
  const ended = { ...(await endEverything(db, { reason: "logins_revoked", nowMs })), passwordLinks };
  const target = actor.organizationId;
  await db.write((tx) => {
    audit.record(tx, { actor, action: "logins.revoke_all", target, after: summaryOf(ended) });
  }, "access");
  return ended;
}

/** Operations of `logins`; created once, in domain.ts. */
export class Logins {
  /** @param requireConfirmation see confirmations.ts */
  constructor(
    private readonly dependencies: LoginsDependencies,
    private readonly requireConfirmation: (connection: Connection, actor: Actor) => void = () => {},
  ) {}

  /**
   * @returns logins of every kind, newest first; paging is stable while new ones are added
   * @throws DomainError `logins.invalid` if the limit is out of range
   */
  list({ kind, userId, after, show = "live", limit = LOGINS_PER_PAGE_MAX }: LoginQuery = {}): LoginPage {
    if (!Number.isInteger(limit) || limit < 1 || limit > LOGINS_PER_PAGE_MAX) throw limitOutOfRange();
    const nowMs = this.dependencies.clock.nowMs();
    const liveAtMs = show === "live" ? nowMs : undefined;
    const rows = readRows(this.dependencies.db.read, {
      kind,
      nowMs,
      filter: { after, userId, liveAtMs, limit: limit + 1 },
    });
    const items = rows.slice(0, limit).map((row) => this.#viewOf(row));
    return { items, next: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
  }

  /**
   * @param id in any case
   * @throws DomainError `login.not_found`
   */
  show(id: string): LoginView {
    return this.#viewOf(this.#get(this.dependencies.db.read, id));
  }

  /**
   * Ends one login of any kind: a grant with its tokens, a pending device login, or a login session with the grants that it
   * approved. Idempotent.
   * @param only the user that the login must belong to, and the reason
   * @returns whether there was anything to end
   * @throws DomainError `login.not_found`
   */
  revoke(actor: Actor, id: string, only?: { userId: string; reason: string }): Promise<boolean> {
    return this.dependencies.db.write((tx) => {
      const row = this.#get(tx, id);
      if (only && row.userId !== only.userId) throw loginNotFound(id);
      if (!this.#end(tx, row, only?.reason ?? "revoked_by_operator")) return false;
      const before = { state: row.state, user_id: row.userId, created_at: toRfc3339(row.createdAtMs) };
      this.dependencies.audit.record(tx, { actor, action: `${row.kind}.revoke`, target: row.id, before });
      return true;
    }, "access");
  }

  /** @returns the number of active logins of all users */
  countLive(): number {
    return store.countLive(this.dependencies.db.read, this.dependencies.clock.nowMs());
  }

  /**
   * Like the exported `revokeEverything`. Checks the confirmation first, because the confirmed session ends too.
   * @throws DomainError `access.confirmation_needed`
   */
  async revokeEverything(actor: Actor): Promise<EndedAccess> {
    this.requireConfirmation(this.dependencies.db.read, actor);
    return await revokeEverything(this.dependencies, actor);
  }

  #get(connection: Connection, id: string): Row {
    const nowMs = this.dependencies.clock.nowMs();
    const [row] = readRows(connection, { nowMs, filter: { id: id.toLowerCase(), limit: 1 } });
    if (!row) throw loginNotFound(id);
    return row;
  }

  /** @returns whether there was anything to end */
  #end(tx: Tx, { kind, id }: Row, reason: string): boolean {
    const ending = { reason, nowMs: this.dependencies.clock.nowMs() };
    if (kind === "grant") return endGrants(tx, { grantIds: [id], ...ending }) > 0;
    if (kind === "device_login") return store.removeDeviceLogin(tx, id);
    const ended = endLoginSessions(tx, { loginSessionIds: [id], ...ending });
    return Object.values(ended).some((rows) => rows > 0);
  }

  #viewOf({ userId, ...row }: Row): LoginView {
    const user =
      userId === null
        ? undefined
        : this.dependencies.identity.findUserById(this.dependencies.db.read, userId);
    return { ...row, user: user ? { id: user.id, email: user.email } : null };
  }
}

interface RowsQuery {
  kind?: LoginKind | undefined;
  filter: store.LoginFilter;
  nowMs: number;
}

/** Ids of all kinds are ordered by time, so three sorted lists merge into one by id. */
function readRows(connection: Connection, { kind, filter, nowMs }: RowsQuery): Row[] {
  const wanted = (one: LoginKind): boolean => kind === undefined || kind === one;
  const deviceLogins = wanted("device_login") ? store.listDeviceLogins(connection, filter) : [];
  const sessions = wanted("login_session") ? store.listSessions(connection, filter) : [];
  const grants = wanted("grant") ? store.listGrants(connection, filter) : [];
  const rows = [
    ...deviceLogins.map((row) => deviceLoginView(row, nowMs)),
    ...sessions.map((row) => sessionView(row, nowMs)),
    ...grants.map((row) => grantView(row, nowMs)),
  ];
  return rows.sort((one, other) => (one.id < other.id ? 1 : -1)).slice(0, filter.limit);
}

type Found<List extends (...given: never[]) => unknown[]> = ReturnType<List>[number];

const deviceLoginView = (row: Found<typeof store.listDeviceLogins>, nowMs: number): Row => ({
  kind: "device_login",
  id: row.id,
  state: stateAt(row, nowMs),
  userId: row.userId,
  address: row.address,
  userAgent: null,
  method: null,
  loginSessionId: row.loginSessionId,
  scopes: scopesOf(grantedScope(row.scope)),
  createdAtMs: row.createdAtMs,
  usedAtMs: row.decidedAtMs,
  expiresAtMs: row.expiresAtMs,
  endedAtMs: null,
  endedReason: null,
});

const sessionView = (row: Found<typeof store.listSessions>, nowMs: number): Row => ({
  kind: "login_session",
  id: row.id,
  state: row.endedAtMs !== null ? "ended" : nowMs < row.expiresAtMs ? "active" : "expired",
  userId: row.userId,
  address: row.address,
  userAgent: row.userAgent,
  method: row.method,
  loginSessionId: null,
  scopes: [],
  createdAtMs: row.createdAtMs,
  usedAtMs: row.renewedAtMs,
  expiresAtMs: row.expiresAtMs,
  endedAtMs: row.endedAtMs,
  endedReason: null,
});

const grantView = (row: Found<typeof store.listGrants>, nowMs: number): Row => ({
  kind: "grant",
  id: row.id,
  state: row.revokedAtMs !== null ? "revoked" : nowMs < row.expiresAtMs ? "active" : "expired",
  userId: row.userId,
  address: row.address,
  userAgent: null,
  method: null,
  loginSessionId: row.loginSessionId,
  scopes: scopesOf(row.scope),
  createdAtMs: row.createdAtMs,
  usedAtMs: row.refreshedAtMs,
  expiresAtMs: row.expiresAtMs,
  endedAtMs: row.revokedAtMs,
  endedReason: row.revokedReason,
});

const scopesOf = (scope: string): string[] => scope.split(" ").filter((token) => token !== "");

/** @returns the members that report logins which ended together, for a document or an audit entry */
export const summaryOf = ({ loginSessions, grants, deviceLogins, passwordLinks }: EndedAccess) => ({
  login_sessions: loginSessions,
  grants,
  device_logins: deviceLogins,
  password_links: passwordLinks,
});

function limitOutOfRange(): DomainError {
  const detail = `limit must be a whole number from 1 to ${LOGINS_PER_PAGE_MAX}`;
  return new DomainError("invalid", "logins.invalid", detail, { problems: [{ pointer: "/limit", detail }] });
}
