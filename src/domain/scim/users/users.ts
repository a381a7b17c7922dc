// Users of an identity provider and their accounts: reads, creates, changes and removes them; each change is one transaction,
// including the read. read-resource.ts and patch parse bodies; identity changes accounts.
import { isDeepStrictEqual } from "node:util";
import type { Connection, Tx } from "../../../platform/database/database.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { AuditSummary } from "../../audit/service.ts";
import type { User } from "../../identity/service.ts";
import type { ScimDependencies } from "../dependencies.ts";
import { scimNotFound, scimTaken } from "../errors.ts";
import { namesVersion, requireVersion } from "../messages/messages.ts";
import { readUser } from "../messages/read-resource.ts";
import { readView, type View } from "../messages/view.ts";
import type {
  ChangeParameters,
  ScimCaller,
  ScimObject,
  ScimResources,
  ScimResponse,
  UserRow,
  ViewParameters,
} from "../model.ts";
import { patchUser } from "../patch/patch-user.ts";
import { arrangedUser } from "../schema/document.ts";
import { accountAddress, emailColumns, shownDoc, type UserColumns, userColumns } from "./user-columns.ts";
import { userResponse } from "./user-views.ts";
import * as store from "./users-store.ts";

export interface ScimUsersDependencies extends ScimDependencies {
  /** Removes a user from every group and gives each of those groups a new version. */
  leaveAll(tx: Tx, userId: string): void;
}

type BodyParameters = ChangeParameters & { body: unknown };

/** The current and the requested user. */
interface Change {
  caller: ScimCaller;
  row: UserRow;
  before: ScimObject;
  after: ScimObject;
}

/** The operations on users. Roles follow from groups, and a new user has none: see ProvisionedAccounts. */
export class ScimUsers implements ScimResources {
  constructor(private readonly dependencies: ScimUsersDependencies) {}

  /** @throws ScimError 400, 404 */
  get(
    caller: ScimCaller,
    id: string,
    parameters: ViewParameters & { ifNoneMatch?: string | undefined },
  ): ScimResponse {
    const { read } = this.dependencies.db;
    const view = readView("User", parameters);
    const row = foundUser(read, caller, id);
    const isKnown = namesVersion(parameters.ifNoneMatch ?? "", row.version);
    return this.#answer(read, row, isKnown ? undefined : view);
  }

  /**
   * Creates the user and the account for its address, or links the local or removed account.
   * @throws ScimError 400, 409
   * @source SCIM-14 and SCIM-15
   */
  async create(caller: ScimCaller, body: unknown, parameters: ViewParameters): Promise<ScimResponse> {
    const view = readView("User", parameters);
    const { doc: user } = readUser(body);
    const address = accountAddress(user);
    return await this.dependencies.db.write((tx) => {
      const row = this.#admit(tx, caller, { user, address });
      return this.#answer(tx, row, view);
    }, "access");
  }

  /**
   * Replaces the whole user; only `active` stays if it is absent.
   * @throws ScimError 400, 404, 409, 412
   * @source SCIM-90 to SCIM-92
   */
  replace(caller: ScimCaller, id: string, change: BodyParameters): Promise<ScimResponse> {
    return this.#change(caller, id, { change, made: (before) => replacing(before, change.body) });
  }

  /** @throws ScimError 400, 404, 409, 412, 413 */
  patch(caller: ScimCaller, id: string, change: BodyParameters): Promise<ScimResponse> {
    const target = { id, profile: caller.profile };
    return this.#change(caller, id, { change, made: (before) => patchUser(before, change.body, target) });
  }

  /**
   * Removes the user from every group and ends the account's access; the account stays, so that a create can revive it.
   * @throws ScimError 404, 412
   * @source SCIM-16 and SCIM-26
   */
  async remove(caller: ScimCaller, id: string, { ifMatch }: { ifMatch?: string | undefined }): Promise<void> {
    const { db, accounts, audit, leaveAll } = this.dependencies;
    const { actor } = caller;
    await db.write((tx) => {
      const row = foundUser(tx, caller, id);
      requireVersion(ifMatch, row.version);
      const account = refusingAsScim(() => accounts.remove(tx, { actor, id }));
      leaveAll(tx, id);
      store.deleteUser(tx, { organizationId: actor.organizationId, id });
      const before = userSummary(docOf(row), account);
      audit.record(tx, { actor, action: "scim_user.remove", target: id, before });
    }, "access");
  }

