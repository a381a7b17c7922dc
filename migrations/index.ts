// The ordered list of migrations, imported as text so that the executable carries them.
// Append only: an applied migration is never edited, reordered or removed.
import foundation from "./0001_foundation.sql" with { type: "text" };
import provisioning from "./0002_provisioning.sql" with { type: "text" };
import gateway from "./0003_gateway.sql" with { type: "text" };
import governance from "./0004_governance.sql" with { type: "text" };
import auditLog from "./0005_audit_log.sql" with { type: "text" };
import backups from "./0006_backups.sql" with { type: "text" };
import auditCredential from "./0007_audit_credential.sql" with { type: "text" };
import proxies from "./0008_proxies.sql" with { type: "text" };
import oneSuccessor from "./0009_one_successor.sql" with { type: "text" };
import idempotentAnswers from "./0010_idempotent_answers.sql" with { type: "text" };
import attemptOwner from "./0011_attempt_owner.sql" with { type: "text" };
import auditRetention from "./0012_audit_retention.sql" with { type: "text" };
import erasure from "./0013_erasure.sql" with { type: "text" };
import userCodeIndex from "./0014_user_code_index.sql" with { type: "text" };
import listIndexes from "./0015_list_indexes.sql" with { type: "text" };
import companySignIn from "./0016_company_sign_in.sql" with { type: "text" };
import userRevisions from "./0017_user_revisions.sql" with { type: "text" };
import passwordLinks from "./0018_password_links.sql" with { type: "text" };
import secondFactor from "./0019_second_factor.sql" with { type: "text" };
import expectedIdentities from "./0020_expected_identities.sql" with { type: "text" };
import narrowMemberships from "./0021_narrow_memberships.sql" with { type: "text" };
import modelCatalog from "./0022_model_catalog.sql" with { type: "text" };
import inferenceUsage from "./0023_inference_usage.sql" with { type: "text" };
import usageBatch from "./0024_usage_batch.sql" with { type: "text" };
import capturedSessions from "./0025_captured_sessions.sql" with { type: "text" };
import sessionLists from "./0026_session_lists.sql" with { type: "text" };
import sessionCounts from "./0027_session_counts.sql" with { type: "text" };
import sessionPending from "./0028_session_pending.sql" with { type: "text" };
import sessionSearch from "./0029_session_search.sql" with { type: "text" };
import clientSummaries from "./0030_client_summaries.sql" with { type: "text" };
import brandingLogo from "./0031_branding_logo.sql" with { type: "text" };
import sessionListOrders from "./0032_session_list_orders.sql" with { type: "text" };
import policyDrafts from "./0033_policy_drafts.sql" with { type: "text" };
import clientSearch from "./0034_client_search.sql" with { type: "text" };
import rolloutSamples from "./0035_rollout_samples.sql" with { type: "text" };
import brandingIcon from "./0036_branding_icon.sql" with { type: "text" };
import consoleViews from "./0037_console_views.sql" with { type: "text" };
import clientSearchMerging from "./0038_client_search_merging.sql" with { type: "text" };
import userWorkstations from "./0039_user_workstations.sql" with { type: "text" };
import acknowledgedModels from "./0040_acknowledged_models.sql" with { type: "text" };
import grantHolders from "./0041_grant_holders.sql" with { type: "text" };
import revisionSummary from "./0042_revision_summary.sql" with { type: "text" };
import packageAdditions from "./0043_package_additions.sql" with { type: "text" };
import auditForwarding from "./0044_audit_forwarding.sql" with { type: "text" };
import organizationNumbers from "./0045_organization_numbers.sql" with { type: "text" };
import mirrors from "./0046_mirrors.sql" with { type: "text" };
import sourceWatches from "./0047_source_watches.sql" with { type: "text" };
import draftChanges from "./0048_draft_changes.sql" with { type: "text" };
import countedUsers from "./0049_counted_users.sql" with { type: "text" };
import sourceAnnouncements from "./0050_source_announcements.sql" with { type: "text" };
import draftVersions from "./0051_draft_versions.sql" with { type: "text" };
import sessionIndexes from "./0052_session_indexes.sql" with { type: "text" };
import userSearch from "./0053_user_search.sql" with { type: "text" };
import sessionArtifacts from "./0054_session_artifacts.sql" with { type: "text" };
import sessionTexts from "./0055_session_texts.sql" with { type: "text" };
import differingClients from "./0056_differing_clients.sql" with { type: "text" };

