// Dependencies of provisioning, supplied by domain.ts. Each file of the area takes what it needs from here.
import type { Clock } from "../../platform/clock.ts";
import type { Db, Tx } from "../../platform/database/database.ts";
import type { Ids } from "../../platform/ids.ts";
import type { Audit } from "../audit/service.ts";
import type { Role, User } from "../identity/service.ts";
import type { Actor } from "../shared/actor.ts";
import type { ScimSettings } from "./model.ts";

/** How a create led to an account (SCIM-14). */
type Admission = "created" | "linked" | "revived";

/**
 * The accounts of SCIM users, provided by identity. Each function works in the caller's transaction, ends logins as the change
 * requires (SCIM-17) and cancels the invitations of former administrators. The caller writes one audit entry for the resource.
 */
interface ProvisionedAccounts {
  /**
   * Creates the account for an address, or links the local or removed account.
   * @throws DomainError `user.exists` (held by a SCIM account, or linking is off), `user.protected`, `user.last_administrator`
   */
  admit(
    tx: Tx,
    given: { actor: Actor; email: string; active: boolean; mayLink: boolean },
  ): { account: User; admission: Admission; before: User | undefined };
  /** Repeating a value ends no logins. @throws DomainError `user.exists`, `user.protected` for an address in use */
  update(
    tx: Tx,
    given: { actor: Actor; id: string; email: string; active: boolean },
  ): { account: User; before: User };
  /** Removes access and keeps the record. */
  remove(tx: Tx, given: { actor: Actor; id: string }): User;
  /** @returns the ids of accounts whose role changed; only SCIM accounts change, and their logins end */
  setRole(tx: Tx, given: { actor: Actor; userIds: readonly string[]; role: Role }): readonly string[];
  /** @returns the number of active SCIM accounts that cannot sign in */
  countCannotSignIn(organizationId: string): number;
}

/** Called in the transaction of a change with the users whose groups, or group names, changed. */
export type GroupsChanged = (tx: Tx, userIds: readonly string[]) => void;

export interface ScimDependencies {
  db: Db;
  clock: Clock;
  ids: Ids;
  audit: Audit;
  accounts: ProvisionedAccounts;
  /** undefined if no area needs it, so that no list of members is read */
  groupsChanged: GroupsChanged | undefined;
  settings: ScimSettings;
}
