// The policy: what every workstation must follow. Joins the files of the area: reading revisions, publishing them, and
// the deployment file as a second author. What a document may say is checked in document/.

import type { Problem } from "../../platform/errors.ts";
import type { Actor } from "../shared/actor.ts";
import { uploadWarningsOf } from "./delivery/upload-address.ts";
import type { GovernanceDependencies } from "./dependencies.ts";
import { DraftPublishing } from "./drafts/draft-publishing.ts";
import { Drafts } from "./drafts/drafts.ts";
import type { Revision } from "./model.ts";
import { Deployments } from "./publishing/deployment.ts";
import { Documents } from "./publishing/documents.ts";
import { Publisher } from "./publishing/publisher.ts";
import { Publishing } from "./publishing/publishing.ts";
import {
  type Explanation,
  explain,
  type PolicySummary,
  type Question,
  summarize,
} from "./reading/explain.ts";
import { Revisions } from "./reading/revisions.ts";
import { Views } from "./reading/views.ts";

export type { GovernanceSettings } from "./dependencies.ts";
export { defaultModelOf, deliversModels, modelsOf } from "./document/model-lists.ts";
export type { Draft } from "./drafts/draft-model.ts";
export type { Review } from "./drafts/draft-publishing.ts";
export type {
  GovernanceConfig,
  HarnessPolicy,
  PackageAudience,
  PackageAudiences,
  Revision,
} from "./model.ts";
export type { DeploymentOutcome, DeploymentSection } from "./publishing/deployment.ts";
export type { Change } from "./publishing/diff.ts";
export type { DocumentPlan, DocumentSource } from "./publishing/documents.ts";
export { readHarnessKey } from "./publishing/publications.ts";
export type { Explanation, PolicySummary } from "./reading/explain.ts";
export type { Configuration } from "./reading/export.ts";
export type { RevisionSummary } from "./store.ts";
export { type RunTask, runAtOnce } from "./tasks.ts";

export type Governance = ReturnType<typeof createGovernance>;

/** @returns the operations of the area; made once, in domain.ts */
export function createGovernance(dependencies: GovernanceDependencies) {
  const revisions = new Revisions(dependencies.db);
  const publisher = new Publisher({ ...dependencies, revisions });
  const parts = { ...dependencies, revisions, publisher };
  const drafts = new Drafts(parts);
  return {
    revisions,
    publishing: new Publishing(parts),
    documents: new Documents(parts),
    deployments: new Deployments(parts),
    views: new Views(parts),
    drafts,
    draftPublishing: new DraftPublishing(parts, drafts),

    /** @returns why workstations cannot hand in captured sessions under that policy, although it asks for them */
    uploadWarnings: ({ document }: Pick<Revision, "document">): readonly Problem[] =>
      uploadWarningsOf(document, dependencies.settings.presignUrl()),

    /**
     * @returns what the policy in force means for a user on a harness
     * @throws DomainError `governance.no_policy`, `governance.unknown_harness`, `governance.bad_version`
     */
    explain({ organizationId }: Pick<Actor, "organizationId">, question: Question): Explanation {
      return explain(revisions.inForce(organizationId), question, () => dependencies.harnesses.harnesses());
    },

    /** @returns what the policy in force means for a user, in a few figures; undefined before the first revision */
    summarize(organizationId: string, userId: string): PolicySummary | undefined {
      const current = revisions.current(organizationId);
      return current && summarize(current, userId);
    },
  };
}