export interface Migration {
  /** 1, 2, 3 …: the schema number after the migration */
  id: number;
  name: string;
  sql: string;
}

export const migrations: readonly Migration[] = [
  { id: 1, name: "foundation", sql: foundation },
  { id: 2, name: "provisioning", sql: provisioning },
  { id: 3, name: "gateway", sql: gateway },
  { id: 4, name: "governance", sql: governance },
  { id: 5, name: "audit_log", sql: auditLog },
  { id: 6, name: "backups", sql: backups },
  { id: 7, name: "audit_credential", sql: auditCredential },
  { id: 8, name: "proxies", sql: proxies },
  { id: 9, name: "one_successor", sql: oneSuccessor },
  { id: 10, name: "idempotent_answers", sql: idempotentAnswers },
  { id: 11, name: "attempt_owner", sql: attemptOwner },
  { id: 12, name: "audit_retention", sql: auditRetention },
  { id: 13, name: "erasure", sql: erasure },
  { id: 14, name: "user_code_index", sql: userCodeIndex },
  { id: 15, name: "list_indexes", sql: listIndexes },
  { id: 16, name: "company_sign_in", sql: companySignIn },
  { id: 17, name: "user_revisions", sql: userRevisions },
  { id: 18, name: "password_links", sql: passwordLinks },
  { id: 19, name: "second_factor", sql: secondFactor },
  { id: 20, name: "expected_identities", sql: expectedIdentities },
  { id: 21, name: "narrow_memberships", sql: narrowMemberships },
  { id: 22, name: "model_catalog", sql: modelCatalog },
  { id: 23, name: "inference_usage", sql: inferenceUsage },
  { id: 24, name: "usage_batch", sql: usageBatch },
  { id: 25, name: "captured_sessions", sql: capturedSessions },
  { id: 26, name: "session_lists", sql: sessionLists },
  { id: 27, name: "session_counts", sql: sessionCounts },
  { id: 28, name: "session_pending", sql: sessionPending },
  { id: 29, name: "session_search", sql: sessionSearch },
  { id: 30, name: "client_summaries", sql: clientSummaries },
  { id: 31, name: "branding_logo", sql: brandingLogo },
  { id: 32, name: "session_list_orders", sql: sessionListOrders },
  { id: 33, name: "policy_drafts", sql: policyDrafts },
  { id: 34, name: "client_search", sql: clientSearch },
  { id: 35, name: "rollout_samples", sql: rolloutSamples },
  { id: 36, name: "branding_icon", sql: brandingIcon },
  { id: 37, name: "console_views", sql: consoleViews },
  { id: 38, name: "client_search_merging", sql: clientSearchMerging },
  { id: 39, name: "user_workstations", sql: userWorkstations },
  { id: 40, name: "acknowledged_models", sql: acknowledgedModels },
  { id: 41, name: "grant_holders", sql: grantHolders },
  { id: 42, name: "revision_summary", sql: revisionSummary },
  { id: 43, name: "package_additions", sql: packageAdditions },
  { id: 44, name: "audit_forwarding", sql: auditForwarding },
  { id: 45, name: "organization_numbers", sql: organizationNumbers },
  { id: 46, name: "mirrors", sql: mirrors },
  { id: 47, name: "source_watches", sql: sourceWatches },
  { id: 48, name: "draft_changes", sql: draftChanges },
  { id: 49, name: "counted_users", sql: countedUsers },
  { id: 50, name: "source_announcements", sql: sourceAnnouncements },
  { id: 51, name: "draft_versions", sql: draftVersions },
  { id: 52, name: "session_indexes", sql: sessionIndexes },
  { id: 53, name: "user_search", sql: userSearch },
  { id: 54, name: "session_artifacts", sql: sessionArtifacts },
  { id: 55, name: "session_texts", sql: sessionTexts },
  { id: 56, name: "differing_clients", sql: differingClients },
];
