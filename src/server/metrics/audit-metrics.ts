// Metrics counted from the audit log, so that they include what the CLI did: entries by action, and outcomes of device
// logins. They start at zero with the process.
import { AUDIT_ACTIONS } from "../../domain/audit/actions.ts";
import type { AuditLog } from "../../domain/audit/log.ts";
import type { Metrics } from "../../platform/observe/metrics.ts";

/** Outcome by audit action. Expiry has no audit entry. */
const LOGIN_OUTCOMES: Readonly<Record<string, string>> = {
  "device_login.approve": "approved",
  "device_login.refuse": "refused",
  "device_login.revoke": "revoked",
  "grant.create": "redeemed",
};
const EXPIRED = "expired";

/** @returns a function that counts the device logins that the sweep found expired */
export function addAuditFigures(metrics: Metrics, log: Pick<AuditLog, "lastId" | "countsAfter">) {
  const entries = metrics.counter("audit_entries_total", "Entries of the audit log by action", {
    labels: { action: AUDIT_ACTIONS },
  });
  const logins = metrics.counter(
    "device_logins_total",
    "Device logins by what became of them; an approved one is redeemed or expires later",
    { labels: { outcome: [...Object.values(LOGIN_OUTCOMES), EXPIRED] } },
  );
  let seen = log.lastId();
  metrics.beforeRender(() => {
    const { counts, lastId } = log.countsAfter(seen);
    seen = lastId;
    for (const [action, total] of counts) {
      entries.labels(action).inc(total);
      const outcome = LOGIN_OUTCOMES[action];
      if (outcome !== undefined) logins.labels(outcome).inc(total);
    }
  });
  const expired = logins.labels(EXPIRED);
  return { deviceLoginsExpired: (total: number) => expired.inc(total) };
}
