// Changes many users, selected by a list of ids or by a filter. Each user is changed by the operation for one user, with its
// checks, its transaction and its audit entry; the whole operation has one more entry.
import { setImmediate } from "node:timers/promises";
import { countText } from "../../../platform/count-text.ts";
import { DomainError, invariant, type Problem } from "../../../platform/errors.ts";
import { runInTurns } from "../../../platform/steps.ts";
import type { Actor } from "../../shared/actor.ts";
import { BULK_ROWS_MAX, type BulkRow, type BulkSlice, readBulkIds } from "../../shared/bulk.ts";
import type { IdentityDependencies } from "../dependencies.ts";
import type { UserQuery } from "../directory/user-directory.ts";
import { ownLogins, refuseInvalid } from "../errors.ts";
import { isActiveAdministrator, type Role, readChoice, type SettableStatus, type User } from "../model.ts";
import type { Users } from "./users.ts";

export const BULK_USER_ACTIONS = ["suspend", "resume", "end_logins", "make_admin", "make_member"] as const;
export type BulkUserAction = (typeof BULK_USER_ACTIONS)[number];

type Update = { role: Role } | { status: SettableStatus };

/** The changes of each action; empty for an action that only ends logins. */
const UPDATES: Readonly<Record<BulkUserAction, Update | undefined>> = {
  suspend: { status: "suspended" },
  resume: { status: "active" },
  end_logins: undefined,
  make_admin: { role: "admin" },
  make_member: { role: "member" },
};

/** Number of users whose changes share a transaction, so that no transaction blocks the event loop for long. */
const USERS_AT_ONCE = 5;

/** Selects users: at most BULK_ROWS_MAX ids, or a filter with its text for the audit log. */
export type UserSelection =
  | { ids: readonly string[]; filter?: undefined }
  | { ids?: undefined; filter: UserQuery; text: string };

export interface BulkUserChange {
  /** one of BULK_USER_ACTIONS, unchecked */
  action: string;
  selection: UserSelection;
  /** number of users in the whole operation, which its first slice records; undefined for a later slice */
  whole?: number | undefined;
  /** size of this slice; at most BULK_ROWS_MAX, which is the default */
  rowsMax?: number | undefined;
  /** `next` of the previous slice; undefined for the first one */
  cursor?: string | undefined;
  /** reports what would happen without changing anything */
  isDryRun?: boolean | undefined;
}

type KnownChange = BulkUserChange & { action: BulkUserAction };

type Dependencies = Pick<IdentityDependencies, "db" | "audit">;

export class BulkUserChanges {
  constructor(
    private readonly dependencies: Dependencies,
    private readonly users: Users,
  ) {}

  /**
   * @returns the current number of users in the selection
   * @throws DomainError `identity.invalid`
   */
  async count(organizationId: string, { ids, filter }: UserSelection): Promise<number> {
    if (ids) return idsIn(ids).length;
    return (await runInTurns(this.users.listInSteps(organizationId, { ...filter, perPage: 1 }))).total;
  }

