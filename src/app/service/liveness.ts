// Tells a service manager whether the running service works. supervision.ts decides when to check and what to report.

import type { Scheduler } from "../../platform/scheduler/scheduler.ts";
import { VERSION } from "../../platform/version.ts";
import type { Installation } from "../installation/installation.ts";
import type { Liveness } from "./supervision.ts";

/** @returns the probes of the database and the scheduler */
export function livenessOf(
  { db, domain: { identity, governance, clients }, schema }: Installation,
  scheduler: Pick<Scheduler, "lastBeatMs">,
): Liveness {
  const figures = () => {
    const organization = identity.organization();
    if (!organization) return "no organization";
    const revision = governance.revisions.current(organization.id)?.sequence ?? "none";
    return `policy revision ${revision}, ${clients.inventory.total(organization.id)} clients`;
  };
  return {
    readDatabase: () => void identity.findOrganization(db.read),
    beatMs: () => scheduler.lastBeatMs(),
    statusLine: () => `version ${VERSION}, schema ${schema.to}, ${figures()}`,
  };
}
