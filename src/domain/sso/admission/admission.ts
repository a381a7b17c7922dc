// Admits people who signed in at the identity provider: finds or creates the account, links it, updates role and address, and opens
// the login session, all in one transaction. Two concurrent first sign-ins therefore give one user and one link.
import type { Clock } from "../../../platform/clock.ts";
import type { Sealing } from "../../../platform/crypto/sealing.ts";
import type { Connection, Db, Tx } from "../../../platform/database/database.ts";
import { DomainError, invariant } from "../../../platform/errors.ts";
import type { Secret } from "../../../platform/secret.ts";
import type { Access, OpenedSession, Origin, SignedIn, SignInMethod } from "../../access/service.ts";
import type { Audit } from "../../audit/service.ts";
import type { Identity, User } from "../../identity/service.ts";
import { type Actor, userActor } from "../../shared/actor.ts";
import type { SignInOutcome } from "../dependencies.ts";
import { signedOut, ssoReasonOf, stateUnknown, userConflict } from "../errors.ts";
import { removeOf as removeExpectation } from "../identities/expected-store.ts";
import * as identities from "../identities/identities-store.ts";
import type { AnnouncedLogouts } from "../logout/announced-logouts.ts";
import type { Person } from "../model.ts";
import type { CurrentSsoSettings, SsoSettings } from "../settings.ts";
import { type Decision, type DecisionSources, decide, type LinkedBy, roleFor } from "./decide.ts";
import { addressOf } from "./rules.ts";

export interface AdmissionDependencies extends DecisionSources {
  db: Db;
  clock: Clock;
  audit: Audit;
  sealing: Pick<Sealing, "mac">;
  identity: DecisionSources["identity"] & Pick<Identity, "findOrganization">;
  sessions: Pick<Access["sessions"], "enter" | "signIn">;
  settings: CurrentSsoSettings;
  announced: Pick<AnnouncedLogouts, "has">;
  /** receives the result of each sign-in, for metrics */
  ended?: ((outcome: SignInOutcome) => void) | undefined;
}

/** The browser that came back from the provider. */
export interface ReturningBrowser extends Origin {
  requestId?: string | undefined;
  /** its current session, which the new one replaces */
  sessionToken?: string | undefined;
  /** when it left for the provider, UTC milliseconds; for a password proof, when it came back */
  startedMs: number;
}

/** The browser whose user proves ownership of the account with a password. */
export interface ProvingBrowser extends ReturningBrowser {
  password: Secret;
  /** code of the second factor, if the account has one */
  code?: Secret | undefined;
  deviceCookie?: string | undefined;
}

export type Admitted =
  | {
      kind: "signed_in";
      session: OpenedSession;
      user: User;
      /** set if the groups give another role, but the user is the last administrator */
      isRoleKept: boolean;
    }
  /** the user must prove the password of this account once: `prove` */
  | { kind: "password_needed"; email: string };

/** The outcome of a dry run. */
export interface Explanation {
  decision: Decision;
  /** the role after the sign-in; undefined if it is refused */
  role: User["role"] | undefined;
  /** set if the groups give another role, which the protected or last administrator does not get */
  keepsRole: boolean;
}

/** A user, and the link that identifies the person as this user. */
interface LinkedUser {
  user: User;
  link: identities.IdentityRow;
}

const SUBJECT_HASH_LENGTH = 16;

export class Admission {
  constructor(private readonly dependencies: AdmissionDependencies) {}

