// All areas of the HTTP face on one page. An area is listed by hand: folders are not there in the executable.
import { Elysia } from "elysia";
import { FirstSights } from "../first-sights.ts";
import { createGuard } from "../guard.ts";
import { mayReadMetrics } from "../metrics-access.ts";
import { createVerificationMetrics } from "../metrics-tokens.ts";
import type { DocumentedRoute } from "../openapi.ts";
import { admitProxy } from "../proxy-access.ts";
import type { RouteContext } from "../router.ts";
import { createAdmission } from "../scim/admission.ts";
import { artifactRoutes } from "./artifacts.ts";
import { brandingRoutes } from "./branding.ts";
import { catalogRoutes } from "./catalog.ts";
import { clientRoutes } from "./clients.ts";
import { closedRoutes } from "./closed.ts";
import { deviceRoutes } from "./device.ts";
import { discoveryRoutes } from "./discovery.ts";
import { gatewayKeyRoutes, gatewayRoutes } from "./gateway.ts";
import { gatewayProxyRoutes } from "./gateway-proxy.ts";
import { governanceRoutes } from "./governance.ts";
import { governanceAdminRoutes, harnessAdminRoutes } from "./governance-admin.ts";
import { harnessRoutes } from "./harnesses.ts";
import { identityRoutes } from "./identity.ts";
import { inferenceRoutes } from "./inference.ts";
import { invitationRoutes } from "./invitations.ts";
import { adminLoginRoutes, ownLoginRoutes } from "./logins.ts";
import { meRoutes } from "./me.ts";
import { oauthRoutes } from "./oauth.ts";
import { ownRecordRoutes } from "./own-records.ts";
import { packageSourceRoutes } from "./package-sources.ts";
import { pageRoutes } from "./pages.ts";
import { scimRoutes } from "./scim.ts";
import { sessionRoutes } from "./session.ts";
import { healthRoutes, openApiRoutes, systemRoutes } from "./system.ts";
import { userRoutes } from "./users.ts";

/** @param allRoutes the finished list, asked for only when a request wants the API document */
export function createRoutes(
  options: Omit<RouteContext, "guard">,
  allRoutes: () => readonly DocumentedRoute[],
) {
  const { domain, clock, baseUrl, metricsToken } = options;
  const admission = createAdmission(domain.scim, clock);
  const guard = createGuard({
    authenticator: domain.access.authenticator,
    firstSights: new FirstSights({
      clock,
      observe: createVerificationMetrics(options.metrics, domain.access.tokenMemoryBytes),
    }),
    baseUrl,
    admitProvider: (request) => admission.admit(request),
    admitProxy: (request) => admitProxy(request, domain.gateway.mode?.settings.proxyToken),
    mayReadMetrics: (request, exchange) =>
      mayReadMetrics(request, exchange, { token: metricsToken, origin: baseUrl() }),
  });
  const context: RouteContext = { ...options, guard };
  return new Elysia({ name: "routes" })
    .use(healthRoutes(context))
    .use(systemRoutes(context))
    .use(openApiRoutes(context, allRoutes))
    .use(discoveryRoutes(context))
    .use(oauthRoutes(context))
    .use(sessionRoutes(context))
    .use(deviceRoutes(context))
    .use(closedRoutes(context))
    .use(pageRoutes(context))
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
    .use(userRoutes(context))
    .use(invitationRoutes(context))
    .use(identityRoutes(context))
    .use(brandingRoutes(context))
    .use(gatewayKeyRoutes(context))
    .use(gatewayRoutes(context))
    .use(inferenceRoutes(context))
    .use(gatewayProxyRoutes(context))
    .use(scimRoutes(context, admission));
}
