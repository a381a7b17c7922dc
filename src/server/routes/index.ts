// All routes of the server. They are listed by hand because a compiled executable has no folders to scan.
import { Elysia } from "elysia";
import { createGuard } from "../auth/guard.ts";
import { canReadMetrics } from "../auth/metrics-access.ts";
import { admitProxy } from "../auth/proxy-access.ts";
import { TokenVerificationLimit } from "../auth/token-verification-limit.ts";
import { createFactorMetrics } from "../metrics/factor-metrics.ts";
import { createVerificationMetrics } from "../metrics/token-metrics.ts";
import type { DocumentedRoute } from "../openapi.ts";
import type { RouteContext } from "../router.ts";
import { createAdmission } from "../scim/admission.ts";
import { closedRoutes } from "./access/closed.ts";
import { deviceRoutes } from "./access/device.ts";
import { discoveryRoutes } from "./access/discovery.ts";
import { adminLoginRoutes, ownLoginRoutes } from "./access/logins.ts";
import { meRoutes } from "./access/me.ts";
import { oauthRoutes } from "./access/oauth.ts";
import { providerLogoutRoutes } from "./access/provider-logout.ts";
import { sessionRoutes } from "./access/session.ts";
import { auditRoutes } from "./administration/audit.ts";
import { adminGatewayKeyRoutes } from "./administration/gateway-keys.ts";
import { jobRoutes } from "./administration/jobs.ts";
import { serviceKeyRoutes } from "./administration/keys.ts";
import { brandingRoutes } from "./branding.ts";
import { catalogRoutes } from "./catalog/catalog.ts";
import { packageSourceRoutes } from "./catalog/package-sources.ts";
import { clientRoutes } from "./clients.ts";
import { connectionRoutes } from "./connection.ts";
import { consoleRoutes } from "./console/console-routes.ts";
import { gatewayKeyRoutes, gatewayRoutes } from "./gateway/gateway.ts";
import { gatewayProxyRoutes } from "./gateway/gateway-proxy.ts";
import { inferenceRoutes } from "./gateway/inference.ts";
import { gatewayModelRoutes } from "./gateway/models.ts";
import { requestLogRoutes } from "./gateway/request-logs.ts";
import { usageRoutes } from "./gateway/usage.ts";
import { artifactRoutes } from "./governance/artifacts.ts";
import { governanceRoutes } from "./governance/governance.ts";
import { governanceAdminRoutes, harnessAdminRoutes } from "./governance/governance-admin.ts";
import { harnessRoutes } from "./governance/harnesses.ts";
import { identityRoutes } from "./identity/identity.ts";
import { invitationRoutes } from "./identity/invitations.ts";
import { passwordLinkRoutes } from "./identity/password-links.ts";
import { userRoutes } from "./identity/users.ts";
import { ownRecordRoutes } from "./own-records.ts";
import { pageRoutes } from "./pages/pages.ts";
import { scimRoutes } from "./scim.ts";
import { sessionListRoutes } from "./sessions/lists.ts";
import { sessionObjectRoutes } from "./sessions/objects.ts";
import { sessionSharingRoutes } from "./sessions/sharing.ts";
import { sessionUploadRoutes } from "./sessions/uploads.ts";
import { healthRoutes, openApiRoutes, systemRoutes } from "./system.ts";

/** @param allRoutes the complete list of routes, called when the API document is requested */
export function createRoutes(
  options: Omit<RouteContext, "guard" | "countFactor">,
  allRoutes: () => readonly DocumentedRoute[],
) {
  const { domain, clock, baseUrl, metricsToken } = options;
  const admission = createAdmission(domain.scim, clock);
  const guard = createGuard({
    authenticator: domain.access.authenticator,
    verificationLimit: new TokenVerificationLimit({
      clock,
      observe: createVerificationMetrics(options.metrics, domain.access.tokenMemoryBytes),
    }),
    baseUrl,
    admitProvider: (request) => admission.admit(request),
    admitProxy: (request) => admitProxy(request, domain.gateway.mode?.settings.proxyToken),
    canReadMetrics: (request, exchange) =>
      canReadMetrics(request, exchange, { token: metricsToken, origin: baseUrl() }),
  });
  const context: RouteContext = { ...options, guard, countFactor: createFactorMetrics(options.metrics) };
  return new Elysia({ name: "routes" })
    .use(healthRoutes(context))
    .use(systemRoutes(context))
    .use(openApiRoutes(context, allRoutes))
    .use(connectionRoutes(context))
    .use(discoveryRoutes(context))
    .use(oauthRoutes(context))
    .use(sessionRoutes(context))
    .use(providerLogoutRoutes(context))
    .use(deviceRoutes(context))
    .use(closedRoutes(context))
    .use(pageRoutes(context))
    .use(consoleRoutes(context))
    .use(meRoutes(context))
    .use(ownLoginRoutes(context))
    .use(ownRecordRoutes(context))
    .use(adminLoginRoutes(context))
    .use(catalogRoutes(context))
    .use(packageSourceRoutes(context))
    .use(governanceRoutes(context))
    .use(artifactRoutes(context))
    .use(harnessRoutes(context))
    .use(governanceAdminRoutes(context))
    .use(harnessAdminRoutes(context))
    .use(clientRoutes(context))
    .use(sessionUploadRoutes(context))
    .use(sessionObjectRoutes(context))
    .use(sessionListRoutes(context))
    .use(sessionSharingRoutes(context))
    .use(userRoutes(context))
    .use(passwordLinkRoutes(context))
    .use(invitationRoutes(context))
    .use(identityRoutes(context))
    .use(brandingRoutes(context))
    .use(gatewayKeyRoutes(context))
    .use(gatewayRoutes(context))
    .use(gatewayModelRoutes(context))
    .use(inferenceRoutes(context))
    .use(gatewayProxyRoutes(context))
    .use(requestLogRoutes(context))
    .use(usageRoutes(context))
    .use(auditRoutes(context))
    .use(jobRoutes(context))
    .use(serviceKeyRoutes(context))
    .use(adminGatewayKeyRoutes(context))
    .use(scimRoutes(context, admission));
}