  /**
   * Changes one slice of the selection, ordered by folded address. An error of one user does not affect the others.
   * @throws DomainError `identity.invalid`, `access.confirmation_needed` before anything is changed
   */
  async slice(actor: Actor, { action: word, ...rest }: BulkUserChange): Promise<BulkSlice> {
    const change = { ...rest, action: actionIn(word) };
    const { ids, next } = await this.#listed(actor.organizationId, change);
    if (change.whole !== undefined && !change.isDryRun) await this.#recordWhole(actor, change);
    const rows: BulkRow[] = [];
    for (let at = 0; at < ids.length; at += USERS_AT_ONCE) {
      const some = ids.slice(at, at + USERS_AT_ONCE);
      rows.push(...(await Promise.all(some.map((id) => this.#row(actor, id, change)))));
      await setImmediate(); // lets other requests run
    }
    return { rows, next };
  }

  async #listed(
    organizationId: string,
    change: BulkUserChange,
  ): Promise<{ ids: string[]; next: string | null }> {
    const { selection, rowsMax = BULK_ROWS_MAX, cursor } = change;
    if (selection.ids) return { ids: idsIn(selection.ids), next: null };
    const after = cursor === undefined ? undefined : this.#behind(organizationId, cursor);
    const query = { ...selection.filter, after, perPage: rowsMax, known: 0 };
    const { items } = await runInTurns(this.users.listInSteps(organizationId, query));
    return {
      ids: items.map(({ id }) => id),
      next: items.length < rowsMax ? null : (items.at(-1)?.id ?? null),
    };
  }

  /** @throws DomainError `identity.invalid` if no user has this id */
  #behind(organizationId: string, cursor: string): User {
    try {
      return this.users.show(organizationId, cursor);
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind !== "not_found") throw error;
      refuseInvalid([{ pointer: "/cursor", detail: "must be the next_cursor of an earlier slice" }]);
      throw error;
    }
  }

  async #row(actor: Actor, id: string, change: KnownChange): Promise<BulkRow> {
    let name: string | undefined;
    try {
      const user = this.users.show(actor.organizationId, id);
      name = user.email;
      const why = unchangedWhy(user, change.action);
      if (why !== undefined) return { id, name, result: "unchanged", why };
      const also = this.#alsoCanceled(user, change.action);
      await this.#apply(actor, id, change);
      return { id, name, result: "done", ...also };
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      if (error.kind !== "conflict" && error.kind !== "not_found") throw error;
      return {
        id,
        name,
        result: "refused",
        why: name === undefined ? "there is no such user" : error.message,
      };
    }
  }

  /** @returns a note if the action also cancels the user's pending invitations, which end with the administrator role */
  #alsoCanceled(user: User, action: BulkUserAction): Pick<BulkRow, "why"> {
    const endsRole = action === "suspend" || action === "make_member";
    const count =
      endsRole && isActiveAdministrator(user)
        ? this.users.countSentInvitations(user.organizationId, user.id)
        : 0;
    return count === 0 ? {} : { why: `also cancels ${countText(count, "invitation")} from this person` };
  }

  async #apply(actor: Actor, id: string, { action, isDryRun }: KnownChange): Promise<void> {
    const update = UPDATES[action];
    if (update) {
      if (isDryRun) this.users.checkUpdate(actor, id, update);
      else await this.users.update(actor, id, update);
      return;
    }
    if (actor.kind === "user" && actor.id === id) throw ownLogins();
    if (isDryRun) this.users.checkRevokeLogins(actor, id);
    else await this.users.revokeLogins(actor, id);
  }

  #recordWhole(actor: Actor, { action, selection, whole = 0 }: KnownChange): Promise<void> {
    const filter = selection.ids ? null : selection.text;
    const after = { ...UPDATES[action], users: whole, filter };
    return this.dependencies.db.write((tx) => {
      const event = { actor, target: actor.organizationId, after };
      if (UPDATES[action]) this.dependencies.audit.record(tx, { ...event, action: "users.update" });
      else this.dependencies.audit.record(tx, { ...event, action: "users.revoke_logins" });
    });
  }
}

/** @throws DomainError `identity.invalid` */
function actionIn(word: string): BulkUserAction {
  const problems: Problem[] = [];
  const action = readChoice(word, { allowed: BULK_USER_ACTIONS, pointer: "/action", problems });
  refuseInvalid(problems);
  invariant(action, "a word without a problem is an action");
  return action;
}

function idsIn(ids: readonly string[]): string[] {
  const problems: Problem[] = [];
  const different = readBulkIds(ids, problems);
  refuseInvalid(problems);
  return different;
}

/** @returns why there is nothing to change; a removed user gives an error instead */
function unchangedWhy({ role, status }: User, action: BulkUserAction): string | undefined {
  if (status === "removed") return undefined;
  const already: Readonly<Record<BulkUserAction, string | undefined>> = {
    suspend: status === "suspended" ? "this user is already suspended" : undefined,
    resume: status === "active" ? "this user is already active" : undefined,
    end_logins: undefined,
    make_admin: role === "admin" ? "this user is already an administrator" : undefined,
    make_member: role === "member" ? "this user is already a member" : undefined,
  };
  return already[action];
}
