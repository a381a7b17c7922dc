// Who belongs to the organization: users, invitations, the first start. Joins the files of the area and answers the
// look-ups of other areas. How people prove who they are, and what ends with a login, is in access.
import type { Static } from "@sinclair/typebox";
import type { HashRequester } from "../../platform/crypto/passwords.ts";
import type { Connection } from "../../platform/database/database.ts";
import type { Secret } from "../../platform/secret.ts";
import {
  Bootstrap,
  type BootstrapDifferences,
  type BootstrapNeeds,
  type BootstrapRequest,
  type BootstrapResult,
} from "./bootstrap.ts";
import type { IdentityDependencies } from "./dependencies.ts";
import { keysOfOthers } from "./erase-store.ts";
import { forgetInvitations } from "./invitations/invitation-retention.ts";
import { Invitations } from "./invitations/invitations.ts";
import { emailKey, type IdentityStatus, type Organization, type SignInUser, type User } from "./model.ts";
import { checkOrganizationName, createRename } from "./organization.ts";
import * as store from "./store.ts";
import { createEnroll } from "./users/enrollment.ts";
import { createOwnPasswords } from "./users/own-password.ts";
import { ProvisionedUsers } from "./users/provisioned-users.ts";
import { Users } from "./users/users.ts";

export type { BootstrapDifferences, BootstrapNeeds, BootstrapRequest, BootstrapResult } from "./bootstrap.ts";
export type {
  EndLogins,
  IdentityDependencies,
  IdentitySettings,
  RetireGatewayKey,
  SpendInvitation,
} from "./dependencies.ts";
export type { Organization, Role, SignInUser, User, UserStatus } from "./model.ts";
export { emailKey, readEmail } from "./model.ts";
export { passwordManagedElsewhere } from "./users/own-password.ts";

export type Identity = ReturnType<typeof createIdentity>;

/** @returns the operations of the area; made once, in domain.ts */
export function createIdentity(dependencies: IdentityDependencies) {
  const enrol = createEnroll(dependencies);
  const bootstrap = new Bootstrap(dependencies, enrol);
  const { passwords, settings } = dependencies;
  return {
    users: new Users(dependencies, enrol),
    invitations: new Invitations(dependencies, enrol),
    provisioned: new ProvisionedUsers(dependencies),
    ownPasswords: createOwnPasswords(dependencies),

    /** Removes invitations long after their time; a job of the service: see invitation-retention.ts. */
    forgetInvitations: forgetInvitations.bind(undefined, dependencies),

    /** Run at every start: see Bootstrap.run. */
    bootstrap: (request: BootstrapRequest): Promise<BootstrapResult> => bootstrap.run(request),

    /** What a later start leaves as it is: see Bootstrap.differences. */
    bootstrapDifferences: (request: BootstrapRequest): Promise<BootstrapDifferences> =>
      bootstrap.differences(request),

    renameOrganization: createRename(dependencies),

    /** @throws DomainError `identity.invalid`, as renameOrganization does */
    checkOrganizationName,

    /** Looks what `bootstrap` would do: see Bootstrap.needs. */
    bootstrapNeeds: (request: BootstrapRequest): BootstrapNeeds => bootstrap.needs(request),

    /** @returns those of the folded addresses that belong, or once belonged, to another user */
    keysOfOthers: (
      organizationId: string,
      wanted: { keys: readonly string[]; userId: string | undefined },
    ): readonly string[] => keysOfOthers(dependencies.db.read, organizationId, wanted),

    /** @returns the organization of this data directory, nothing before the first start */
    findOrganization: (connection: Connection): Organization | undefined =>
      store.firstOrganization(connection),

    /** @returns the same for callers who have no connection at hand */
    organization: (): Organization | undefined => store.firstOrganization(dependencies.db.read),

    /** @returns the user whatever the status; prepared, for every request */
    findUserById: (connection: Connection, id: string): User | undefined =>
      store.findUserById(connection, id),

    /** @returns the user of an address in any case, whatever the status, with the password hash */
    findUserByEmail: (
      connection: Connection,
      organizationId: string,
      email: string,
    ): SignInUser | undefined =>
      store.findUserByEmail(connection, { organizationId, emailKey: emailKey(email) }),

    /**
     * Takes as long for a user who does not exist, or has no password, as for one who does.
     * @param asker as typed and as connected, so that the queue treats both alike
     * @throws DomainError `passwords.busy`
     */
    isPasswordOf: (user: SignInUser | undefined, password: Secret, asker?: HashRequester): Promise<boolean> =>
      passwords.verify(password, user?.passwordHash, asker),

    /**
     * @param scimConfigured whether any provider can come in
     * @returns how people sign in, without secrets (control-api.md section 11.4)
     */
    identityStatus: (scimConfigured: boolean): Static<typeof IdentityStatus> => ({
      auth_mode: settings.mode,
      scim: { configured: scimConfigured, group_role_mappings: { ...settings.groupRoleMappings } },
    }),
  };
}
