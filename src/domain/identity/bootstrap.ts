// The first start creates the organization and its protected administrator. Every later start ensures that the configured address
// is an active, protected administrator, and the only protected one; without a configured address, the protected administrator
// stays. Passwords are never replaced.
import type { Connection, Tx } from "../../platform/database/database.ts";
import { invariant, type Problem } from "../../platform/errors.ts";
import type { Secret } from "../../platform/secret.ts";
import type { Actor } from "../shared/actor.ts";
import type { IdentityDependencies } from "./dependencies.ts";
import { bootstrapPasswordMissing, refuseInvalid } from "./errors.ts";
import {
  emailKey,
  isActiveAdministrator,
  type Organization,
  readEmail,
  readOrganizationName,
  type SignInUser,
  type User,
} from "./model.ts";
import * as store from "./store.ts";
import { type Enroll, summaryOf } from "./users/enrollment.ts";
import { checkPassword, generatePassword } from "./users/passwords.ts";

export interface BootstrapRequest {
  organizationName: string;
  adminEmail: string;
  /** whether the address is only a default, which applies only to a new installation */
  isDefaultEmail?: boolean;
  adminPassword?: Secret | undefined;
  /** whether to generate a password if the administrator has none and none is given */
  generatePassword: boolean;
}

export interface BootstrapResult {
  organizationId: string;
  admin: { id: string; email: string };
  /** shown once and not stored; absent if the administrator already had a password */
  generatedPassword?: Secret;
  /** true at the first start, which created the organization */
  created: boolean;
}

/** The changes that `run` would make. */
export interface BootstrapNeeds {
  organization: boolean;
  administrator: boolean;
  password: boolean;
  /** addresses of formerly configured administrators who lose their protection */
  released: readonly string[];
}

/** Differences between the settings and the installation that a later start does not apply. */
export interface BootstrapDifferences {
  organizationName: boolean;
  adminPassword: boolean;
}

interface State {
  organization: Organization | undefined;
  admin: SignInUser | undefined;
  /** protected users other than the configured administrator */
  former: readonly User[];
}

interface Address {
  email: string;
  isDefault: boolean;
}

interface Wanted {
  name: string;
  address: Address;
  passwordHash: string | null;
}

export class Bootstrap {
  constructor(
    private readonly dependencies: IdentityDependencies,
    private readonly enrol: Enroll,
  ) {}

  /**
   * Creates what is missing; if nothing changes, it only reads.
   * @throws DomainError `identity.invalid`, `bootstrap.password_missing`
   */
  async run(request: BootstrapRequest): Promise<BootstrapResult> {
    const { name, address } = readRequest(request);
    const { db, passwords } = this.dependencies;
    const state = readState(db.read, address);
    const password = hasPassword(state.admin) ? undefined : this.#choosePassword(request);
    if (!password && isSettled(state)) return resultOf(state, { created: false });
    if (!password && !isPresent(state.admin)) throw bootstrapPasswordMissing();
    const passwordHash = password ? await passwords.hash(password) : null;
    const settled = await db.write((tx) => this.#settle(tx, { name, address, passwordHash }), "access");
    const result = resultOf(settled, settled);
    const isNewPassword =
      password !== undefined && password !== request.adminPassword && settled.passwordWasSet;
    return isNewPassword ? { ...result, generatedPassword: password } : result;
  }

  /**
   * Determines what `run` would do, without changing anything.
   * @throws DomainError `identity.invalid`
   */
  needs(request: BootstrapRequest): BootstrapNeeds {
    const state = readState(this.dependencies.db.read, readRequest(request).address);
    return {
      organization: state.organization === undefined,
      administrator: !isReady(state.admin),
      password:
        !hasPassword(state.admin) && (request.generatePassword || request.adminPassword !== undefined),
      released: state.former.map(({ email }) => email),
    };
  }

  /**
   * Compares the settings with the installation after a start.
   * @throws DomainError `identity.invalid`
   */
  async differences(request: BootstrapRequest): Promise<BootstrapDifferences> {
    const { name, address } = readRequest(request);
    const { db, passwords } = this.dependencies;
    const { organization, admin } = readState(db.read, address);
    const { adminPassword } = request;
    return {
      organizationName: organization !== undefined && organization.name !== name,
      adminPassword:
        adminPassword !== undefined &&
        hasPassword(admin) &&
        !(await passwords.verify(adminPassword, admin?.passwordHash)),
    };
  }

  #choosePassword({ adminPassword, generatePassword: mayGenerate }: BootstrapRequest): Secret | undefined {
    return adminPassword ?? (mayGenerate ? generatePassword(this.dependencies.ids) : undefined);
  }

