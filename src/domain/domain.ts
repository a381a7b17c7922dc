// Joins database, clock, keys and areas. The only place where parts are put together; every face gets the result.
import type { Blobs } from "../platform/blobs.ts";
import type { Clock } from "../platform/clock.ts";
import type { Db } from "../platform/database.ts";
import type { Ids } from "../platform/ids.ts";
import type { Passwords } from "../platform/passwords.ts";
import type { Sealing } from "../platform/sealing.ts";
import { endLogins } from "./access/end-logins.ts";
import { createInvitationBudget } from "./access/invitation-budget.ts";
import { createAccess } from "./access/service.ts";
import type { AccessSettings, LimitSettings } from "./access/settings.ts";
import { createAudit } from "./audit/service.ts";
import { createCatalog } from "./catalog/service.ts";
import { createIdentity, type IdentitySettings } from "./identity/service.ts";
import { createBranding } from "./system/service.ts";

export interface DomainOptions {
  db: Db;
  clock: Clock;
  ids: Ids;
  blobs: Blobs;
  sealing: Sealing;
  passwords: Passwords;
  settings: { access: AccessSettings; limits: LimitSettings; identity: IdentitySettings };
}

export type Domain = ReturnType<typeof openDomain>;

/** @returns the operations of every area */
export function openDomain({ settings, ...machine }: DomainOptions) {
  const audit = createAudit(machine);
  const shared = { ...machine, audit };
  const { limits } = settings;
  const spendInvitation = createInvitationBudget({ ...machine, limits });
  const identity = createIdentity({ ...shared, endLogins, spendInvitation, settings: settings.identity });
  const access = createAccess({ ...shared, identity, settings: settings.access, limits });
  const branding = createBranding({ ...shared, identity });
  return { identity, access, catalog: createCatalog(shared), branding };
}
