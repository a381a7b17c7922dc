// Checks that the receiver of the audit log accepts the entries.
import type { ForwardingState } from "../../domain/audit/forwarding/forwarding.ts";
import { MINUTE_MS, toRfc3339 } from "../../platform/clock.ts";
import type { Examined } from "../doctor/domain-checks.ts";
import type { Check, Finding } from "../doctor/finding.ts";

/** Entries are sent every ten seconds. An entry that waits longer than this indicates a problem. */
export const FORWARDING_LAG_MS = 15 * MINUTE_MS;

export function checkForwarding(check: Check, { domain, nowMs, isServiceRunning }: Examined): Finding {
  const { auditForwarding } = domain;
  if (!auditForwarding.isOn) return check.ok("the audit log is not sent anywhere");
  return forwardingFinding(check, auditForwarding.state(), { nowMs, isServiceRunning });
}

/** @returns a warning while a failure is recent, because the receiver may just be restarting */
export function forwardingFinding(
  check: Check,
  { lastId, waiting, waitingSinceMs, error }: ForwardingState,
  { nowMs, isServiceRunning }: Pick<Examined, "nowMs" | "isServiceRunning">,
): Finding {
  if (waitingSinceMs === null) return check.ok(`the receiver has every entry, the last is ${lastId}`);
  const detail = `${waiting} entries wait for the receiver since ${toRfc3339(waitingSinceMs)}${error === null ? "" : `: ${error}`}`;
  if (!isServiceRunning) return check.warning(detail, "start the service, which sends them");
  const remedy =
    "check the receiver and audit.forward.*; no entry is lost in the meantime: quartermaster audit forwarding";
  if (nowMs - waitingSinceMs > FORWARDING_LAG_MS) return check.failed(detail, remedy);
  return error === null ? check.ok(detail) : check.warning(detail, remedy);
}
