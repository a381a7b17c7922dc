// What provisioning is given when domain.ts joins the parts. Each file of the area takes what it needs from here.
import type { Clock } from "../../platform/clock.ts";
import type { Db, Tx } from "../../platform/database/database.ts";
import type { Ids } from "../../platform/ids.ts";
import type { Audit } from "../audit/service.ts";
import type { Role, User } from "../identity/service.ts";
import type { Actor } from "../shared/actor.ts";
import type { ScimSettings } from "./model.ts";

/** How a person came in by a create (SCIM-14). */
export type Admission = "created" | "linked" | "revived";

/**
 * The accounts behind SCIM users; identity provides it. Each function works in the caller's transaction, ends the logins
 * that the change ends (SCIM-17) and cancels the invitations of whoever is no administrator any more. The audit entry
 * of the change is one for the resource, and the caller's.
 */
export interface ProvisionedAccounts {
  /**
   * Makes the account of an address, or takes over the local or removed one.
   * @throws DomainError `user.exists` (held by a SCIM account, or linking is off), `user.protected`,
   *   `user.last_administrator`
   */
  admit(
    tx: Tx,
    given: { actor: Actor; email: string; active: boolean; mayLink: boolean },
  ): { account: User; admission: Admission; before: User | undefined };
  /** Repeating a value ends nothing. @throws DomainError `user.exists`, `user.protected` for an address in use */
  update(
    tx: Tx,
    given: { actor: Actor; id: string; email: string; active: boolean },
  ): { account: User; before: User };
  /** Takes access away and keeps the record. */
  remove(tx: Tx, given: { actor: Actor; id: string }): User;
  /** @returns the ids of those whose role this changed: SCIM accounts only, whose logins end */
  setRole(tx: Tx, given: { actor: Actor; userIds: readonly string[]; role: Role }): readonly string[];
}

/** Told in the transaction of the change whose groups, or whose groups' names, are not what they were. */
export type GroupsChanged = (tx: Tx, userIds: readonly string[]) => void;

export interface ScimDependencies {
  db: Db;
  clock: Clock;
  ids: Ids;
  audit: Audit;
  accounts: ProvisionedAccounts;
  /** undefined where nobody wants to know: then no list of members is read for it */
  groupsChanged: GroupsChanged | undefined;
  settings: ScimSettings;
}
