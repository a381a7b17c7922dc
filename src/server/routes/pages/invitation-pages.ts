// Pages for accepting an invitation. The identity area validates invitations.
import { Secret } from "../../../platform/secret.ts";
import type { Browser } from "../../auth/browser.ts";
import { formOperation, pageOperation } from "../../pages/html.ts";
import {
  invitationAcceptedPage,
  invitationPage,
  invitationUnavailablePage,
  providerInvitationPage,
} from "../../pages/invitation.tsx";
import type { RouteContext } from "../../router.ts";
import { passwordLinkPages } from "./password-link-pages.ts";
import { PROVIDER_SIGN_IN_PATH } from "./provider-pages.ts";

export function invitationPages(context: RouteContext, browser: Browser) {
  const { domain } = context;
  const { invitations } = domain.identity;

  /** @returns the page for people who may not have a password here */
  const providerPage = (token: Secret): string | undefined => {
    const settings = domain.sso.settings();
    if (!settings || domain.access.settings.identityMode === "password") return undefined;
    const { email, role } = invitations.getByToken(token);
    const provider = { name: settings.providerName, href: PROVIDER_SIGN_IN_PATH };
    return providerInvitationPage({ email, role, provider, branding: browser.branding() });
  };

  return passwordLinkPages(context, browser, {
    path: "/accept-invitation",
    unavailableReason: "invitation.unavailable",
    unavailablePage: invitationUnavailablePage,
    insteadOfForm: providerPage,
    formPage: (form) => {
      const { email, role } = invitations.getByToken(new Secret(form.token));
      return invitationPage({ ...form, email, role });
    },
    donePage: invitationAcceptedPage,
    use: (given) => invitations.accept(given),
    operations: {
      show: pageOperation("showInvitationPage", "Asks an invited person for a password"),
      send: formOperation("acceptInvitation", "Creates the account of an invited person"),
      done: pageOperation("showInvitationAccepted", "Redirects to the sign-in page"),
    },
  });
}
