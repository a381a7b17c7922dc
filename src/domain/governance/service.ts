// The policy: what every workstation must follow. Joins the files of the area: reading revisions, publishing them,
// and the deployment file as a second author. What a document may say is checked in document/.
import type { Clock } from "../../platform/clock.ts";
import type { Db } from "../../platform/database.ts";
import type { Ids } from "../../platform/ids.ts";
import type { Audit } from "../audit/service.ts";
import type { Catalog } from "../catalog/service.ts";
import type { Identity } from "../identity/service.ts";
import type { Revision } from "./model.ts";
import { Revisions } from "./revisions.ts";
import type { RevisionSummary } from "./store.ts";

export type { GovernanceConfig, HarnessPolicy, PackageAudiences, Revision } from "./model.ts";
export type { RevisionSummary } from "./store.ts";

export interface GovernanceSettings {
  /** undefined where gateway mode is off */
  gatewayType: "litellm" | undefined;
  /** of this program, as in src/platform/version.ts */
  serverVersion: string;
}

export interface GovernanceDependencies {
  db: Db;
  clock: Clock;
  ids: Ids;
  audit: Audit;
  identity: Identity;
  catalog: Catalog;
  settings: GovernanceSettings;
}

export type Governance = ReturnType<typeof createGovernance>;

/** @returns the operations of the area; made once, in domain.ts */
export function createGovernance(dependencies: GovernanceDependencies) {
  const revisions = new Revisions(dependencies.db);
  return {
    /** @returns the revision in force, the same object as long as it is; nothing before the first start */
    current: (organizationId: string): Revision | undefined => revisions.current(organizationId),

    /** @returns the revision of that id, current or former; kept in memory for the few asked for most recently */
    find: (organizationId: string, id: string): Revision | undefined => revisions.find(organizationId, id),

    /** @throws DomainError `governance.not_found` */
    show: (organizationId: string, id: string): Revision => revisions.show(organizationId, id),

    /** @returns at most REVISIONS_LISTED_MAX without their documents, the one in force first */
    list: (organizationId: string): RevisionSummary[] => revisions.list(organizationId),

    /** @returns the newest revisions whole, the one in force first */
    recent: (organizationId: string, limit: number): Revision[] => revisions.recent(organizationId, limit),
  };
}