  #answer(connection: Connection, row: UserRow, view: View | undefined): ScimResponse {
    return userResponse(connection, row, { view, baseUrl: this.dependencies.settings.baseUrl() });
  }

  #admit(tx: Tx, { actor }: ScimCaller, { user, address }: { user: ScimObject; address: string }): UserRow {
    const { accounts, audit, clock, settings } = this.dependencies;
    const { organizationId } = actor;
    const columns = userColumns(user, address);
    refuseTaken(tx, { organizationId, id: NOBODY }, columns);
    const mayLink = settings.linkExisting === "by_address";
    const { active, doc } = columns;
    const { account, admission, before } = refusingAsScim(() =>
      accounts.admit(tx, { actor, email: address, active, mayLink }),
    );
    const nowMs = clock.nowMs();
    // A removed user may return under the same id, so an earlier revision must not be reused.
    const version = before ? nowMs : 1;
    const made = { id: account.id, version, createdAtMs: nowMs, updatedAtMs: nowMs, doc };
    const row = { ...made, sequence: store.insertUser(tx, { ...made, organizationId }, columns) };
    store.replaceEmails(tx, { id: row.id, organizationId }, emailColumns(user));
    audit.record(tx, {
      actor,
      action: ACTIONS[admission],
      target: row.id,
      ...(before && { before: accountSummary(before) }),
      after: userSummary(user, account),
    });
    return row;
  }

  async #change(
    caller: ScimCaller,
    id: string,
    { change, made }: { change: ChangeParameters; made: (before: ScimObject) => ScimObject },
  ): Promise<ScimResponse> {
    const view = readView("User", change);
    return await this.dependencies.db.write((tx) => {
      const row = foundUser(tx, caller, id);
      requireVersion(change.ifMatch, row.version);
      const before = docOf(row);
      const after = made(before);
      return this.#answer(tx, this.#save(tx, { caller, row, before, after }), view);
    }, "access");
  }

  /** A change without a visible difference creates no version and no audit entry (SCIM-72, SCIM-73). */
  #save(tx: Tx, { caller: { actor }, row, before, after }: Change): UserRow {
    const changed = changedNames(before, after);
    if (changed.length === 0) return row;
    const { accounts, audit, clock } = this.dependencies;
    const user = { organizationId: actor.organizationId, id: row.id };
    const address = accountAddress(after);
    const columns = userColumns(after, address);
    refuseTaken(tx, user, columns);
    const { active, doc } = columns;
    const account = refusingAsScim(() => accounts.update(tx, { actor, id: row.id, email: address, active }));
    const saved = { ...row, version: row.version + 1, updatedAtMs: clock.nowMs(), doc };
    store.updateUser(tx, { ...saved, ...user }, columns);
    store.replaceEmails(tx, user, emailColumns(after));
    audit.record(tx, {
      actor,
      action: "scim_user.update",
      target: row.id,
      before: userSummary(before, account.before),
      after: { ...userSummary(after, account.account), changed },
    });
    return saved;
  }
}

const ACTIONS = {
  created: "scim_user.create",
  linked: "scim_user.link",
  revived: "scim_user.revive",
} as const;

/** The id of a user that does not exist yet. */
const NOBODY = "";

/** Okta's ordinary applications send every change this way, and a missing `active` must not activate a user again. */
function replacing(before: ScimObject, body: unknown): ScimObject {
  const { doc, active } = readUser(body);
  return active === undefined ? arrangedUser({ ...doc, active: before.active === true }) : doc;
}

const docOf = (row: UserRow): ScimObject => JSON.parse(row.doc);

function foundUser(connection: Connection, { actor }: ScimCaller, id: string): UserRow {
  const row = store.findUser(connection, { organizationId: actor.organizationId, id });
  if (!row) throw scimNotFound();
  return row;
}

/** @throws ScimError 409 that names every attribute whose value another user has (SCIM-28) */
function refuseTaken(tx: Tx, user: store.UserId, { userNameKey, externalId }: UserColumns): void {
  const taken = [
    ...(store.isUserNameTaken(tx, { ...user, userNameKey }) ? ["userName"] : []),
    ...(externalId !== null && store.isExternalIdTaken(tx, { ...user, externalId }) ? ["externalId"] : []),
  ];
  if (taken.length === 0) return;
  const detail = taken.map((name) => `${name} is used by another user; send a different value`);
  throw scimTaken(detail.join("; "));
}

/** Why an account is unavailable, for the provider. */
const REFUSALS: Readonly<Record<string, string>> = {
  "user.exists": "emails: the account's address is used by another user; send a different one",
  "user.protected":
    "emails: this is the address of the protected administrator, whom no provider can manage; remove this person from the assignment",
  "user.last_administrator":
    "emails: this is the address of the last administrator; make another user an administrator first",
};

function refusingAsScim<T>(change: () => T): T {
  try {
    return change();
  } catch (error) {
    const detail = error instanceof DomainError ? REFUSALS[error.reason] : undefined;
    throw detail === undefined ? error : scimTaken(detail);
  }
}

/** Summary for the audit log: the names that the provider gave the user, with the account. */
const userSummary = ({ userName, externalId, active }: ScimObject, account: User): AuditSummary => ({
  user_name: typeof userName === "string" ? userName : null,
  external_id: typeof externalId === "string" ? externalId : null,
  active: active === true,
  email: account.email,
  role: account.role,
});

/** Summary for the audit log: an account before it was linked (SCIM-15). */
const accountSummary = ({ email, role, status, provisioningSource }: User): AuditSummary => ({
  email,
  role,
  status,
  provisioning_source: provisioningSource,
});

/** @returns the names of the attributes and extensions whose shown value differs; the order of parts does not count */
function changedNames(before: ScimObject, after: ScimObject): string[] {
  const [old, now] = [shownDoc(before), shownDoc(after)];
  const names = new Set([...Object.keys(old), ...Object.keys(now)]);
  return [...names].filter((name) => !isDeepStrictEqual(old[name], now[name]));
}
