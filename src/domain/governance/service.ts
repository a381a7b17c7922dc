// The policy that every workstation must follow. Joins the files of the area: reading revisions, publishing them, and the
// deployment file as a second author. document/ has the rules of documents.

import type { Problem } from "../../platform/errors.ts";
import type { Steps } from "../../platform/steps.ts";
import type { Actor } from "../shared/actor.ts";
import { hiddenPackages, personOf } from "./delivery/audiences.ts";
import { uploadWarningsOf } from "./delivery/upload-address.ts";
import type { GovernanceDependencies } from "./dependencies.ts";
import { Deployments } from "./deployment/deployment.ts";
import { FileConflictSettling } from "./deployment/file-conflicts.ts";
import { DraftPublishing } from "./drafts/draft-publishing.ts";
import { Drafts } from "./drafts/drafts.ts";
import type { Revision } from "./model.ts";
import { PolicyPreviews } from "./previews/policy-previews.ts";
import { Documents } from "./publishing/documents.ts";
import { Publisher } from "./publishing/publisher.ts";
import { Publishing } from "./publishing/publishing.ts";
import {
  assertQuestion,
  type Explanation,
  explain,
  type PolicySummary,
  type Question,
  summarize,
} from "./reading/explain.ts";
import { type PackageChange, packageHistory } from "./reading/package-history.ts";
import { PolicyLines } from "./reading/policy-lines.ts";
import { Revisions } from "./reading/revisions.ts";
import { Views } from "./reading/views.ts";

export { artifactProblems } from "./delivery/artifacts.ts";
export { membershipIn, type Person, personOf } from "./delivery/audiences.ts";
export type { GovernanceSettings } from "./dependencies.ts";
export { type DeploymentOutcome, type DeploymentSection, readSection } from "./deployment/deployment.ts";
export type { ShownConflicts } from "./deployment/file-values.ts";
export { FLAG_SETTINGS, KNOWN_SETTINGS } from "./document/harness-policy.ts";
export { defaultModelOf, deliversModels, modelsOf } from "./document/model-lists.ts";
export { POLICY_TEXT, SETTINGS_TEXT } from "./document/text-schema.ts";
export { notWritten, USED_ELSEWHERE } from "./drafts/draft-errors.ts";
export type { Decision, Undecided } from "./drafts/draft-merge.ts";
export {
  brokenTexts,
  COMMENTS_LOST,
  type Draft,
  type HarnessInput,
  LAST_VALID_TEXT,
  mayHaveComments,
  type StatedVersion,
  type TextName,
  typedProblems,
} from "./drafts/draft-model.ts";
export type { DraftMerge, Review } from "./drafts/draft-publishing.ts";
export type { DraftSummary } from "./drafts/draft-store.ts";
export { discardText } from "./drafts/texts/discarded-text.ts";
export type {
  GovernanceConfig,
  HarnessPolicy,
  PackageAudience,
  PackageAudiences,
  Revision,
} from "./model.ts";
export type { Change } from "./publishing/diff.ts";
export type { DocumentPlan, DocumentSource } from "./publishing/documents.ts";
export {
  changedLists,
  findServer,
  harnessesWithName,
  type PlacedServer,
  serverProblems,
  serversIn,
  serversNamed,
} from "./publishing/mcp-lists.ts";
export { readHarnessKey } from "./publishing/publications.ts";
export { documentText } from "./publishing/validated.ts";
export { matchingOffers, pageOfOffers } from "./reading/catalog-list.ts";
export { type CatalogView, catalogViews } from "./reading/catalog-views.ts";
export type { Explanation, PolicySummary } from "./reading/explain.ts";
export type { Configuration } from "./reading/export.ts";
export type { PackageChange } from "./reading/package-history.ts";
export { matchingPackages, pageOfPackages } from "./reading/package-list.ts";
export {
  type PackageView,
  packageView,
  packageViews,
} from "./reading/package-views.ts";
export { likelySecretsIn } from "./secrets/likely-secrets.ts";
export {
  type AudienceIds,
  type ChangeList,
  changesIn,
  isWithoutChanges,
  type ListedChange,
} from "./shown/change-list.ts";
export type { Place, ShownPlaces } from "./shown/shown-values.ts";
export type { RevisionSummary } from "./store.ts";
export { type RunTask, runAtOnce } from "./tasks.ts";

export type Governance = ReturnType<typeof createGovernance>;

/** @returns the operations of the area; called once, in domain.ts */
export function createGovernance(dependencies: GovernanceDependencies) {
  const revisions = new Revisions(dependencies.db);
  const publisher = new Publisher({ ...dependencies, revisions });
  const parts = { ...dependencies, revisions, publisher };
  const { userGroups } = dependencies;
  const drafts = new Drafts(parts);
  const policyLines = new PolicyLines((document) => dependencies.runTask("policyLines", { document }));
  const explainer = async (
    { organizationId }: Pick<Actor, "organizationId">,
    revision = revisions.inForce(organizationId),
  ): Promise<(question: Question) => Explanation> => {
    const lines = await policyLines.of(revision);
    const harnesses = () => dependencies.harnesses.harnesses();
    return (question) => explain(revision, question, { lines, harnesses, userGroups });
  };
  return {
    revisions,
    publishing: new Publishing(parts),
    documents: new Documents(parts),
    deployments: new Deployments(parts),
    fileConflicts: new FileConflictSettling(parts),
    views: new Views(parts),
    drafts,
    draftPublishing: new DraftPublishing(parts, drafts),
    previews: new PolicyPreviews(parts, drafts),

    /** @returns the revisions that changed the package, newest first */
    packageHistory: (organizationId: string, id: string): Steps<PackageChange[]> =>
      packageHistory(dependencies.db, organizationId, id),

    /** @returns why workstations cannot upload captured sessions under that policy, although it requires them */
    uploadWarnings: ({ document }: Pick<Revision, "document">): readonly Problem[] =>
      uploadWarningsOf(document, dependencies.settings.presignUrl()),

    /**
     * @param revision default: the current one
     * @returns the effect of the revision on a user of a harness
     * @throws DomainError `governance.no_policy`, `governance.unknown_harness`, `governance.bad_version`
     */
    async explain(
      actor: Pick<Actor, "organizationId">,
      question: Question,
      revision?: Revision,
    ): Promise<Explanation> {
      assertQuestion(question);
      return (await explainer(actor, revision))(question);
    },

    /** The same for many explanations. @returns a function with the errors of `explain` */
    explainer,

    /** @returns a summary of the current policy's effect on a user; undefined before the first revision */
    summarize(organizationId: string, userId: string): PolicySummary | undefined {
      const current = revisions.current(organizationId);
      return current && summarize(current, userId, userGroups);
    },

    /** @returns ids of the packages that the user does not get, in the order of the document */
    hiddenFrom: (userId: string, revision: Pick<Revision, "document" | "audiences">): string[] =>
      hiddenPackages(revision, personOf(userId, userGroups)),
  };
}
