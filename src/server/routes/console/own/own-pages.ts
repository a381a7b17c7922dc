// All routes about the reader.
import type { Browser } from "../../../auth/browser.ts";
import type { Console } from "../../../console/console.ts";
import type { RouteContext } from "../../../router.ts";
import { mePages, ownPolicyPages, ownWorkstationPages } from "./me-pages.ts";
import { ownAccountPages } from "./own-account-pages.ts";
import { ownConsoleKeyPages } from "./own-key-pages.ts";
import { endOwnLoginForms, ownConsoleLoginPages } from "./own-login-pages.ts";
import { ownViewPages } from "./own-view-pages.ts";

/** Adds the pages that everybody may open. */
export function ownPages(context: RouteContext, console: Console, browser: Browser): void {
  mePages(context, console);
  ownPolicyPages(context, console);
  ownWorkstationPages(context, console);
  ownConsoleKeyPages(context, console);
  ownConsoleLoginPages(context, console);
  endOwnLoginForms(context, console);
  ownViewPages(context, console);
  ownAccountPages(context, console, browser);
}
