// All routes of the console, which share one Console. `console.enabled: no` removes them.

import { type Browser, createBrowser } from "../../auth/browser.ts";
import { type Console, createConsole } from "../../console/console.ts";
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
import { mePages, ownPolicyPages, ownWorkstationPages } from "./own/me-pages.ts";
import { ownAccountPages } from "./own/own-account-pages.ts";
import { ownConsoleKeyPages } from "./own/own-key-pages.ts";
import { endOwnLoginForms, ownConsoleLoginPages } from "./own/own-login-pages.ts";
import { ownViewPages } from "./own/own-view-pages.ts";
import { audiencePages } from "./packages/audience-pages.ts";
import { catalogEntryPages, catalogPages } from "./packages/catalog-pages.ts";
import { connectionPages } from "./packages/connection-pages.ts";
import { importPages } from "./packages/import-pages.ts";
import { newPackagePages } from "./packages/new/new-package-pages.ts";
import { packageActionPages, packageRemovalPages } from "./packages/package-action-pages.ts";
import { packagePages } from "./packages/package-pages.ts";
import { groupPages } from "./people/group-pages.ts";
import { invitationPages } from "./people/invitation-pages.ts";
import { loginPages } from "./people/login-pages.ts";
import { userActionPages } from "./people/user-action-pages.ts";
import { userBulkPages } from "./people/user-bulk-pages.ts";
import { userListPages } from "./people/user-list-pages.ts";
import { userPages } from "./people/user-pages.ts";
import { conflictPages } from "./policy/conflict-pages.ts";
import { draftFilePages } from "./policy/draft-file-pages.ts";
import { draftActionPages, draftPages } from "./policy/draft-pages.ts";
import { editPages } from "./policy/edit-pages.ts";
import { explainPages } from "./policy/explain-pages.ts";
import { harnessPages } from "./policy/harness-pages.ts";
import { historyPages } from "./policy/history-pages.ts";
import { mcpPages } from "./policy/mcp-pages.ts";
import { policyPages, rolloutPages } from "./policy/policy-pages.ts";
import { reachPages } from "./policy/reach-pages.ts";
import { sessionListPages } from "./sessions/session-list-pages.ts";
import { sessionPages } from "./sessions/session-pages.ts";
import { sharePages } from "./sessions/share-pages.ts";
import { transcriptPages } from "./sessions/transcript-pages.ts";
import { overviewPages } from "./start/overview-pages.ts";
import { searchPages } from "./start/search-pages.ts";

/** Adds the pages that everybody may open. */
function ownPages(context: RouteContext, console: Console, browser: Browser): void {
  mePages(context, console);
  ownPolicyPages(context, console);
  ownWorkstationPages(context, console);
  ownConsoleKeyPages(context, console);
  ownConsoleLoginPages(context, console);
  endOwnLoginForms(context, console);
  ownViewPages(context, console);
  ownAccountPages(context, console, browser);
}

/** Adds the pages about captured sessions, which show everybody the sessions that they may see. */
function sessionAreaPages(context: RouteContext, console: Console): void {
  sessionListPages(context, console);
  sessionPages(context, console);
  sharePages(context, console);
  transcriptPages(context, console);
}

/** Adds all pages about people. */
function peoplePages(context: RouteContext, console: Console): void {
  userListPages(context, console);
  userBulkPages(context, console);
  userPages(context, console);
  userActionPages(context, console);
  invitationPages(context, console);
  groupPages(context, console);
  loginPages(context, console);
}

function extensionPages(context: RouteContext, console: Console): void {
  packagePages(context, console);
  newPackagePages(context, console);
  packageActionPages(context, console);
  packageRemovalPages(context, console);
  catalogPages(context, console);
  importPages(context, console);
  connectionPages(context, console);
  catalogEntryPages(context, console);
  audiencePages(context, console);
}

/** Adds all pages about the policy. */
function policyAreaPages(context: RouteContext, console: Console): void {
  policyPages(context, console);
  conflictPages(context, console);
  historyPages(context, console);
  rolloutPages(context, console);
  explainPages(context, console);
  harnessPages(context, console);
  extensionPages(context, console);
  mcpPages(context, console);
  reachPages(context, console);
  editPages(context, console);
  draftPages(context, console);
  draftActionPages(context, console);
  draftFilePages(context, console);
}

export function consoleRoutes(context: RouteContext): void {
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
