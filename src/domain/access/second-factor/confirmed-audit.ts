// Refuses sensitive changes in browser sessions that were not confirmed recently. Every change is audited in its transaction,
// so a check before the audit entry covers every route and page. An operation with effects before its entry, such as a call to
// the gateway, calls confirmations.ts itself first.
import type { Tx } from "../../../platform/database/database.ts";
import type { Audit, AuditEvents } from "../../audit/service.ts";
import type { Actor } from "../../shared/actor.ts";

type Change = Pick<AuditEvents, "before" | "after">;

const always = (): boolean => true;
const changesRole = ({ before, after }: Change): boolean => before?.role !== after?.role;
const makesAdministrator = ({ after }: Change): boolean => after?.role === "admin";

/** Audit actions of sensitive changes: role changes, key rotations, new tokens or links, and ending logins of selected users. */
const SENSITIVE: Readonly<Record<string, (change: Change) => boolean>> = {
  "bundle_key.create": always,
  "gateway_signing_key.rotate": always,
  "invitation.create": makesAdministrator,
  "invitation.regenerate": makesAdministrator,
  "invitation.resend": makesAdministrator,
  "scim_token.create": always,
  "sealing_key.rotate": always,
  "signing_key.rotate": always,
  "user.create": makesAdministrator,
  "user.password_link": always,
  "user.reset_password": always,
  "user.update": changesRole,
  "users.revoke_logins": always,
  "users.update": changesRole,
};

/**
 * @param require throws unless the actor's session was confirmed recently: see confirmations.ts
 * @returns the audit log, whose functions also throw what `require` throws; the change then rolls back
 */
export function confirmedAudit(audit: Audit, require: (tx: Tx, actor: Actor) => void): Audit {
  const check = (tx: Tx, event: Pick<AuditEvents, "actor" | "action"> & Change): void => {
    if (SENSITIVE[event.action]?.(event)) require(tx, event.actor);
  };
  return {
    recordAll(tx, events) {
      if (events.targets.length > 0) check(tx, events);
      audit.recordAll(tx, events);
    },
    record(tx, event) {
      check(tx, event);
      audit.record(tx, event);
    },
  };
}
