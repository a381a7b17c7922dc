// All routes of the console, which share one Console. `console.enabled: no` removes them.
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
import { gatewayKeyBulkPages } from "./gateway/key-bulk-pages.ts";
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

/** Adds no routes if the installation has no console. */
export function consoleRoutes(context: RouteContext): void {
  if (context.hasConsole === false) return;
  const browser = createBrowser(context);
  const console = createConsole(context, browser);
  framePages(context, console);
  ownPages(context, console, browser);
  sessionAreaPages(context, console);
  overviewPages(context, console);
  searchPages(context, console);
  fleetPages(context, console);
  policyAreaPages(context, console);
  peoplePages(context, console);
  gatewayPages(context, console);
  gatewayRequestPages(context, console);
  gatewayKeyBulkPages(context, console);
  gatewayKeyPages(context, console);
  gatewayKeyActionPages(context, console);
  gatewayModelPages(context, console);
  gatewayModelFormPages(context, console);
  identityPages(context, console);
  auditPages(context, console);
  installationPages(context, console);
  jobPages(context, console);
  backupPages(context, console);
  keyPages(context, console);
  brandingPages(context, console);
}
