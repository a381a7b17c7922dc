// The policy: what every workstation must follow. Joins the files of the area: reading revisions, publishing them, and
// the deployment file as a second author. What a document may say is checked in document/.

import type { Connection } from "../../platform/database/database.ts";
import { DomainError } from "../../platform/errors.ts";
import { quoted } from "../../platform/text/problem-list.ts";
import type { Actor } from "../shared/actor.ts";
import { parseVersion } from "../shared/exact-version.ts";
import type { GovernanceDependencies } from "./dependencies.ts";
import type { Revision } from "./model.ts";
import { Deployments } from "./publishing/deployment.ts";
import { type Change, diffRevisions } from "./publishing/diff.ts";
import { Documents } from "./publishing/documents.ts";
import { readHarnessKey } from "./publishing/publications.ts";
import { Publisher } from "./publishing/publisher.ts";
import { Publishing } from "./publishing/publishing.ts";
import { type Explanation, explain } from "./reading/explain.ts";
import { Revisions } from "./reading/revisions.ts";
import { Views } from "./reading/views.ts";
import type { RevisionSummary } from "./store.ts";

export type { GovernanceDependencies, GovernanceSettings } from "./dependencies.ts";
export type { GovernanceConfig, HarnessPolicy, PackageAudiences, Revision } from "./model.ts";
export type { ReadVariable } from "./publishing/authored-document.ts";
export type { DeploymentOutcome, DeploymentSection } from "./publishing/deployment.ts";
export type { Change } from "./publishing/diff.ts";
export type { DocumentPlan, DocumentSource } from "./publishing/documents.ts";
export { readHarnessKey } from "./publishing/publications.ts";
export { toAdminConfig } from "./reading/admin-view.ts";
export type { Explanation } from "./reading/explain.ts";
export type { Configuration } from "./reading/export.ts";
export type { RevisionSummary } from "./store.ts";
export { type RunTask, runAtOnce } from "./tasks.ts";

export type Governance = ReturnType<typeof createGovernance>;

/** @returns the operations of the area; made once, in domain.ts */
export function createGovernance(dependencies: GovernanceDependencies) {
  const revisions = new Revisions(dependencies.db);
  const publisher = new Publisher({ ...dependencies, revisions });
  const parts = { ...dependencies, revisions, publisher };
  return {
    /** @returns the revision in force, the same object as long as it is; nothing before the first start */
    current: (organizationId: string): Revision | undefined => revisions.current(organizationId),

    /** @returns the packages that the policy in force names, as `connection` sees it, each with the revision's number */
    packagesInUse: (connection: Connection, organizationId: string): Map<string, number> =>
      revisions.packagesInUse(connection, organizationId),

    /** @throws DomainError `governance.no_policy` */
    inForce: (organizationId: string): Revision => revisions.inForce(organizationId),

    /** @returns the revision of that id, current or former; kept in memory for the few asked for most recently */
    find: (organizationId: string, id: string): Revision | undefined => revisions.find(organizationId, id),

    /** @throws DomainError `governance.not_found` */
    show: (organizationId: string, id: string): Revision => revisions.show(organizationId, id),

    /**
     * @param reference an id, or the number of a revision
     * @throws DomainError `governance.not_found`
     */
    named: (organizationId: string, reference: string): Revision =>
      revisions.named(organizationId, reference),

    /** @returns at most REVISIONS_LISTED_MAX without their documents, the one in force first */
    list: (organizationId: string): RevisionSummary[] => revisions.list(organizationId),

    /** @returns the newest revisions whole, the one in force first */
    recent: (organizationId: string, limit: number): Revision[] => revisions.recent(organizationId, limit),

    /** @returns every place where one says something else than the other */
    diff: (before: Revision, after: Revision): Change[] => diffRevisions(before, after),

    publishing: new Publishing(parts),
    documents: new Documents(parts),
    deployments: new Deployments(parts),
    views: new Views(parts),

    /**
     * @returns what the policy in force means for a user on a harness
     * @throws DomainError `governance.no_policy`, `governance.unknown_harness`, `governance.bad_version`
     */
    explain(
      { organizationId }: Pick<Actor, "organizationId">,
      { userId, harness, version }: { userId: string; harness: string; version?: string | undefined },
    ): Explanation {
      const key = readHarnessKey(harness);
      if (version !== undefined && !parseVersion(version)) throw badVersion(version);
      const question = { userId, harness: key, version };
      return explain(revisions.inForce(organizationId), question, () => dependencies.harnesses.harnesses());
    },
  };
}

const badVersion = (version: string) =>
  new DomainError("invalid", "governance.bad_version", `${quoted(version)} is no version such as 1.2.3`);
