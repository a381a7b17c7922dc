// All routes of the server but the console's, which lazy-console.ts loads. They are listed by hand because a compiled executable has no folders to scan.
import { createBrowser } from "../auth/browser.ts";
import { createGuard } from "../auth/guard.ts";
import { canReadMetrics } from "../auth/metrics-access.ts";
import { admitProxy } from "../auth/proxy-access.ts";
import { TokenVerificationLimit } from "../auth/token-verification-limit.ts";
import { createVerificationMetrics } from "../metrics/token-metrics.ts";
import type { DocumentedRoute } from "../openapi.ts";
import type { RouteContext, RouteOptions } from "../router.ts";
import type { Admission } from "../scim/admission.ts";
import { deviceRoutes } from "./access/device.ts";
import { discoveryRoutes } from "./access/discovery.ts";
import { adminLoginRoutes, ownLoginRoutes } from "./access/logins.ts";
import { meRoutes } from "./access/me.ts";
import { oauthRoutes } from "./access/oauth.ts";
import { providerLogoutRoutes } from "./access/provider-logout.ts";
import { sessionRoutes } from "./access/session.ts";
import { unsupportedRoutes } from "./access/unsupported-routes.ts";
import { auditRoutes } from "./administration/audit.ts";
import { adminGatewayKeyRoutes } from "./administration/gateway-keys.ts";
import { gatewayKeyBulkRoutes } from "./administration/gateway-keys-bulk.ts";
import { installationRoutes } from "./administration/installation.ts";
import { jobRoutes } from "./administration/jobs.ts";
import { serviceKeyRoutes } from "./administration/keys.ts";
import { overviewRoutes } from "./administration/overview.ts";
import { searchRoutes } from "./administration/search.ts";
import { brandingRoutes } from "./branding.ts";
import { brandingImageRoutes } from "./branding-images.ts";
import { catalogRoutes } from "./catalog/catalog.ts";
import { catalogImportRoutes } from "./catalog/catalog-import.ts";
import { packageSourceRoutes } from "./catalog/package-sources.ts";
import { sourceWebhookRoutes } from "./catalog/source-webhooks.ts";
import { clientRoutes } from "./clients.ts";
import { clientBulkRoutes } from "./clients-bulk.ts";
import { connectionRoutes } from "./connection.ts";
import { gatewayKeyRoutes, gatewayRoutes } from "./gateway/gateway.ts";
import { gatewayProxyRoutes } from "./gateway/gateway-proxy.ts";
import { inferenceRoutes } from "./gateway/inference.ts";
import { gatewayModelRoutes } from "./gateway/models.ts";
import { requestLogRoutes } from "./gateway/request-logs.ts";
import { usageRoutes } from "./gateway/usage.ts";
import { artifactRoutes } from "./governance/artifacts.ts";
import { fileConflictRoutes } from "./governance/file-conflicts.ts";
import { governanceRoutes } from "./governance/governance.ts";
import { governanceAdminRoutes, harnessAdminRoutes } from "./governance/governance-admin.ts";
import { harnessRoutes } from "./governance/harnesses.ts";
import { policyDraftRoutes } from "./governance/policy-draft.ts";
import { policyPreviewRoutes } from "./governance/policy-preview.ts";
import { revisionRoutes } from "./governance/revisions.ts";
import { identityRoutes } from "./identity/identity.ts";
import { invitationRoutes } from "./identity/invitations.ts";
import { passwordLinkRoutes } from "./identity/password-links.ts";
import { provisioningRoutes } from "./identity/provisioning.ts";
import { userRoutes } from "./identity/users.ts";
import { userBulkRoutes } from "./identity/users-bulk.ts";
import { ownRoutes } from "./own-records.ts";
import { accountPages, assetRoutes, signInPages } from "./pages/account-pages.ts";
import { accountSettingsPages, ownLoginPages } from "./pages/account-settings-pages.ts";
import { approvalPages, codeConfirmationPages, codeEntryPages } from "./pages/device-pages.ts";
import { confirmationPages } from "./pages/factor-confirmation-pages.ts";
import { factorPages } from "./pages/factor-pages.ts";
import { factorSignInPages } from "./pages/factor-sign-in-pages.ts";
import { firstFactorPages } from "./pages/first-factor-pages.ts";
import { helpPages } from "./pages/help-pages.ts";
import { invitationPages } from "./pages/invitation-pages.ts";
import { ownKeyPages } from "./pages/own-key-pages.ts";
import { accountLinkPages, providerPages } from "./pages/provider-pages.ts";
import { setPasswordPages } from "./pages/set-password-pages.ts";
import { scimRoutes } from "./scim.ts";
import { sessionListRoutes } from "./sessions/lists.ts";
import { sessionObjectRoutes } from "./sessions/objects.ts";
import { sessionSharingRoutes } from "./sessions/sharing.ts";
import { sessionTranscriptRoutes } from "./sessions/transcripts.ts";
import { sessionUploadRoutes } from "./sessions/uploads.ts";
import { healthRoutes, openApiRoutes, systemRoutes } from "./system.ts";

