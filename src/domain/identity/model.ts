// Users and invitations: their values, the limits and grammar of input, and their JSON form. The services authorize changes.
import { type Static, Type } from "@sinclair/typebox";
import { HOUR_MS, toRfc3339 } from "../../platform/clock.ts";
import type { Problem } from "../../platform/errors.ts";
import { Secret } from "../../platform/secret.ts";
import { pageEnvelope } from "../shared/page.ts";

export const ROLES = ["admin", "member"] as const;
export const USER_STATUSES = ["active", "suspended", "removed"] as const;
/** the statuses that an administrator can set; removal is a separate operation */
export const SETTABLE_STATUSES = ["active", "suspended"] as const;
export const PROVISIONING_SOURCES = ["local", "scim"] as const;
export const INVITATION_FILTERS = ["outstanding"] as const;

export type Role = (typeof ROLES)[number];
export type UserStatus = (typeof USER_STATUSES)[number];
export type SettableStatus = (typeof SETTABLE_STATUSES)[number];
export type ProvisioningSource = (typeof PROVISIONING_SOURCES)[number];

export const EMAIL_LENGTH_MAX = 254;
export const EMAIL_LOCAL_LENGTH_MAX = 64;
export const ORGANIZATION_NAME_LENGTH_MAX = 200;
export const INVITATION_TTL_MS = 24 * HOUR_MS;
export const PASSWORD_LINK_TTL_MS = 24 * HOUR_MS;
/** limit of the complete list of options; a search has no such limit */
export const USER_OPTIONS_MAX = 10_000;
export const USER_SEARCH_MAX = 10;
export const SELECTED_USERS_MAX = 500;
/** number of candidates that a search compares one by one; with more candidates it reads all users in order */
export const USER_SEARCH_CANDIDATES_MAX = 2_000;

/** A user without the password hash, which stays in the store. */
export interface User {
  id: string;
  organizationId: string;
  /** `sub` of the tokens */
  subject: string;
  email: string;
  role: Role;
  status: UserStatus;
  /** configured first administrator */
  protected: boolean;
  provisioningSource: ProvisioningSource;
  createdAtMs: number;
  updatedAtMs: number;
}

/** A user after a change. */
export interface ChangedUser extends User {
  /** number of pending invitations that the change canceled because the user is no longer an administrator */
  canceledInvitations: number;
}

/** Facts for sign-in; never part of a response. */
export interface SignInUser extends User {
  passwordHash: string | null;
}

export interface Organization {
  id: string;
  name: string;
}

export interface Invitation {
  id: string;
  organizationId: string;
  email: string;
  role: Role;
  status: "pending" | "accepted" | "canceled";
  /** null if the inviter was not a user or no longer exists */
  inviterEmail: string | null;
  expiresAtMs: number;
  createdAtMs: number;
}

/** @returns the trimmed name; adds a problem if it is empty or longer than ORGANIZATION_NAME_LENGTH_MAX */
export function readOrganizationName(given: string, problems: Problem[], pointer = "/name"): string {
  const name = given.trim();
  if (name === "" || name.length > ORGANIZATION_NAME_LENGTH_MAX) {
    const detail = `the name must have 1 to ${ORGANIZATION_NAME_LENGTH_MAX} characters`;
    problems.push({ pointer, detail });
  }
  return name;
}

/** @returns the key of an address for lookups, independent of case and Unicode form */
export const emailKey = (email: string): string => email.trim().normalize("NFC").toLowerCase();

const ATOM = "[\\p{L}\\p{M}\\p{N}!#$%&'*+/=?^_`{|}~-]+";
const LABEL = "[\\p{L}\\p{N}](?:[\\p{L}\\p{M}\\p{N}-]{0,61}[\\p{L}\\p{M}\\p{N}])?";
const EMAIL = new RegExp(`^(?<local>${ATOM}(?:\\.${ATOM})*)@${LABEL}(?:\\.${LABEL})+$`, "u");

/**
 * Reads an address: a dot-atom, one `@`, a domain of two labels or more (RFC 5321 section 4.1.2, without quoting).
 * @returns the folded address
 */
export function readEmail(email: string, problems: Problem[], pointer = "/email"): string {
  const key = emailKey(email);
  const local = key.length <= EMAIL_LENGTH_MAX ? EMAIL.exec(key)?.groups?.local : undefined;
  if (local === undefined || local.length > EMAIL_LOCAL_LENGTH_MAX) {
    const limits = `at most ${EMAIL_LENGTH_MAX} characters, ${EMAIL_LOCAL_LENGTH_MAX} of them before the @`;
    problems.push({ pointer, detail: `an e-mail address such as name@example.com is needed (${limits})` });
  }
  return key;
}

