// Decides the effect of a sign-in at the provider, from the person, the rules and the database. Changes nothing, so that a dry run
// makes the same decision. A person is (issuer, subject): once linked, the address no longer matters.
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
  /** the account exists here with a password, which can prove that it is the same person */
  | { kind: "prove_password"; user: User }
  | { kind: "create"; email: string; role: Role };

export interface DecisionSources {
  identity: Pick<Identity, "external" | "findUserByEmail" | "findUserById">;
  /** @returns the id of the user with this external id from SCIM */
  accountByExternalId(connection: Connection, organizationId: string, externalId: string): string | undefined;
}

interface DecisionRequest {
  connection: Connection;
  /** needed only for a first sign-in */
  organizationId(): string;
  person: Person;
  settings: SsoSettings;
  nowMs: number;
}

/** @returns the decision for a person with a verified token */
export function decide(sources: DecisionSources, request: DecisionRequest): Decision {
  const { connection, person, settings } = request;
  const identity = identities.findBySubject(connection, person);
  const user = identity && sources.identity.findUserById(connection, identity.userId);
  const refusal = refusalOf(person, settings);
  if (refusal) return { kind: "refuse", error: refusal, ...(user && { user }) };
  if (!user || !identity) return firstSignIn(sources, request);
  if (user.status === "removed") return invitedAgain(sources, request, user);
  if (user.status !== "active") return refuse(userInactive(), user);
  if (settings.provisioning === "scim" && user.provisioningSource !== "scim")
    return refuse(notProvisioned(), user);
  return { kind: "sign_in", user, identity };
}

/** The first match decides. Without a verified address only the external id can link. */
function firstSignIn(sources: DecisionSources, request: DecisionRequest): Decision {
  const { person, settings } = request;
  const known = byExternalId(sources, request);
  if (known) return known;
  const address = addressOf(person, settings);
  if ("missing" in address) return refuse(emailMissing());
  if ("unverified" in address) return refuse(emailUnverified());
  return byAddress(sources, request, address.verified);
}

function byExternalId(sources: DecisionSources, request: DecisionRequest): Decision | undefined {
  const { connection, organizationId, person } = request;
  if (person.externalId === undefined) return undefined;
  const id = sources.accountByExternalId(connection, organizationId(), person.externalId);
  const user = id === undefined ? undefined : sources.identity.findUserById(connection, id);
  return user && linkTo(request, user, "external_id");
}

function byAddress(sources: DecisionSources, request: DecisionRequest, email: string): Decision {
  const { connection, organizationId, person, settings } = request;
  const user = sources.identity.findUserByEmail(connection, organizationId(), email);
  if (user?.status === "removed") return invitedAgain(sources, request, user);
  if (user?.provisioningSource === "scim") return linkTo(request, user, "email");
  if (settings.provisioning === "scim") return refuse(notProvisioned());
  if (user && isExpectedHere(request, user)) return linkTo(request, user, "operator");
  if (user) return proofFor(request, user, user.passwordHash !== null);
  const role = sources.identity.external.invitedRole(connection, { organizationId: organizationId(), email });
  if (role) return { kind: "accept_invitation", email, role };
  if (settings.provisioning !== "jit") return refuse(notProvisioned());
  const mapped = roleOf(person, settings);
  if (mapped === "unknown")
    return refuse(groupsUnknown("unknown" in person.groups ? person.groups.unknown : ""));
  return { kind: "create", email, role: mapped === "unmapped" ? "member" : mapped };
}

/** Only an administrator's invitation restores a removed user. */
function invitedAgain(sources: DecisionSources, request: DecisionRequest, user: User): Decision {
  const { connection, organizationId, person, settings } = request;
  const address = addressOf(person, settings);
  if (settings.provisioning === "scim" || !("verified" in address)) return refuse(userInactive(), user);
  const email = address.verified;
  const role = sources.identity.external.invitedRole(connection, { organizationId: organizationId(), email });
  return role ? { kind: "accept_invitation", email, role } : refuse(userInactive(), user);
}

function linkTo(
  request: DecisionRequest,
  user: User,
  linkedBy: "external_id" | "email" | "operator",
): Decision {
  if (user.status !== "active") return refuse(userInactive(), user);
  if (user.protected) return refuse(userProtected());
  if (hasOtherSubject(request, user)) return refuse(userConflict());
  return { kind: "link", user, linkedBy };
}

function proofFor(request: DecisionRequest, user: User, hasPassword: boolean): Decision {
  if (user.protected) return refuse(userProtected());
  if (user.status !== "active") return refuse(userInactive(), user);
  if (!hasPassword || hasOtherSubject(request, user)) return refuse(userConflict());
  return { kind: "prove_password", user };
}

/** The operator is moving the users of a former provider to this one. */
const isExpectedHere = ({ connection, person, nowMs }: DecisionRequest, { id: userId }: User): boolean =>
  isExpected(connection, { userId, issuer: person.issuer, nowMs });

const hasOtherSubject = ({ connection, person }: DecisionRequest, { id: userId }: User): boolean =>
  identities.findOfUser(connection, { userId, issuer: person.issuer }) !== undefined;

const refuse = (error: DomainError, user?: User): Decision => ({
  kind: "refuse",
  error,
  ...(user && { user }),
});

/** @returns the role from the user's groups; undefined if the role stays, as for all users that SCIM manages */
export function roleFor(
  user: Pick<User, "provisioningSource" | "role">,
  person: Person,
  settings: SsoSettings,
): Role | undefined {
  const mapped: MappedRole = roleOf(person, settings);
  if (user.provisioningSource === "scim" || mapped === "unknown" || mapped === "unmapped") return undefined;
  return mapped === user.role ? undefined : mapped;
}
