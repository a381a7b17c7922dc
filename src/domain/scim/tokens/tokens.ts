// The tokens of identity providers: one in the configuration, and any number that the operator creates, lists and revokes.
// token-check.ts authenticates them.
import { toRfc3339 } from "../../../platform/clock.ts";
import type { Connection, Tx } from "../../../platform/database/database.ts";
import { DomainError } from "../../../platform/errors.ts";
import { type Ids, randomToken, sha256Hex } from "../../../platform/ids.ts";
import { Secret } from "../../../platform/secret.ts";
import { quoted } from "../../../platform/text/problem-list.ts";
import type { Audit } from "../../audit/service.ts";
import type { Idempotency, ResponseForm } from "../../idempotency/service.ts";
import type { Actor } from "../../shared/actor.ts";
import type { TokenRow } from "../tables.ts";
import { TokenCheck, type TokenCheckDependencies } from "./token-check.ts";
import {
  type CheckedToken,
  CONFIGURED,
  configuredView,
  type NewScimToken,
  readNewToken,
  type ScimTokenView,
  TOKEN_BYTES,
  TOKEN_MARK,
  VISIBLE_LENGTH,
  viewOf,
} from "./token-model.ts";
import * as store from "./tokens-store.ts";

export type { NewScimToken, ScimTokenView } from "./token-model.ts";

export interface ScimTokensDependencies extends TokenCheckDependencies {
  ids: Ids;
  audit: Audit;
  idempotency: Pick<Idempotency, "once">;
}

/** A new token, whose plain text is not stored, and its shown parts. */
export interface CreatedScimToken {
  token: Secret;
  view: ScimTokenView;
}

const CREATED_FORM: ResponseForm<CreatedScimToken> = {
  write: ({ token, view }) => JSON.stringify({ token: token.reveal(), view }),
  read(text) {
    const { token, view }: { token: string; view: ScimTokenView } = JSON.parse(text);
    return { token: new Secret(token), view };
  },
};

/** The tokens of this data directory, and the operator's actions on them; created once, in service.ts. */
export class ScimTokens {
  readonly check: TokenCheck;

  constructor(private readonly dependencies: ScimTokensDependencies) {
    this.check = new TokenCheck(dependencies);
  }

  /** @returns whether any token is valid */
  hasActive(): boolean {
    const { db, clock } = this.dependencies;
    return this.check.isConfigured || store.hasLive(db.read, clock.nowMs());
  }

  /**
   * Creates a token.
   * @throws DomainError `scim_token.invalid`, `scim_token.label_taken`, those of Idempotency.once
   */
  async create(actor: Actor, newToken: NewScimToken): Promise<CreatedScimToken> {
    const { db, clock, idempotency } = this.dependencies;
    const input = readNewToken(newToken, clock.nowMs());
    const { idempotencyKey: key, ...request } = newToken;
    const once = { key, request: ["scim_token", request], form: CREATED_FORM };
    const create = (tx: Tx) => this.#insert(tx, actor, input);
    return await db.write(
      (tx) => idempotency.once(tx, actor, { ...once, create: () => create(tx) }),
      "unobserved",
    );
  }

  #insert(tx: Tx, actor: Actor, { label, profile, expiresAtMs }: CheckedToken): CreatedScimToken {
    const { clock, ids, audit } = this.dependencies;
    const { organizationId, label: createdBy } = actor;
    if (store.find(tx, organizationId, label)?.revokedAtMs === null) throw labelTaken(label);
    const [id, nowMs] = [ids.uuid(), clock.nowMs()];
    const expires_at = expiresAtMs === null ? null : toRfc3339(expiresAtMs);
    audit.record(tx, {
      actor,
      action: "scim_token.create",
      target: id,
      after: { label, profile, expires_at },
    });
    const token = `${TOKEN_MARK}${randomToken(ids, TOKEN_BYTES)}`;
    const kept = { tokenHash: sha256Hex(token), prefix: token.slice(0, VISIBLE_LENGTH) };
    const row = { id, organizationId, label, profile, createdBy, createdAtMs: nowMs, expiresAtMs, ...kept };
    return { token: new Secret(token), view: viewOf(store.add(tx, row), nowMs) };
  }

  /** @returns the configured token, then the created ones, newest first, including revoked ones */
  list(organizationId: string): ScimTokenView[] {
    const { db, clock } = this.dependencies;
    const made = store.list(db.read, organizationId).map((row) => viewOf(row, clock.nowMs()));
    const row = store.findConfigured(db.read);
    const { isConfigured } = this.check;
    return isConfigured || row ? [configuredView(row, isConfigured), ...made] : made;
  }

  /**
   * Revokes a token, which takes effect with the next request.
   * @param reference id or label
   * @returns the resulting token; unchanged if it was already revoked
   * @throws DomainError `scim_token.not_found`, `scim_token.configured`
   */
  revoke(actor: Actor, reference: string): Promise<{ changed: boolean; token: ScimTokenView }> {
    const { db, clock, audit } = this.dependencies;
    return db.write((tx) => {
      const row = revocable(tx, actor, reference);
      const nowMs = clock.nowMs();
      if (row.revokedAtMs !== null) return { changed: false, token: viewOf(row, nowMs) };
      const before = { label: row.label, profile: row.profile };
      audit.record(tx, { actor, action: "scim_token.revoke", target: row.id, before });
      return { changed: true, token: viewOf(store.revoke(tx, row.id, nowMs), nowMs) };
    }, "unobserved");
  }

  /** Throws the errors of `revoke` without changing anything. @returns the current token */
  checkRevoke(actor: Actor, reference: string): ScimTokenView {
    const { db, clock } = this.dependencies;
    return viewOf(revocable(db.read, actor, reference), clock.nowMs());
  }
}

function revocable(connection: Connection, { organizationId }: Actor, reference: string): TokenRow {
  if (reference === CONFIGURED) throw definedInConfiguration();
  const row = store.find(connection, organizationId, reference);
  if (!row) throw tokenNotFound(reference);
  return row;
}

const tokenNotFound = (reference: string): DomainError =>
  new DomainError("not_found", "scim_token.not_found", `no SCIM token ${quoted(reference)}`, {
    hint: "see `quartermaster scim tokens list`",
    missing: { kind: "token", name: reference },
  });

const labelTaken = (label: string): DomainError =>
  new DomainError("conflict", "scim_token.label_taken", `the SCIM token ${label} already exists`, {
    hint: "choose another label, or revoke that token first",
  });

const definedInConfiguration = (): DomainError =>
  new DomainError("conflict", "scim_token.configured", "this token is part of the configuration", {
    hint: "remove scim.token from the configuration and restart the service",
  });