/** @returns the value if it is allowed or absent */
export function readChoice<T extends string>(
  value: string | undefined,
  { allowed, pointer, problems }: { allowed: readonly T[]; pointer: string; problems: Problem[] },
): T | undefined {
  if (value === undefined) return undefined;
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) problems.push({ pointer, detail: `must be ${allowed.join(" or ")}` });
  return found;
}

export const isActiveAdministrator = ({ role, status }: Pick<User, "role" | "status">): boolean =>
  role === "admin" && status === "active";

/** An invitation is pending until the last millisecond before it expires. */
export const isOpen = (invitation: Pick<Invitation, "status" | "expiresAtMs">, nowMs: number): boolean =>
  invitation.status === "pending" && invitation.expiresAtMs > nowMs;

const RoleSchema = Type.Union(ROLES.map((role) => Type.Literal(role)));
const Time = Type.String({ format: "date-time" });
const Uuid = Type.String({ format: "uuid" });

export const AdminUser = Type.Object({
  id: Uuid,
  subject: Type.String(),
  email: Type.String(),
  role: RoleSchema,
  active: Type.Boolean({ description: "status is active" }),
  status: Type.Union(USER_STATUSES.map((status) => Type.Literal(status))),
  protected: Type.Boolean({ description: "configured first administrator" }),
  provisioning_source: Type.Union(PROVISIONING_SOURCES.map((source) => Type.Literal(source))),
  managed: Type.Boolean({ description: "provisioning_source is scim" }),
  created_at: Time,
  updated_at: Time,
});
export const ChangedAdminUser = Type.Object({
  ...AdminUser.properties,
  canceled_invitations: Type.Optional(
    Type.Integer({ description: "Pending invitations from this user that the change canceled, if any" }),
  ),
});
export const AdminUserPage = pageEnvelope(AdminUser);

export const AdminInvitation = Type.Object({
  id: Uuid,
  email: Type.String(),
  role: RoleSchema,
  status: Type.Union(
    (["pending", "accepted", "canceled", "expired"] as const).map((status) => Type.Literal(status)),
  ),
  inviter_email: Type.Union([Type.String(), Type.Null()]),
  expires_at: Time,
  created_at: Time,
});
export const AdminInvitationPage = pageEnvelope(AdminInvitation);

export const IdentityStatus = Type.Object({
  auth_mode: Type.Union([Type.Literal("password"), Type.Literal("oidc")]),
  scim: Type.Object({
    configured: Type.Boolean(),
    group_role_mappings: Type.Record(Type.String(), RoleSchema),
  }),
});

/** @returns the user as the API and the commands show it */
export const toAdminUser = (user: User): Static<typeof AdminUser> => ({
  id: user.id,
  subject: user.subject,
  email: user.email,
  role: user.role,
  active: user.status === "active",
  status: user.status,
  protected: user.protected,
  provisioning_source: user.provisioningSource,
  managed: user.provisioningSource === "scim",
  created_at: toRfc3339(user.createdAtMs),
  updated_at: toRfc3339(user.updatedAtMs),
});

/** @returns the user after a change, with the number of canceled invitations if there were any */
export const toChangedAdminUser = (user: ChangedUser): Static<typeof ChangedAdminUser> => ({
  ...toAdminUser(user),
  ...(user.canceledInvitations > 0 && { canceled_invitations: user.canceledInvitations }),
});

/**
 * @param nowMs decides whether a pending invitation shows as expired
 * @returns the invitation as the API and the commands show it
 */
export const toAdminInvitation = (invitation: Invitation, nowMs: number): Static<typeof AdminInvitation> => ({
  id: invitation.id,
  email: invitation.email,
  role: invitation.role,
  status: invitation.status === "pending" && !isOpen(invitation, nowMs) ? "expired" : invitation.status,
  inviter_email: invitation.inviterEmail,
  expires_at: toRfc3339(invitation.expiresAtMs),
  created_at: toRfc3339(invitation.createdAtMs),
});

/**
 * @param origin our origin, without a trailing slash
 * @returns the link for the invited person, which is as secret as its token
 */
export const invitationUrl = (origin: string, token: Secret): Secret =>
  new Secret(`${origin}/accept-invitation?token=${token.reveal()}`);

/**
 * @param origin our origin, without a trailing slash
 * @returns the link with which a user sets a password, which is as secret as its token
 */
export const passwordUrl = (origin: string, token: Secret): Secret =>
  new Secret(`${origin}/set-password?token=${token.reveal()}`);
