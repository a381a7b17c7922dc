// The dependencies of identity, supplied by domain.ts. Each file of the area takes what it needs from here.
import type { Clock } from "../../platform/clock.ts";
import type { Passwords } from "../../platform/crypto/passwords.ts";
import type { Db, Tx } from "../../platform/database/database.ts";
import type { Ids } from "../../platform/ids.ts";
import type { Audit } from "../audit/service.ts";
import type { Idempotency } from "../idempotency/service.ts";
import type { Actor } from "../shared/actor.ts";
import type { Role } from "./model.ts";

export interface IdentitySettings {
  /** how users sign in; `oidc`: only at the identity provider */
  mode: "password" | "oidc";
  /** whether administrators can invite people; with `oidc`, only if the provider admits invited people */
  invites: boolean;
  /** whether users can sign in at an identity provider */
  readonly hasProvider: boolean;
  /** roles of members of provisioned groups, by group name */
  groupRoleMappings: Readonly<Record<string, Role>>;
}

/** One user or several. */
export type AffectedUsers = { userId: string } | { userIds: readonly string[] };

/** Ends every login of the users, in the transaction of the change that requires it; access provides it. */
export type EndLogins = (tx: Tx, ending: AffectedUsers & { reason: string; nowMs: number }) => void;

/** Why a user lost the gateway key. */
export type KeyLoss = "user_suspended" | "user_removed" | "address_changed";

/** Revokes the gateway key of a user, in the transaction of the change that requires it; gateway provides it. */
type RetireGatewayKey = (tx: Tx, retirement: { userId: string; reason: KeyLoss; nowMs: number }) => void;

/**
 * Counts an actor's invitation or password link, in the transaction that creates it; access provides it.
 * @throws DomainError `access.too_many_attempts`
 */
type SpendLink = (tx: Tx, actor: Actor, kind: "invitation" | "password_link") => void;

/**
 * Clears the count of wrong passwords for an address, in the transaction of the change that requires it; access provides it.
 * @returns how many counters were open
 */
type ForgetGuesses = (tx: Tx, account: { email: string; nowMs: number }) => number;

/** Removes the second factors of a user, in the transaction that removes the user; access provides it. */
type RemoveFactors = (tx: Tx, userId: string) => void;

/**
 * Unlinks a user from every provider and records it, in the transaction that gives the account to another person; sso provides it.
 */
type RemoveIdentities = (tx: Tx, unlinking: { actor: Actor; userId: string }) => void;

export interface IdentityDependencies {
  db: Db;
  clock: Clock;
  ids: Ids;
  audit: Audit;
  passwords: Passwords;
  idempotency: Pick<Idempotency, "once">;
  endLogins: EndLogins;
  retireGatewayKey: RetireGatewayKey;
  spendLink: SpendLink;
  forgetGuesses: ForgetGuesses;
  removeFactors: RemoveFactors;
  removeIdentities: RemoveIdentities;
  /** removes the expected identity of a user at a provider that replaces another */
  removeExpectations(tx: Tx, userId: string): unknown;
  settings: IdentitySettings;
}
