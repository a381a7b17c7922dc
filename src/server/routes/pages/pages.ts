// All HTML pages, which share one Browser.
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

export function pageRoutes(context: RouteContext): void {
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
