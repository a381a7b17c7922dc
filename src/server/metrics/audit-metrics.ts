// Metrics from the audit log, so that they include changes by the CLI: entries by action, and outcomes of device
// logins. They start at zero with the process.
import { Counter, type Registry } from "prom-client";
import { AUDIT_ACTIONS } from "../../domain/audit/actions.ts";
import type { AuditLog } from "../../domain/audit/log.ts";

/** Outcome by audit action. Expiry has no audit entry. */
const LOGIN_OUTCOMES: Readonly<Record<string, string>> = {
  "device_login.approve": "approved",
  "device_login.refuse": "refused",
  "device_login.revoke": "revoked",
  "grant.create": "redeemed",
};
const EXPIRED = "expired";

/** @returns a function that counts the device logins that the sweep found expired */
export function addAuditMetrics(metrics: Registry, log: Pick<AuditLog, "lastId" | "countsAfter">) {
  let seen = log.lastId();
  const entries = new Counter({
    name: "quartermaster_audit_entries_total",
    help: "Entries of the audit log by action",
    labelNames: ["action"],
    registers: [metrics],
    collect() {
      const { counts, lastId } = log.countsAfter(seen);
      seen = lastId;
      for (const [action, total] of counts) {
        this.inc({ action }, total);
        const outcome = LOGIN_OUTCOMES[action];
        if (outcome !== undefined) logins.inc({ outcome }, total); // collected after this metric
      }
    },
  });
  const logins = new Counter({
    name: "quartermaster_device_logins_total",
    help: "Device logins by outcome; an approved one is redeemed or expires later",
    labelNames: ["outcome"],
    registers: [metrics],
  });
  for (const action of AUDIT_ACTIONS) entries.inc({ action }, 0);
  for (const outcome of [...Object.values(LOGIN_OUTCOMES), EXPIRED]) logins.inc({ outcome }, 0);
  return { deviceLoginsExpired: (total: number) => logins.inc({ outcome: EXPIRED }, total) };
}
