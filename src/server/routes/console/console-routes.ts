// All routes of the console, which share one Console. `console.enabled: no` removes them.
import { Elysia } from "elysia";
import { createBrowser } from "../../auth/browser.ts";
import { createConsole } from "../../console/console.ts";
import type { RouteContext } from "../../router.ts";
import { auditPages } from "./audit-pages.ts";
import { backupPages } from "./backup-pages.ts";
import { brandingPages } from "./branding-pages.ts";
import { fleetPages } from "./fleet-pages.ts";
import { framePages } from "./frame-pages.ts";
import { gatewayPages } from "./gateway/gateway-pages.ts";
import { gatewayKeyActionPages } from "./gateway/key-action-pages.ts";
import { gatewayKeyPages } from "./gateway/key-pages.ts";
import { gatewayModelFormPages } from "./gateway/model-form-pages.ts";
import { gatewayModelPages } from "./gateway/model-pages.ts";
import { gatewayRequestPages } from "./gateway/request-pages.ts";
import { identityPages } from "./identity-pages.ts";
import { installationPages } from "./installation-pages.ts";
import { jobPages } from "./job-pages.ts";
import { keyPages } from "./key-pages.ts";
import { ownPages } from "./own/own-pages.ts";
import { peoplePages } from "./people/people-pages.ts";
import { policyAreaPages } from "./policy/policy-area-pages.ts";
import { sessionAreaPages } from "./sessions/session-area-pages.ts";
import { overviewPages } from "./start/overview-pages.ts";
import { searchPages } from "./start/search-pages.ts";

/** @returns no routes if the installation has no console */
export function consoleRoutes(context: RouteContext) {
  if (context.hasConsole === false) return new Elysia({ name: "routes/console" });
  const browser = createBrowser(context);
  const console = createConsole(context, browser);
  return new Elysia({ name: "routes/console" })
    .use(framePages(context, console))
    .use(ownPages(context, console, browser))
    .use(sessionAreaPages(context, console))
    .use(overviewPages(context, console))
    .use(searchPages(context, console))
    .use(fleetPages(context, console))
    .use(policyAreaPages(context, console))
    .use(peoplePages(context, console))
    .use(gatewayPages(context, console))
    .use(gatewayRequestPages(context, console))
    .use(gatewayKeyPages(context, console))
    .use(gatewayKeyActionPages(context, console))
    .use(gatewayModelPages(context, console))
    .use(gatewayModelFormPages(context, console))
    .use(identityPages(context, console))
    .use(auditPages(context, console))
    .use(installationPages(context, console))
    .use(jobPages(context, console))
    .use(backupPages(context, console))
    .use(keyPages(context, console))
    .use(brandingPages(context, console));
}