  /** Checks again inside the transaction, because another process may have been first. */
  #settle(tx: Tx, { name, address, passwordHash }: Wanted) {
    const { email } = address;
    const state = readState(tx, address);
    const organization = state.organization ?? this.#makeOrganization(tx, name);
    const actor = bootstrapActor(organization.id);
    const admin = this.#settleAdmin(tx, state.admin, { actor, email, passwordHash });
    for (const user of store.listOtherProtectedUsers(tx, admin)) this.#update(tx, user, { protected: false });
    const created = state.organization === undefined;
    return { organization, admin, created, passwordWasSet: !hasPassword(state.admin) };
  }

  #settleAdmin(
    tx: Tx,
    admin: SignInUser | undefined,
    { actor, email, passwordHash }: { actor: Actor; email: string } & Pick<Wanted, "passwordHash">,
  ): User {
    if (!isPresent(admin))
      return this.enrol(tx, { actor, email, role: "admin", passwordHash, isProtected: true });
    return isReady(admin) && hasPassword(admin) ? admin : this.#promote(tx, admin, passwordHash);
  }

  #makeOrganization(tx: Tx, name: string): Organization {
    const { audit, clock, ids } = this.dependencies;
    const organization = { id: ids.uuid(), name };
    store.insertOrganization(tx, { ...organization, createdAtMs: clock.nowMs() });
    const actor = bootstrapActor(organization.id);
    audit.record(tx, { actor, action: "organization.create", target: organization.id, after: { name } });
    return organization;
  }

  /** Ends the logins of a user whose rights change, as every other change of rights does. */
  #promote(tx: Tx, { passwordHash: before, ...user }: SignInUser, passwordHash: string | null): User {
    const { clock, endLogins } = this.dependencies;
    const changes = { role: "admin", status: "active", protected: true } as const;
    const after = this.#update(tx, user, { ...changes, passwordHash: before ?? passwordHash });
    if (!isActiveAdministrator(user))
      endLogins(tx, { userId: user.id, reason: "user_changed", nowMs: clock.nowMs() });
    return after;
  }

  #update(tx: Tx, user: User, changes: store.UserChanges): User {
    const { audit, clock } = this.dependencies;
    const after = store.updateUser(tx, user, { ...changes, updatedAtMs: clock.nowMs() });
    invariant(after, "a user found in this transaction is still there");
    const actor = bootstrapActor(user.organizationId);
    const summaries = { before: summaryOf(user), after: summaryOf(after) };
    audit.record(tx, { actor, action: "user.update", target: user.id, ...summaries });
    return after;
  }
}

const bootstrapActor = (organizationId: string): Actor => ({
  kind: "system",
  id: null,
  label: "bootstrap",
  organizationId,
});

function readRequest({
  organizationName,
  adminEmail,
  isDefaultEmail = false,
  adminPassword,
}: BootstrapRequest) {
  const problems: Problem[] = [];
  const name = readOrganizationName(organizationName, problems, "/bootstrap/organization_name");
  const email = readEmail(adminEmail, problems, "/bootstrap/admin_email");
  if (adminPassword) checkPassword(adminPassword, problems, "/bootstrap/admin_password");
  refuseInvalid(problems);
  return { name, address: { email, isDefault: isDefaultEmail } };
}

function readState(connection: Connection, { email, isDefault }: Address): State {
  const organization = store.firstOrganization(connection);
  if (!organization) return { organization, admin: undefined, former: [] };
  const [standing] = isDefault
    ? store.listOtherProtectedUsers(connection, { organizationId: organization.id, id: "" })
    : [];
  const key = { organizationId: organization.id, emailKey: emailKey(standing?.email ?? email) };
  const admin = store.findUserByEmail(connection, key);
  const former = store.listOtherProtectedUsers(connection, {
    organizationId: organization.id,
    id: admin?.id ?? "",
  });
  return { organization, admin, former };
}

const isPresent = (admin: SignInUser | undefined): admin is SignInUser =>
  admin !== undefined && admin.status !== "removed";

const hasPassword = (admin: SignInUser | undefined): boolean =>
  isPresent(admin) && admin.passwordHash !== null;

const isSettled = (state: State): state is State & { organization: Organization; admin: SignInUser } =>
  isReady(state.admin) && state.former.length === 0;

const isReady = (admin: SignInUser | undefined): boolean =>
  admin?.protected === true && isActiveAdministrator(admin);

const resultOf = (
  { organization, admin }: { organization: Organization; admin: User },
  { created }: { created: boolean },
): BootstrapResult => ({
  organizationId: organization.id,
  admin: { id: admin.id, email: admin.email },
  created,
});