  /**
   * @throws DomainError `sso.email_missing`, `sso.email_unverified`, `sso.not_provisioned`, `sso.not_allowed`, `sso.groups_overage`,
   *   `sso.acr`, `sso.user_inactive`, `sso.user_conflict`, `sso.user_protected`, `sso.signed_out`; `sso.state` if a reload
   *   replaced the provider
   */
  async admit(person: Person, browser: ReturningBrowser): Promise<Admitted> {
    const admitted = await this.dependencies.db.write((tx) => this.#admit(tx, person, browser), "access");
    const outcome = outcomeOf(admitted);
    if (outcome !== undefined) this.dependencies.ended?.(outcome);
    if (admitted instanceof DomainError) throw admitted;
    return admitted;
  }

  /**
   * Links a local account after its password was proved once, and signs the browser in.
   * @throws DomainError like `LoginSessions.signIn`; `sso.signed_out`; `sso.user_conflict` if the account is no longer the one to prove
   */
  async prove(person: Person, browser: ProvingBrowser): Promise<SignedIn> {
    const { db, sessions } = this.dependencies;
    const decision = this.#decide(db.read, person);
    if (decision.kind !== "prove_password") throw refusalIn(decision);
    const { requestId, startedMs, ...request } = browser;
    const { email } = decision.user;
    const signedIn = await sessions.signIn({
      ...request,
      ...(requestId !== undefined && { requestId }),
      email,
      how: methodOf(person),
      alongside: (tx, user) => {
        if (this.dependencies.announced.has(person, startedMs)) throw signedOut();
        const now = this.#decide(tx, person);
        if (now.kind !== "prove_password" || now.user.id !== user.id) throw refusalIn(now);
        const actor = userActor(user, browser);
        const link = this.#link(tx, user, { person, actor, linkedBy: "password" });
        this.#follow(tx, { user, link }, { person, actor });
      },
    });
    this.dependencies.ended?.("signed_in");
    return signedIn;
  }

  /** @returns what a sign-in of this person would do, without changing anything */
  explain(person: Person): Explanation {
    const { db, identity } = this.dependencies;
    const decision = this.#decide(db.read, person);
    if (decision.kind === "refuse") return { decision, role: undefined, keepsRole: false };
    const before = "user" in decision ? decision.user : { ...decision, provisioningSource: "local" as const };
    const mapped = roleFor(before, person, this.#settings);
    const keepsRole =
      mapped !== undefined && "user" in decision && identity.external.keepsRole(db.read, decision.user);
    return { decision, role: keepsRole ? before.role : (mapped ?? before.role), keepsRole };
  }

  get #settings(): SsoSettings {
    const settings = this.dependencies.settings();
    invariant(settings, "a person comes from a configured provider");
    return settings;
  }

  #decide(connection: Connection, person: Person): Decision {
    // A reload may have replaced the provider during the sign-in; the former provider is no longer accepted.
    if (this.dependencies.settings()?.issuer !== person.issuer)
      return { kind: "refuse", error: stateUnknown() };
    return decide(this.dependencies, {
      connection,
      organizationId: () => this.#organizationIn(connection),
      person,
      settings: this.#settings,
      nowMs: this.dependencies.clock.nowMs(),
    });
  }

