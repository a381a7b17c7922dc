// Identities at providers, for the operator: lists, links and unlinks them, and moves them when the provider is replaced. Sign-ins
// create identities in admission/.
import type { Clock } from "../../../platform/clock.ts";
import type { Connection, Db, Tx } from "../../../platform/database/database.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Audit } from "../../audit/service.ts";
import type { Identity, User } from "../../identity/service.ts";
import type { Actor } from "../../shared/actor.ts";
import type { EndLogins } from "../dependencies.ts";
import { claimTextProblem } from "../model.ts";
import { isExpected, removeExpectations } from "./expected-store.ts";
import * as store from "./identities-store.ts";

export interface IdentitiesDependencies {
  db: Db;
  clock: Clock;
  audit: Audit;
  identity: Pick<Identity, "findUserById">;
  endLogins: EndLogins;
}

export interface NewIdentity {
  userId: string;
  issuer: string;
  subject: string;
}

/** An identity with its user; the address is null if the user no longer exists. */
export interface IdentityView extends store.IdentityRow {
  email: string | null;
}

export interface IdentityQuery extends store.IdentityFilter {
  after?: { userId: string; issuer: string } | undefined;
  limit: number;
}

export class Identities {
  constructor(private readonly dependencies: IdentitiesDependencies) {}

  /** @returns identities ordered by user id and issuer, and their number on all pages */
  list({ after, limit, ...filter }: IdentityQuery): { items: readonly IdentityView[]; total: number } {
    const { db } = this.dependencies;
    const items = store.list(db.read, { ...filter, after, limit }).map((row) => this.#viewOf(db.read, row));
    return { items, total: store.total(db.read, filter) };
  }

  /**
   * Links a user manually, including users whom no sign-in links: an administrator, or a user without an address at the provider.
   * @throws DomainError `identity.subject_invalid`, `user.not_found`, `identity.taken` if the subject or the user is linked already
   */
  create(actor: Actor, wanted: NewIdentity): Promise<IdentityView> {
    return this.dependencies.db.write((tx) => {
      const user = this.#checkCreate(tx, actor, wanted);
      return this.#link(tx, actor, { user, ...wanted });
    }, "access");
  }

  /** Throws what `create` would throw, without changing anything. */
  checkCreate(actor: Actor, wanted: NewIdentity): void {
    this.#checkCreate(this.dependencies.db.read, actor, wanted);
  }

  /**
   * Unlinks a user and ends the user's logins, which the link gave. Also removes expectations about the user, who may have only
   * those and no link.
   * @throws DomainError `identity.not_found` if the user is neither linked nor expected there
   */
  remove(actor: Actor, { userId, issuer }: { userId: string; issuer: string }): Promise<void> {
    const { db, audit, clock, endLogins } = this.dependencies;
    return db.write((tx) => {
      this.#checkRemove(tx, actor, { userId, issuer });
      const linked = store.findOfUser(tx, { userId, issuer });
      removeExpectations(tx, userId);
      if (linked) store.remove(tx, linked);
      endLogins(tx, { userId, reason: "identity_removed", nowMs: clock.nowMs() });
      const before = linked ? summaryOf(linked) : { issuer, linked_by: "expected" };
      audit.record(tx, { actor, action: "identity.unlink", target: userId, before });
    }, "access");
  }

  /** Throws what `remove` would throw, without changing anything. */
  checkRemove(actor: Actor, wanted: { userId: string; issuer: string }): void {
    this.#checkRemove(this.dependencies.db.read, actor, wanted);
  }

  #checkRemove(
    connection: Connection,
    actor: Actor,
    { userId, issuer }: { userId: string; issuer: string },
  ): void {
    const nowMs = this.dependencies.clock.nowMs();
    const isKnown =
      store.findOfUser(connection, { userId, issuer }) !== undefined ||
      isExpected(connection, { userId, issuer, nowMs });
    if (!isKnown || this.#userIn(connection, actor, userId) === undefined) throw identityNotFound();
  }

  #checkCreate(connection: Connection, actor: Actor, { userId, issuer, subject }: NewIdentity): User {
    const problem = subjectProblem(subject);
    if (problem !== undefined) throw subjectInvalid(problem);
    const user = this.#userIn(connection, actor, userId);
    if (!user || user.status === "removed")
      throw new DomainError("not_found", "user.not_found", "no user who can be linked", {
        hint: "see `quartermaster users list`",
      });
    const taken = store.findBySubject(connection, { issuer, subject });
    if (taken) throw identityTaken("this subject is linked to a user already");
    if (store.findOfUser(connection, { userId, issuer }))
      throw identityTaken("this user is linked to another subject of the provider already");
    return user;
  }

  #link(tx: Tx, actor: Actor, { user, issuer, subject }: NewIdentity & { user: User }): IdentityView {
    const row: store.IdentityRow = {
      userId: user.id,
      issuer,
      subject,
      linkedBy: "operator",
      linkedAtMs: this.dependencies.clock.nowMs(),
      lastSignInAtMs: null,
    };
    store.insert(tx, row);
    this.dependencies.audit.record(tx, {
      actor,
      action: "identity.link",
      target: user.id,
      after: summaryOf(row),
    });
    return { ...row, email: user.email };
  }

  #userIn(connection: Connection, { organizationId }: Actor, id: string): User | undefined {
    const user = this.dependencies.identity.findUserById(connection, id);
    return user?.organizationId === organizationId ? user : undefined;
  }

  #viewOf(connection: Connection, row: store.IdentityRow): IdentityView {
    return { ...row, email: this.dependencies.identity.findUserById(connection, row.userId)?.email ?? null };
  }
}

/** Summary without the subject, which is personal data at the provider. */
export const summaryOf = ({ issuer, linkedBy }: store.IdentityRow) => ({ issuer, linked_by: linkedBy });

/** White space or an invisible character at either end, usually a copying mistake. */
const BLANK_AT_END = /^[\s\p{Cf}]|[\s\p{Cf}]$/u;

/** Trims nothing, because subjects are compared exactly. @returns why the subject is invalid */
function subjectProblem(subject: string): string | undefined {
  if (subject === "") return "is empty";
  return BLANK_AT_END.test(subject) ? "begins or ends with white space" : claimTextProblem(subject);
}

const subjectInvalid = (problem: string) =>
  new DomainError("invalid", "identity.subject_invalid", `the subject ${problem}`, {
    hint: "subjects are compared exactly: give the claim `sub` of the provider, character by character",
    problems: [{ pointer: "/subject", detail: problem }],
  });

const identityTaken = (message: string) =>
  new DomainError("conflict", "identity.taken", message, {
    hint: "see `quartermaster identities list`; `quartermaster identities remove` unlinks a user",
  });

const identityNotFound = () =>
  new DomainError("not_found", "identity.not_found", "this user has no identity at this provider", {
    hint: "see `quartermaster identities list`",
  });
