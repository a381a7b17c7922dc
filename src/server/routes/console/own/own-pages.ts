// All routes about the reader.
import { Elysia } from "elysia";
import type { Browser } from "../../../auth/browser.ts";
import type { Console } from "../../../console/console.ts";
import type { RouteContext } from "../../../router.ts";
import { mePages, ownPolicyPages, ownWorkstationPages } from "./me-pages.ts";
import { ownAccountPages } from "./own-account-pages.ts";
import { ownConsoleKeyPages } from "./own-key-pages.ts";
import { endOwnLoginForms, ownConsoleLoginPages } from "./own-login-pages.ts";
import { ownViewPages } from "./own-view-pages.ts";

/** @returns the pages that everybody may open */
export const ownPages = (context: RouteContext, console: Console, browser: Browser) =>
  new Elysia({ name: "routes/console-own" })
    .use(mePages(context, console))
    .use(ownPolicyPages(context, console))
    .use(ownWorkstationPages(context, console))
    .use(ownConsoleKeyPages(context, console))
    .use(ownConsoleLoginPages(context, console))
    .use(endOwnLoginForms(context, console))
    .use(ownViewPages(context, console))
    .use(ownAccountPages(context, console, browser));
