// All HTML pages, which share one Browser.
import { Elysia } from "elysia";
import { createBrowser } from "../../auth/browser.ts";
import type { RouteContext } from "../../router.ts";
import { accountPages, assetRoutes, signInPages } from "./account-pages.ts";
import { accountSettingsPages, ownLoginPages } from "./account-settings-pages.ts";
import { approvalPages, codeConfirmationPages, codeEntryPages } from "./device-pages.ts";
import { confirmationPages } from "./factor-confirmation-pages.ts";
import { factorPages } from "./factor-pages.ts";
import { factorSignInPages } from "./factor-sign-in-pages.ts";
import { firstFactorPages } from "./first-factor-pages.ts";
import { helpPages } from "./help-pages.ts";
import { invitationPages } from "./invitation-pages.ts";
import { ownKeyPages } from "./own-key-pages.ts";
import { accountLinkPages, providerPages } from "./provider-pages.ts";
import { setPasswordPages } from "./set-password-pages.ts";

export function pageRoutes(context: RouteContext) {
  const browser = createBrowser(context);
  return new Elysia({ name: "routes/pages" })
    .use(assetRoutes(context))
    .use(accountPages(context, browser))
    .use(accountSettingsPages(context, browser))
    .use(ownLoginPages(context, browser))
    .use(ownKeyPages(context, browser))
    .use(signInPages(context, browser))
    .use(factorSignInPages(context, browser))
    .use(firstFactorPages(context, browser))
    .use(factorPages(context, browser))
    .use(confirmationPages(context, browser))
    .use(providerPages(context, browser))
    .use(accountLinkPages(context, browser))
    .use(codeEntryPages(context, browser))
    .use(codeConfirmationPages(context, browser))
    .use(approvalPages(context, browser))
    .use(invitationPages(context, browser))
    .use(setPasswordPages(context, browser))
    .use(helpPages(context));
}
