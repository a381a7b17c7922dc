// Invitations: an administrator sets address and role, and the holder of the link sets the password. Only the SHA-256 of the
// link's secret is stored. The caller delivers the link.
import { toRfc3339 } from "../../../platform/clock.ts";
import type { Connection, Tx } from "../../../platform/database/database.ts";
import type { Problem } from "../../../platform/errors.ts";
import { randomToken, sha256Hex } from "../../../platform/ids.ts";
import { Secret } from "../../../platform/secret.ts";
import { runSynchronously, type Steps } from "../../../platform/steps.ts";
import type { AuditSummary } from "../../audit/service.ts";
import type { Repeatable } from "../../idempotency/service.ts";
import type { Actor } from "../../shared/actor.ts";
import type { Expectation } from "../../shared/expectation.ts";
import { offsetOf, type Page, type PageQuery, readPageQuery } from "../../shared/page.ts";
import { pageInSteps } from "../../shared/page-steps.ts";
import type { IdentityDependencies } from "../dependencies.ts";
import {
  acceptedAtProvider,
  alreadyInvited,
  invitationAccepted,
  invitationClosed,
  invitationNotFound,
  invitationsDisabled,
  invitationUnavailable,
  refuseInvalid,
  userExists,
} from "../errors.ts";
import {
  emailKey,
  INVITATION_FILTERS,
  INVITATION_TTL_MS,
  type Invitation,
  isOpen,
  ROLES,
  type Role,
  readChoice,
  readEmail,
  type User,
} from "../model.ts";
import type { RowId } from "../store.ts";
import { type Enroll, isTaken } from "../users/enrollment.ts";
import { checkPassword } from "../users/passwords.ts";
import { INVITATION_FORM, type InvitationWithToken } from "./invitation-form.ts";
import * as store from "./invitation-store.ts";

export interface InvitationQuery extends PageQuery {
  role?: string | undefined;
  status?: string | undefined;
  /** the last invitation of the previous page; unlike a page number, it does not require scanning the earlier pages */
  after?: Pick<Invitation, "id" | "createdAtMs"> | undefined;
}

export interface NewInvitation {
  email: string;
  role: string;
  /** a request repeated with the same key returns the same invitation and link */
  idempotencyKey?: string | undefined;
}

export interface Acceptance {
  token: Secret;
  password: Secret;
  /** where the request came from, for the audit log */
  requestId?: string;
  address?: string;
}

/** A request to renew an invitation under a new link. */
export interface Regeneration {
  idempotencyKey?: string | undefined;
  expect?: Expectation<Invitation> | undefined;
}

interface Renewal extends Pick<Regeneration, "expect"> {
  id: string;
  link?: store.NewLink;
}

/** Managing invitations as an administrator, and accepting one by its link. */
export class Invitations {
  constructor(
    private readonly dependencies: IdentityDependencies,
    private readonly enrol: Enroll,
  ) {}

