// Members of the organization: users, invitations, the first start. Joins the files of the area and answers the lookups of other
// areas. The access area authenticates users and ends logins.
import type { Static } from "@sinclair/typebox";
import type { HashRequester } from "../../platform/crypto/passwords.ts";
import type { Connection } from "../../platform/database/database.ts";
import type { Secret } from "../../platform/secret.ts";
import { SearchIndex } from "../shared/text-search/search-index.ts";
import { Bootstrap } from "./bootstrap.ts";
import type { EndLogins, IdentityDependencies } from "./dependencies.ts";
import { keysOfOthers } from "./erase-store.ts";
import { forgetInvitations } from "./invitations/invitation-retention.ts";
import { countExpiring } from "./invitations/invitation-store.ts";
import { Invitations } from "./invitations/invitations.ts";
import { emailKey, type IdentityStatus, type Organization, type SignInUser } from "./model.ts";
import { createRename } from "./organization.ts";
import { removeLinks } from "./password-links/password-link-store.ts";
import { PasswordLinks } from "./password-links/password-links.ts";
import { INDEXED_TEXTS } from "./search-store.ts";
import * as store from "./store.ts";
import { BulkUserChanges } from "./users/bulk-changes.ts";
import { organizationOfActive } from "./users/conditions-store.ts";
import { createEnroll } from "./users/enrollment.ts";
import { ExternalUsers } from "./users/external-users.ts";
import { createOwnPasswords } from "./users/own-password.ts";
import { passwordAdministratorIds } from "./users/password-administrators-store.ts";
import { ProvisionedUsers } from "./users/provisioned-users.ts";
import { Users } from "./users/users.ts";

export type { BootstrapRequest, BootstrapResult } from "./bootstrap.ts";
export type { IdentitySettings } from "./dependencies.ts";
export type { UserQuery } from "./directory/user-directory.ts";
export type { Organization, Role, SignInUser, User } from "./model.ts";
export { emailKey, isActiveAdministrator, readEmail } from "./model.ts";
export {
  countLinks as countPasswordLinks,
  removeAllLinks as removeAllPasswordLinks,
  removeLinks as removePasswordLinks,
} from "./password-links/password-link-store.ts";
export { CANNOT_SIGN_IN_REMEDY, cannotSignInText } from "./users/cannot-sign-in.ts";
export { passwordManagedElsewhere } from "./users/own-password.ts";

export type Identity = ReturnType<typeof createIdentity>;

/** @returns the operations of the area; created once, in domain.ts */
export function createIdentity(given: IdentityDependencies) {
  const dependencies = { ...given, endLogins: createEndAccess(given) };
  const enrol = createEnroll(dependencies);
  const { passwords, settings } = dependencies;
  const users = new Users(dependencies, enrol);
  return {
    users,
    bulkChanges: new BulkUserChanges(dependencies, users),
    invitations: new Invitations(dependencies, enrol),
    passwordLinks: new PasswordLinks(dependencies),
    provisioned: new ProvisionedUsers(dependencies),
    external: new ExternalUsers(dependencies, enrol),
    ownPasswords: createOwnPasswords(dependencies),

    /** @returns whether people can be invited, which is false if an identity provider provisions them */
    canInvite: (): boolean => settings.invites,

    /** Removes invitations after their retention; called by a job: see invitation-retention.ts. */
    forgetInvitations: forgetInvitations.bind(undefined, dependencies),

    /** The index of addresses and subjects; jobs of the service maintain it. */
    searchIndex: new SearchIndex(dependencies.db, INDEXED_TEXTS),

    /** @returns the number of pending invitations that expire after `afterMs` and no later than `byMs` */
    countExpiringInvitations: (span: { organizationId: string; afterMs: number; byMs: number }): number =>
      countExpiring(dependencies.db.read, span),

    bootstrap: new Bootstrap(dependencies, enrol),

    renameOrganization: createRename(dependencies),

    ...createLookups(dependencies),

    /**
     * Takes the same time whether or not the user exists and has a password.
     * @param asker from the input and the connection, not from the user, so that the queue treats both cases alike
     * @throws DomainError `passwords.busy`
     */
    isPasswordOf: (user: SignInUser | undefined, password: Secret, asker?: HashRequester): Promise<boolean> =>
      passwords.verify(password, user?.passwordHash, asker),

    /**
     * @param scimConfigured whether any provider can connect
     * @returns how users sign in, without secrets
     */
    identityStatus: (scimConfigured: boolean): Static<typeof IdentityStatus> => ({
      auth_mode: settings.mode,
      scim: { configured: scimConfigured, group_role_mappings: { ...settings.groupRoleMappings } },
    }),
  };
}

/** @returns the lookups of users and of the organization, for other areas */
const createLookups = ({ db, settings }: Pick<IdentityDependencies, "db" | "settings">) => ({
  /** @returns the folded addresses that belong or once belonged to another user */
  keysOfOthers: (
    organizationId: string,
    wanted: { keys: readonly string[]; userId: string | undefined },
  ): readonly string[] => keysOfOthers(db.read, organizationId, wanted),

  /** @returns the ids of the active administrators who sign in with a password */
  passwordAdministrators: (organizationId: string): readonly string[] => {
    const isProtectedOnly = settings.mode === "oidc";
    return passwordAdministratorIds(db.read, organizationId, { isProtectedOnly });
  },

  /** @returns the organization of this data directory; undefined before the first start */
  findOrganization: store.firstOrganization,

  /** @returns the same, for callers without a connection */
  organization: (): Organization | undefined => store.firstOrganization(db.read),

  /** @returns the user in any status; prepared, because every request uses it */
  findUserById: store.findUserById,
  inactiveAmong: store.inactiveAmong,
  organizationOfActive,

  /** @returns the user with an address, in any case and any status, with the password hash */
  findUserByEmail: (connection: Connection, organizationId: string, email: string): SignInUser | undefined =>
    store.findUserByEmail(connection, { organizationId, emailKey: emailKey(email) }),
});

/** @returns a function that ends the logins of users and voids their password links, which also give access */
const createEndAccess =
  ({ endLogins }: Pick<IdentityDependencies, "endLogins">): EndLogins =>
  (tx, ending) => {
    endLogins(tx, ending);
    removeLinks(tx, ending);
  };
