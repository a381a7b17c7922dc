// Decides what a sign-in at the provider means here, from the person, the rules and the database. Changes nothing, so that the same
// decision serves a sign-in and a dry run. A person is (issuer, subject): once linked, an address finds nobody.
import type { Connection } from "../../../platform/database/database.ts";
import type { DomainError } from "../../../platform/errors.ts";
import type { Identity, Role, User } from "../../identity/service.ts";
import {
  emailMissing,
  emailUnverified,
  groupsUnknown,
  notProvisioned,
  userConflict,
  userInactive,
  userProtected,
} from "../errors.ts";
import { isExpected } from "../identities/expected-store.ts";
import * as identities from "../identities/identities-store.ts";
import type { Person } from "../model.ts";
import type { SsoSettings } from "../settings.ts";
import { addressOf, type MappedRole, refusalOf, roleOf } from "./rules.ts";

export type LinkedBy = identities.IdentityRow["linkedBy"];

export type Decision =
  | { kind: "refuse"; error: DomainError; user?: User }
  /** the person is linked to the user */
  | { kind: "sign_in"; user: User; identity: identities.IdentityRow }
  | { kind: "link"; user: User; linkedBy: "external_id" | "email" | "operator" }
  | { kind: "accept_invitation"; email: string; role: Role }
  /** the account exists here with a password, which proves that it is the same person */
  | { kind: "prove_password"; user: User }
  | { kind: "create"; email: string; role: Role };

export interface DecisionSources {
  identity: Pick<Identity, "external" | "findUserByEmail" | "findUserById">;
  /** @returns the id of the user to whom SCIM gave this external id */
  accountByExternalId(connection: Connection, organizationId: string, externalId: string): string | undefined;
}

interface Asked {
  connection: Connection;
  /** needed only for a first sign-in */
  organizationId(): string;
  person: Person;
  settings: SsoSettings;
  nowMs: number;
}

/** @returns the decision for a person whose token was verified */
export function decide(sources: DecisionSources, asked: Asked): Decision {
  const { connection, person, settings } = asked;
  const identity = identities.findBySubject(connection, person);
  const user = identity && sources.identity.findUserById(connection, identity.userId);
  const refusal = refusalOf(person, settings);
  if (refusal) return { kind: "refuse", error: refusal, ...(user && { user }) };
  if (!user || !identity) return firstSignIn(sources, asked);
  if (user.status === "removed") return invitedAgain(sources, asked, user);
  if (user.status !== "active") return refuse(userInactive(), user);
  if (settings.provisioning === "scim" && user.provisioningSource !== "scim")
    return refuse(notProvisioned(), user);
  return { kind: "sign_in", user, identity };
}

/** The first match decides. Without a verified address only the external id can link. */
function firstSignIn(sources: DecisionSources, asked: Asked): Decision {
  const { person, settings } = asked;
  const known = byExternalId(sources, asked);
  if (known) return known;
  const address = addressOf(person, settings);
  if ("missing" in address) return refuse(emailMissing());
  if ("unverified" in address) return refuse(emailUnverified());
  return byAddress(sources, asked, address.verified);
}

function byExternalId(sources: DecisionSources, asked: Asked): Decision | undefined {
  const { connection, organizationId, person } = asked;
  if (person.externalId === undefined) return undefined;
  const id = sources.accountByExternalId(connection, organizationId(), person.externalId);
  const user = id === undefined ? undefined : sources.identity.findUserById(connection, id);
  return user && linkTo(asked, user, "external_id");
}

function byAddress(sources: DecisionSources, asked: Asked, email: string): Decision {
  const { connection, organizationId, person, settings } = asked;
  const user = sources.identity.findUserByEmail(connection, organizationId(), email);
  if (user?.status === "removed") return invitedAgain(sources, asked, user);
  if (user?.provisioningSource === "scim") return linkTo(asked, user, "email");
  if (settings.provisioning === "scim") return refuse(notProvisioned());
  if (user && isExpectedHere(asked, user)) return linkTo(asked, user, "operator");
  if (user) return proofFor(asked, user, user.passwordHash !== null);
  const role = sources.identity.external.invitedRole(connection, { organizationId: organizationId(), email });
  if (role) return { kind: "accept_invitation", email, role };
  if (settings.provisioning !== "jit") return refuse(notProvisioned());
  const mapped = roleOf(person, settings);
  if (mapped === "unknown")
    return refuse(groupsUnknown("unknown" in person.groups ? person.groups.unknown : ""));
  return { kind: "create", email, role: mapped === "unmapped" ? "member" : mapped };
}

/** Only an administrator's invitation restores a removed user. */
function invitedAgain(sources: DecisionSources, asked: Asked, user: User): Decision {
  const { connection, organizationId, person, settings } = asked;
  const address = addressOf(person, settings);
  if (settings.provisioning === "scim" || !("verified" in address)) return refuse(userInactive(), user);
  const email = address.verified;
  const role = sources.identity.external.invitedRole(connection, { organizationId: organizationId(), email });
  return role ? { kind: "accept_invitation", email, role } : refuse(userInactive(), user);
}

function linkTo(asked: Asked, user: User, linkedBy: "external_id" | "email" | "operator"): Decision {
  if (user.status !== "active") return refuse(userInactive(), user);
  if (user.protected) return refuse(userProtected());
  if (hasOtherSubject(asked, user)) return refuse(userConflict());
  return { kind: "link", user, linkedBy };
}

function proofFor(asked: Asked, user: User, hasPassword: boolean): Decision {
  if (user.protected) return refuse(userProtected());
  if (user.status !== "active") return refuse(userInactive(), user);
  if (!hasPassword || hasOtherSubject(asked, user)) return refuse(userConflict());
  return { kind: "prove_password", user };
}

/** The operator moves the users of a former provider to this one. */
const isExpectedHere = ({ connection, person, nowMs }: Asked, { id: userId }: User): boolean =>
  isExpected(connection, { userId, issuer: person.issuer, nowMs });

const hasOtherSubject = ({ connection, person }: Asked, { id: userId }: User): boolean =>
  identities.findOfUser(connection, { userId, issuer: person.issuer }) !== undefined;

const refuse = (error: DomainError, user?: User): Decision => ({
  kind: "refuse",
  error,
  ...(user && { user }),
});

/** @returns the role that the groups give a user; undefined if it stays, as for everybody whom SCIM manages */
export function roleFor(
  user: Pick<User, "provisioningSource" | "role">,
  person: Person,
  settings: SsoSettings,
): Role | undefined {
  const mapped: MappedRole = roleOf(person, settings);
  if (user.provisioningSource === "scim" || mapped === "unknown" || mapped === "unmapped") return undefined;
  return mapped === user.role ? undefined : mapped;
}