  /**
   * Invites an address for INVITATION_TTL_MS. Also cancels expired invitations of the address.
   * @throws DomainError `invitation.disabled`, `identity.invalid`, `user.exists`, `invitation.pending`,
   *   `access.too_many_attempts`, those of Idempotency.once
   */
  async create(actor: Actor, { email, role, idempotencyKey }: NewInvitation): Promise<InvitationWithToken> {
    this.#refuseUnlessInviting();
    const problems: Problem[] = [];
    const known = readChoice(role, { allowed: ROLES, pointer: "/role", problems }) ?? "member";
    const address = readEmail(email, problems);
    refuseInvalid(problems);
    const { token, tokenHash } = this.#newToken();
    const create = (tx: Tx): InvitationWithToken => {
      this.#refuseOccupied(tx, actor, address);
      this.dependencies.spendLink(tx, actor, "invitation");
      return { invitation: this.#insert(tx, actor, { email: address, role: known, tokenHash }), token };
    };
    return await this.#once(actor, { key: idempotencyKey, request: ["create", email, role], create });
  }

  /** See `listInSteps`. */
  list(organizationId: string, query: InvitationQuery): Page<Invitation> {
    return runSynchronously(this.listInSteps(organizationId, query));
  }

  /**
   * Lets the event loop turn.
   * @returns invitations newest first; `outstanding` selects pending ones, including expired ones
   * @throws DomainError `identity.invalid`
   */
  *listInSteps(organizationId: string, { after, ...query }: InvitationQuery): Steps<Page<Invitation>> {
    const problems: Problem[] = [];
    const request = readPageQuery(query, problems);
    const filter = {
      q: request.q && emailKey(request.q),
      role: readChoice(query.role, { allowed: ROLES, pointer: "/role", problems }),
      status: readChoice(query.status, { allowed: INVITATION_FILTERS, pointer: "/status", problems }),
    };
    refuseInvalid(problems);
    const { page, perPage } = request;
    const rows = store.invitationsLike(this.dependencies.db.read, organizationId, filter);
    const place = after && { first: after.createdAtMs, second: after.id };
    const slice = { after: place, offset: after ? 0 : offsetOf(request), limit: perPage, known: query.known };
    return { page, perPage, ...(yield* pageInSteps(rows, slice)) };
  }

  /** @throws DomainError `invitation.not_found` */
  show(organizationId: string, id: string): Invitation {
    return getInvitation(this.dependencies.db.read, { organizationId, id });
  }

  /**
   * Invalidates the link. Does nothing if the invitation is already canceled.
   * @throws DomainError `invitation.not_found`, `invitation.accepted`
   */
  cancel(actor: Actor, id: string, expect?: Expectation<Invitation>): Promise<void> {
    const { db, audit } = this.dependencies;
    return db.write((tx) => {
      const invitation = getInvitation(tx, { organizationId: actor.organizationId, id });
      expect?.(invitation);
      if (invitation.status === "accepted") throw invitationAccepted();
      if (!store.changePending(tx, invitation, { status: "canceled" })) return;
      audit.record(tx, { actor, action: "invitation.cancel", target: id, before: summaryOf(invitation) });
    }, "access");
  }

  /**
   * Renews a pending or expired invitation; its id and link stay the same.
   * @throws DomainError `invitation.disabled`, `invitation.not_found`, `invitation.closed`
   */
  async resend(actor: Actor, id: string, expect?: Expectation<Invitation>): Promise<Invitation> {
    this.#refuseUnlessInviting();
    return await this.dependencies.db.write((tx) => this.#renew(tx, actor, { id, expect }), "access");
  }

  /**
   * Renews a pending or expired invitation under a new link; the old link stops working. The actor, who knows the new link,
   * becomes the inviter, so the link becomes invalid if the actor loses the role.
   * @throws DomainError `invitation.disabled`, `invitation.not_found`, `invitation.closed`, `access.too_many_attempts`, those
   * of Idempotency.once
   */
  async regenerate(
    actor: Actor,
    id: string,
    { idempotencyKey, expect }: Regeneration = {},
  ): Promise<InvitationWithToken> {
    this.#refuseUnlessInviting();
    const { token, tokenHash } = this.#newToken();
    const create = (tx: Tx): InvitationWithToken => {
      const renewal = { id, expect, link: { tokenHash, inviterId: actor.id } };
      const invitation = this.#renew(tx, actor, renewal);
      this.dependencies.spendLink(tx, actor, "invitation");
      return { invitation, token };
    };
    return await this.#once(actor, { key: idempotencyKey, request: ["regenerate", id], create });
  }

  /** @returns the invitation of a link; undefined for a link that no longer works, which a repeated response may contain */
  findByToken(token: Secret): Invitation | undefined {
    const invitation = store.findInvitationByToken(this.dependencies.db.read, sha256Hex(token.reveal()));
    return invitation && isOpen(invitation, this.dependencies.clock.nowMs()) ? invitation : undefined;
  }

  /** The same, for the page that asks for the password. @throws DomainError `invitation.unavailable` */
  getByToken(token: Secret): Invitation {
    const invitation = this.findByToken(token);
    if (!invitation) throw invitationUnavailable();
    return invitation;
  }

  /**
   * Uses up the link and creates the user with the role of the invitation.
   * @throws DomainError `invitation.disabled`, `invitation.accepted_at_provider`, `invitation.unavailable`, `identity.invalid`
   */
  async accept({ token, password, ...origin }: Acceptance): Promise<User> {
    this.#refuseUnlessInviting();
    if (this.dependencies.settings.mode === "oidc") throw acceptedAtProvider();
    const invitation = this.getByToken(token);
    const problems: Problem[] = [];
    checkPassword(password, problems);
    refuseInvalid(problems);
    const { db, clock, passwords, audit } = this.dependencies;
    const passwordHash = await passwords.hash(password);
    const { id, email, role, organizationId } = invitation;
    const actor: Actor = { kind: "user", id: null, label: email, organizationId, ...origin };
    return await db.write((tx) => {
      const claimed = store.claim(tx, { tokenHash: sha256Hex(token.reveal()), nowMs: clock.nowMs() });
      if (!claimed) throw invitationUnavailable();
      audit.record(tx, { actor, action: "invitation.accept", target: id });
      return this.enrol(tx, { actor, email, role, passwordHash });
    }, "access");
  }

  #refuseUnlessInviting(): void {
    if (!this.dependencies.settings.invites) throw invitationsDisabled();
  }

  /** Creates a link in a transaction, once per idempotency key. */
  #once(
    actor: Actor,
    { create, ...repeatable }: Repeatable & { create: (tx: Tx) => InvitationWithToken },
  ): Promise<InvitationWithToken> {
    const { db, idempotency } = this.dependencies;
    const once = { ...repeatable, form: INVITATION_FORM };
    return db.write((tx) => idempotency.once(tx, actor, { ...once, create: () => create(tx) }), "access");
  }