  /** @returns the decision; a refusal if the provider has signed the person out since */
  #current(
    decision: Decision,
    { person, browser: { startedMs } }: { person: Person; browser: ReturningBrowser },
  ): Decision {
    if (decision.kind === "refuse" || !this.dependencies.announced.has(person, startedMs)) return decision;
    return { kind: "refuse", error: signedOut(), ...("user" in decision && { user: decision.user }) };
  }

  /** @returns the refusal instead of throwing it, so that its audit entry is committed */
  #admit(tx: Tx, person: Person, browser: ReturningBrowser): Admitted | DomainError {
    const decision = this.#current(this.#decide(tx, person), { person, browser });
    if (decision.kind === "refuse") return this.#refuse(tx, decision, { person, browser });
    if (decision.kind === "prove_password") return { kind: "password_needed", email: decision.user.email };
    const linked = this.#linkedUser(tx, decision, { person, browser });
    if (!linked) return userConflict();
    const { user } = linked;
    const actor = userActor(user, browser);
    const after = this.#follow(tx, linked, { person, actor });
    const how = methodOf(person);
    const session = this.dependencies.sessions.enter(tx, user, { actor, origin: browser, how });
    return {
      kind: "signed_in",
      session,
      user: after,
      isRoleKept: roleFor(after, person, this.#settings) !== undefined,
    };
  }

  /** Records the sign-in. @returns the linked user; undefined if another user has taken the address */
  #linkedUser(
    tx: Tx,
    decision: Exclude<Decision, { kind: "refuse" | "prove_password" }>,
    { person, browser }: { person: Person; browser: ReturningBrowser },
  ): LinkedUser | undefined {
    if (decision.kind === "sign_in") {
      const { user, identity: link } = decision;
      identities.noteSignIn(tx, link, this.dependencies.clock.nowMs());
      return { user, link };
    }
    if (decision.kind === "link") {
      const { user, linkedBy } = decision;
      return { user, link: this.#link(tx, user, { person, actor: userActor(user, browser), linkedBy }) };
    }
    const { external } = this.dependencies.identity;
    const { email, role } = decision;
    const actor = userActor({ id: null, email, organizationId: this.#organizationIn(tx) }, browser);
    const invited = decision.kind === "accept_invitation";
    const user = invited
      ? external.acceptInvitation(tx, { actor, email })
      : external.create(tx, { actor, email, role });
    const linkedBy = invited ? "invitation" : "sign_up";
    return user && { user, link: this.#link(tx, user, { person, actor, linkedBy }) };
  }

  #link(
    tx: Tx,
    user: User,
    { person, actor, linkedBy }: { person: Person; actor: Actor; linkedBy: LinkedBy },
  ): identities.IdentityRow {
    const { clock, audit } = this.dependencies;
    const { issuer, subject } = person;
    identities.remove(tx, { userId: user.id, issuer });
    removeExpectation(tx, { userId: user.id, issuer });
    // A removed user who is invited at another address becomes a new user.
    const former = identities.findBySubject(tx, person);
    if (former) {
      identities.remove(tx, former);
      const before = { issuer, subject: this.#hashOf(person), linked_by: former.linkedBy };
      audit.record(tx, { actor, action: "identity.unlink", target: former.userId, before });
    }
    const linkedAtMs = clock.nowMs();
    const link = { userId: user.id, issuer, subject, linkedBy, linkedAtMs, lastSignInAtMs: linkedAtMs };
    identities.insert(tx, link);
    const after = { issuer, subject: this.#hashOf(person), linked_by: linkedBy };
    audit.record(tx, { actor, action: "identity.link", target: user.id, after });
    return link;
  }

  /** Updates the role and the address to the provider's. */
  #follow(tx: Tx, { user, link }: LinkedUser, { person, actor }: { person: Person; actor: Actor }): User {
    const { identity } = this.dependencies;
    const role = roleFor(user, person, this.#settings);
    const withRole = role ? identity.external.setRole(tx, { actor, user, role }) : user;
    const address = addressOf(person, this.#settings);
    if (link.linkedBy !== "sign_up" || !("verified" in address)) return withRole;
    return identity.external.changeAddress(tx, { actor, user: withRole, email: address.verified });
  }

  #refuse(
    tx: Tx,
    { error, user }: Extract<Decision, { kind: "refuse" }>,
    { person, browser }: { person: Person; browser: ReturningBrowser },
  ): DomainError {
    const subject = this.#hashOf(person);
    const organizationId = this.#organizationIn(tx);
    const actor = userActor(user ?? { id: null, email: subject, organizationId }, browser);
    const after = { issuer: person.issuer, subject, reason: error.reason };
    this.dependencies.audit.record(tx, {
      actor,
      action: "sign_in.refuse",
      target: user?.id ?? subject,
      after,
    });
    return error;
  }

  /** Identifies the same person again without storing the person's identity. */
  #hashOf({ issuer, subject }: Person): string {
    const mac = this.dependencies.sealing.mac(`${issuer}\0${subject}`, "subject at a provider");
    return mac.slice(0, SUBJECT_HASH_LENGTH);
  }

  #organizationIn(connection: Connection): string {
    const organization = this.dependencies.identity.findOrganization(connection);
    invariant(organization, "the service serves one organization");
    return organization.id;
  }
}

const refusalIn = (decision: Decision): DomainError =>
  decision.kind === "refuse" ? decision.error : userConflict();

const outcomeOf = (admitted: Admitted | DomainError): SignInOutcome | undefined => {
  if (admitted instanceof DomainError) return ssoReasonOf(admitted);
  return admitted.kind === "signed_in" ? "signed_in" : "sso.password_needed";
};

const methodOf = ({ issuer, providerSessionId, authTimeMs, acr }: Person): SignInMethod => ({
  method: "oidc",
  issuer,
  providerSessionId: providerSessionId ?? null,
  authTimeMs: authTimeMs ?? null,
  acr: acr ?? null,
});
