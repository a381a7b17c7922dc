// Summaries of users for the audit log, and the attributes that a change touched.
import { isDeepStrictEqual } from "node:util";
import type { AuditSummary } from "../../audit/service.ts";
import type { User } from "../../identity/service.ts";
import type { ScimObject } from "../model.ts";
import { shownDoc } from "./emails.ts";

/** The user as the provider names it, with its account. */
export const userSummary = ({ userName, externalId, active }: ScimObject, account: User): AuditSummary => ({
  user_name: typeof userName === "string" ? userName : null,
  external_id: typeof externalId === "string" ? externalId : null,
  active: active === true,
  email: account.email,
  role: account.role,
});

/** An account before it was linked (SCIM-15). */
export const accountSummary = ({ email, role, status, provisioningSource }: User): AuditSummary => ({
  email,
  role,
  status,
  provisioning_source: provisioningSource,
});

/** @returns the names of the attributes and extensions whose shown value differs; the order of parts does not count */
export function changedNames(before: ScimObject, after: ScimObject): string[] {
  const [old, now] = [shownDoc(before), shownDoc(after)];
  const names = new Set([...Object.keys(old), ...Object.keys(now)]);
  return [...names].filter((name) => !isDeepStrictEqual(old[name], now[name]));
}
