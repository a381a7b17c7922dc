// Pages for setting a password with a link: link, password, done. The identity area validates links.
import { PASSWORD_LENGTH_MIN } from "../../../domain/identity/users/passwords.ts";
import { Secret } from "../../../platform/secret.ts";
import type { Browser } from "../../auth/browser.ts";
import { exchangeOf } from "../../http/exchange.ts";
import { failureOf } from "../../http/problems/problem.ts";
import { FormField, formOf, formOperation, page, pageOperation, seeOther } from "../../pages/html.ts";
import { passwordLinkUnavailablePage, passwordSetPage, setPasswordPage } from "../../pages/set-password.tsx";
import { createRouter, type RouteContext } from "../../router.ts";

const PasswordForm = formOf({ csrf: FormField, token: FormField, password: FormField });

const PATH = "/set-password";

export function setPasswordPages({ guard, domain }: RouteContext, browser: Browser) {
  const { passwordLinks } = domain.identity;

  const form = (request: Request, { token, error }: { token: string; error?: string }) => {
    const { email } = passwordLinks.getUser(new Secret(token));
    const { csrf, cookies } = browser.anonymousForm(request);
    const shown = { csrf, token, email, error, minimumPasswordLength: PASSWORD_LENGTH_MIN };
    return { html: setPasswordPage({ ...shown, branding: browser.branding() }), cookies };
  };

  const refused = (error: unknown): Response => {
    const failure = failureOf(error);
    if (failure?.reason !== "password_link.unavailable") throw error;
    return page(passwordLinkUnavailablePage({ branding: browser.branding() }), { status: failure.status });
  };

  return createRouter(guard, "set-password-pages")
    .get(
      PATH,
      ({ request, query }) => {
        try {
          const { html, cookies } = form(request, { token: query.token ?? "" });
          return page(html, { cookies });
        } catch (error) {
          return refused(error);
        }
      },
      {
        requires: "nobody",
        query: formOf({ token: FormField }),
        detail: pageOperation("showSetPasswordPage", "Asks the holder of a password link for a password"),
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
          const given = { token: new Secret(token), password: new Secret(password), ...origin };
          await passwordLinks.setPassword(given);
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
        body: PasswordForm,
        detail: formOperation("setPassword", "Sets the password of the user of a password link"),
      },
    )
    .get(`${PATH}/done`, () => page(passwordSetPage({ branding: browser.branding() })), {
      requires: "nobody",
      detail: pageOperation("showPasswordSet", "Redirects to the sign-in page"),
    });
}
