// Pages for accepting an invitation: link, password, done. The identity area validates invitations.
import { PASSWORD_LENGTH_MIN } from "../../../domain/identity/users/passwords.ts";
import { Secret } from "../../../platform/secret.ts";
import type { Browser } from "../../auth/browser.ts";
import { exchangeOf } from "../../http/exchange.ts";
import { failureOf } from "../../http/problems/problem.ts";
import { FormField, formOf, formOperation, page, pageOperation, seeOther } from "../../pages/html.ts";
import {
  invitationAcceptedPage,
  invitationPage,
  invitationUnavailablePage,
  providerInvitationPage,
} from "../../pages/invitation.tsx";
import { createRouter, type RouteContext } from "../../router.ts";
import { PROVIDER_SIGN_IN_PATH } from "./provider-pages.ts";

const AcceptanceForm = formOf({ csrf: FormField, token: FormField, password: FormField });

const PATH = "/accept-invitation";

export function invitationPages({ guard, domain }: RouteContext, browser: Browser) {
  const { invitations } = domain.identity;

  const form = (request: Request, { token, error }: { token: string; error?: string }) => {
    const { email, role } = invitations.getByToken(new Secret(token));
    const { csrf, cookies } = browser.anonymousForm(request);
    const shown = { csrf, token, email, role, error, minimumPasswordLength: PASSWORD_LENGTH_MIN };
    return { html: invitationPage({ ...shown, branding: browser.branding() }), cookies };
  };

  /** @returns the page for people who may not have a password here */
  const providerForm = (token: string): string | undefined => {
    const settings = domain.sso.settings();
    if (!settings || domain.access.settings.identityMode === "password") return undefined;
    const { email, role } = invitations.getByToken(new Secret(token));
    const provider = { name: settings.providerName, href: PROVIDER_SIGN_IN_PATH };
    return providerInvitationPage({ email, role, provider, branding: browser.branding() });
  };

  const refused = (error: unknown): Response => {
    const failure = failureOf(error);
    if (failure?.reason !== "invitation.unavailable") throw error;
    return page(invitationUnavailablePage({ branding: browser.branding() }), { status: failure.status });
  };

  return createRouter(guard, "invitation-pages")
    .get(
      PATH,
      ({ request, query }) => {
        try {
          const token = query.token ?? "";
          const atProvider = providerForm(token);
          if (atProvider !== undefined) return page(atProvider);
          const { html, cookies } = form(request, { token });
          return page(html, { cookies });
        } catch (error) {
          return refused(error);
        }
      },
      {
        requires: "nobody",
        query: formOf({ token: FormField }),
        detail: pageOperation("showInvitationPage", "Asks an invited person for a password"),
      },
    )
    .post(
      PATH,
      async ({ request, body }) => {
        const { csrf, token = "", password = "" } = body;
        browser.checkAnonymousForm(request, csrf);
        const { requestId, address } = exchangeOf(request);
        const origin = { requestId, ...(address !== null && { address }) };
        try {
          await invitations.accept({ token: new Secret(token), password: new Secret(password), ...origin });
          return seeOther(`${PATH}/done`);
        } catch (error) {
          const failure = failureOf(error);
          if (failure?.reason !== "identity.invalid") return refused(error);
          const detail = failure.problems.map((problem) => problem.detail).join("; ");
          const { html, cookies } = form(request, { token, error: detail });
          return page(html, { status: failure.status, cookies });
        }
      },
      {
        requires: "nobody",
        accepts: "form",
        body: AcceptanceForm,
        detail: formOperation("acceptInvitation", "Creates the account of an invited person"),
      },
    )
    .get(`${PATH}/done`, () => page(invitationAcceptedPage({ branding: browser.branding() })), {
      requires: "nobody",
      detail: pageOperation("showInvitationAccepted", "Redirects to the sign-in page"),
    });
}