  #newToken(): { token: Secret; tokenHash: string } {
    const token = new Secret(randomToken(this.dependencies.ids));
    return { token, tokenHash: sha256Hex(token.reveal()) };
  }

  /** Cancels expired invitations of the address, or throws if the address is in use or invited. */
  #refuseOccupied(tx: Tx, actor: Actor, email: string): void {
    const { audit, clock } = this.dependencies;
    const key = { organizationId: actor.organizationId, emailKey: emailKey(email) };
    if (isTaken(tx, key)) throw userExists(email);
    for (const target of store.cancelPending(tx, { ...key, expiredAtMs: clock.nowMs() })) {
      audit.record(tx, { actor, action: "invitation.cancel", target });
    }
    if (store.hasPending(tx, key)) throw alreadyInvited(email);
  }

  #insert(
    tx: Tx,
    actor: Actor,
    { email, role, tokenHash }: { email: string; role: Role; tokenHash: string },
  ): Invitation {
    const { audit, clock, ids } = this.dependencies;
    const { organizationId, id: inviterId } = actor;
    const createdAtMs = clock.nowMs();
    const row = { id: ids.uuid(), organizationId };
    store.insertInvitation(tx, {
      ...row,
      email,
      emailKey: emailKey(email),
      role,
      status: "pending",
      tokenHash,
      inviterId,
      expiresAtMs: createdAtMs + INVITATION_TTL_MS,
      createdAtMs,
    });
    const invitation = getInvitation(tx, row);
    audit.record(tx, { actor, action: "invitation.create", target: row.id, after: summaryOf(invitation) });
    return invitation;
  }

  /** Restarts the lifetime of a pending or expired invitation, under a new link if one is given. */
  #renew(tx: Tx, actor: Actor, { id, link, expect }: Renewal): Invitation {
    const { audit, clock } = this.dependencies;
    const row = { organizationId: actor.organizationId, id };
    const invitation = getInvitation(tx, row);
    expect?.(invitation);
    const expiresAtMs = clock.nowMs() + INVITATION_TTL_MS;
    if (!store.changePending(tx, row, { expiresAtMs, ...link })) throw invitationClosed();
    const renewed = getInvitation(tx, row);
    const action = link ? "invitation.regenerate" : "invitation.resend";
    const before = summaryOf(invitation);
    audit.record(tx, { actor, action, target: id, before, after: summaryOf(renewed) });
    return renewed;
  }
}

function getInvitation(connection: Connection, row: RowId): Invitation {
  const invitation = store.findInvitation(connection, row);
  if (!invitation) throw invitationNotFound(row.id);
  return invitation;
}

const summaryOf = ({ email, role, status, expiresAtMs }: Invitation): AuditSummary => ({
  email,
  role,
  status,
  expires_at: toRfc3339(expiresAtMs),
});