function pageRoutes(context: RouteContext): void {
  const browser = createBrowser(context);
  assetRoutes(context);
  accountPages(context, browser);
  accountSettingsPages(context, browser);
  ownLoginPages(context, browser);
  ownKeyPages(context, browser);
  signInPages(context, browser);
  factorSignInPages(context, browser);
  firstFactorPages(context, browser);
  factorPages(context, browser);
  confirmationPages(context, browser);
  providerPages(context, browser);
  accountLinkPages(context, browser);
  codeEntryPages(context, browser);
  codeConfirmationPages(context, browser);
  approvalPages(context, browser);
  invitationPages(context, browser);
  setPasswordPages(context, browser);
  helpPages(context);
}

/**
 * Adds all routes to the router.
 * @param allRoutes the complete list of routes, called when the API document is requested
 */
export function createRoutes(
  context: RouteContext,
  { admission, allRoutes }: { admission: Admission; allRoutes: () => Promise<readonly DocumentedRoute[]> },
): void {
  healthRoutes(context);
  systemRoutes(context);
  openApiRoutes(context, allRoutes);
  connectionRoutes(context);
  discoveryRoutes(context);
  oauthRoutes(context);
  sessionRoutes(context);
  providerLogoutRoutes(context);
  deviceRoutes(context);
  unsupportedRoutes(context);
  pageRoutes(context);
  meRoutes(context);
  ownLoginRoutes(context);
  ownRoutes(context);
  adminLoginRoutes(context);
  catalogRoutes(context);
  packageSourceRoutes(context);
  sourceWebhookRoutes(context);
  catalogImportRoutes(context);
  governanceRoutes(context);
  artifactRoutes(context);
  harnessRoutes(context);
  governanceAdminRoutes(context);
  harnessAdminRoutes(context);
  policyChangeRoutes(context);
  clientRoutes(context);
  clientBulkRoutes(context);
  sessionUploadRoutes(context);
  sessionObjectRoutes(context);
  sessionListRoutes(context);
  sessionSharingRoutes(context);
  sessionTranscriptRoutes(context);
  userRoutes(context);
  userBulkRoutes(context);
  passwordLinkRoutes(context);
  invitationRoutes(context);
  identityRoutes(context);
  provisioningRoutes(context);
  brandingRoutes(context);
  brandingImageRoutes(context);
  gatewayKeyRoutes(context);
  gatewayRoutes(context);
  gatewayModelRoutes(context);
  inferenceRoutes(context);
  gatewayProxyRoutes(context);
  requestLogRoutes(context);
  usageRoutes(context);
  auditRoutes(context);
  jobRoutes(context);
  installationRoutes(context);
  serviceKeyRoutes(context);
  overviewRoutes(context);
  searchRoutes(context);
  adminGatewayKeyRoutes(context);
  gatewayKeyBulkRoutes(context);
  scimRoutes(context, admission);
}

/** @returns the guard of a server */
export function guardOf(options: RouteOptions, admission: Admission) {
  const { domain, clock, baseUrl, metrics, metricsToken } = options;
  return createGuard({
    authenticator: domain.access.authenticator,
    verificationLimit: new TokenVerificationLimit({
      clock,
      observe: createVerificationMetrics(metrics, domain.access.tokenMemoryBytes),
    }),
    baseUrl,
    admitProvider: (request) => admission.admit(request),
    admitProxy: (request) => admitProxy(request, domain.gateway.mode?.settings.proxyToken),
    canReadMetrics: (request, exchange) =>
      canReadMetrics(request, exchange, { token: metricsToken, origin: baseUrl() }),
  });
}

/** Drafts of the policy, previews, and revisions. */
function policyChangeRoutes(context: RouteContext): void {
  policyDraftRoutes(context);
  policyPreviewRoutes(context);
  fileConflictRoutes(context);
  revisionRoutes(context);
}
