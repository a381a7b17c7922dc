// A server with users of an identity provider, their real accounts and logins, and functions that provision.
import { asc } from "drizzle-orm";
import { OAUTH_CLIENT_ID } from "../../../../src/domain/access/wire.ts";
import { auditEntries } from "../../../../src/domain/audit/tables.ts";
import type { Role, User } from "../../../../src/domain/identity/service.ts";
import type { ScimGroups } from "../../../../src/domain/scim/groups/groups.ts";
import type {
  ScimCaller,
  ScimResponse,
  ScimSettings,
  ViewParameters,
} from "../../../../src/domain/scim/model.ts";
import type { ScimUsers } from "../../../../src/domain/scim/users/users.ts";
import { PATCH_OP } from "../../../../src/domain/scim/wire.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { type Caller, createTestServer, type TestServer } from "../../../support/server.ts";

export const ADA = "ada@example.com";

export interface UsersWorld extends TestServer {
  users: ScimUsers;
  groups: ScimGroups;
  caller: ScimCaller;
  /** provisions a user; Ada by default */
  add(body?: object): Promise<ScimResponse>;
  patch(id: string, ...operations: readonly object[]): Promise<ScimResponse>;
  /** @returns the resource as it is returned now */
  shown(id: string, parameters?: ViewParameters): Record<string, unknown>;
  account(id: string): User;
}

export async function createUsersWorld(scim: Partial<ScimSettings> = {}): Promise<UsersWorld> {
  const server = await createTestServer({ scim });
  const { world, domain } = server;
  const { users, groups } = domain.scim;
  const caller: ScimCaller = {
    actor: { kind: "scim", id: null, label: "scim:okta", organizationId: world.organizationId },
    profile: "standard",
  };
  return Object.assign(server, {
    users,
    groups,
    caller,
    add: (body: object = { userName: ADA }) => users.create(caller, body, {}),
    patch: (id: string, ...operations: readonly object[]) =>
      users.patch(caller, id, { body: { schemas: [PATCH_OP], Operations: operations } }),
    shown: (id: string, parameters: ViewParameters = {}) => resourceOf(users.get(caller, id, parameters)),
    account: (id: string) => domain.identity.users.show(world.organizationId, id),
  });
}

/** @returns the resource of a response */
export const resourceOf = ({ json }: ScimResponse): Record<string, unknown> => JSON.parse(String(json));

export interface AuditedChange {
  action: string;
  actor: string;
  target: string;
  before: unknown;
  after: unknown;
}

/** @returns the entries about provisioned users and invitations, oldest first */
export const auditedIn = ({ world }: UsersWorld): AuditedChange[] =>
  world.db.read
    .select()
    .from(auditEntries)
    .orderBy(asc(auditEntries.id))
    .limit(1_000)
    .all()
    .filter(({ action }) => /^(?:scim_user|invitation)\./.test(action))
    .map(({ action, actorLabel, target, before, after }) => ({
      action,
      actor: actorLabel,
      target,
      before: JSON.parse(before ?? "null"),
      after: JSON.parse(after ?? "null"),
    }));

/** @returns status, keyword and text of the refusal; the result if there was none */
export async function refusalOf(work: () => unknown): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const { status, scimType } = { status: undefined, scimType: undefined, ...error };
    return [status, scimType, error.message];
  }
}

const isLetIn = async (act: () => unknown): Promise<boolean> => {
  try {
    await act();
    return true;
  } catch (error) {
    if (error instanceof DomainError) return false;
    throw error;
  }
};

/** Signs a browser and a workstation of a provisioned user in. */
export const signedInAs = (world: UsersWorld, id: string): Promise<Caller> =>
  world.signInAgain(world.account(id));

/** @returns whether browser, workstation and refresh token are still accepted; the last one is used up by it */
export async function loginsOf({ domain }: UsersWorld, caller: Caller): Promise<Record<string, boolean>> {
  const { authenticator, grants } = domain.access;
  const { sessionToken, accessToken, refreshToken } = caller;
  return {
    browser: await isLetIn(() => authenticator.session(sessionToken)),
    workstation: await isLetIn(() => authenticator.bearer(accessToken)),
    refresh: await isLetIn(() => grants.refresh({ clientId: OAUTH_CLIENT_ID, refreshToken })),
  };
}

export const ALL_OPEN = { browser: true, workstation: true, refresh: true };
export const ALL_ENDED = { browser: false, workstation: false, refresh: false };

/** Makes a local account with a password. */
export const addLocal = (world: UsersWorld, email: string, role: Role = "member"): Promise<Caller> =>
  world.signedIn(role, { email });
