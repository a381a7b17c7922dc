// What the running service shows of itself to whoever supervises it (operator-experience.md SVC-2 and SVC-3). When it is asked,
// and what is made of it, is supervision.ts's.

import type { Scheduler } from "../../platform/scheduler/scheduler.ts";
import { VERSION } from "../../platform/version.ts";
import type { Installation } from "../installation/installation.ts";
import type { Liveness } from "./supervision.ts";

/** @returns what tells whether the service works, asked of the database and the scheduler themselves */
export function livenessOf(
  { db, domain: { identity, governance, clients }, schema }: Installation,
  scheduler: Pick<Scheduler, "lastBeatMs">,
): Liveness {
  const figures = () => {
    const organization = identity.organization();
    if (!organization) return "no organization";
    const { current, outdated, attention } = clients.inventory.counts(organization.id);
    const revision = governance.current(organization.id)?.sequence ?? "none";
    return `policy revision ${revision}, ${current + outdated + attention} clients`;
  };
  return {
    readDatabase: () => void identity.findOrganization(db.read),
    beatMs: () => scheduler.lastBeatMs(),
    statusLine: () => `version ${VERSION}, schema ${schema.to}, ${figures()}`,
  };
}
