// The account settings pages: users see and change their own logins, password and gateway key. logins.ts and gateway.ts have
// the same operations as an API.
import { Secret } from "../../../platform/secret.ts";
import type { Browser, Visitor } from "../../auth/browser.ts";
import { expiredSessionCookie } from "../../auth/cookies.ts";
import { ME_PATH } from "../../console/own/words.ts";
import { actorOf } from "../../http/exchange.ts";
import type { Failure } from "../../http/problems/problem.ts";
import { accountSettingsPage, signedOutEverywherePage, signOutText } from "../../pages/account/account.tsx";
import {
  ACCOUNT_PATH,
  accountPathAfter,
  createAccountView,
  noticeOf,
  pathOf,
} from "../../pages/account/account-view.ts";
import { passwordErrorOf } from "../../pages/account/password-fields.tsx";
import { confirmationPage } from "../../pages/confirmation.tsx";
import {
  FormField,
  formFailure,
  formOf,
  formOperation,
  formRoute,
  page,
  pageOperation,
  pageRoute,
  seeOther,
  signInPath,
} from "../../pages/html.ts";
import type { RouteContext } from "../../router.ts";

const SettingsQuery = formOf({ browsers: FormField, workstations: FormField, done: FormField });
const PasswordForm = formOf({ csrf: FormField, current_password: FormField, new_password: FormField });
const PlainForm = formOf({ csrf: FormField });

/** @returns the settings page and the password form */
export function accountSettingsPages(context: RouteContext, browser: Browser) {
  const { passwordChanges } = context.domain.access;
  const view = createAccountView(context, browser);

  const refused = (request: Request, visitor: Visitor, failure: Failure): Response => {
    const passwordError = passwordErrorOf(failure);
    const html = accountSettingsPage(view.settings(request, visitor, { query: {}, passwordError }));
    return page(html, { failure });
  };

  return context.router
    .get(
      ACCOUNT_PATH,
      ({ request, query }) => {
        if (context.hasConsole !== false) return seeOther(ME_PATH);
        const visitor = browser.visitor(request);
        if (!visitor) return seeOther(signInPath(pathOf(query)));
        const notice = noticeOf(query.done);
        return page(accountSettingsPage(view.settings(request, visitor, { query, notice })));
      },
      {
        requires: "nobody",
        query: SettingsQuery,
        detail: pageOperation("showAccountSettings", "Password, browsers, workstations and gateway key"),
      },
    )
    .post(
      `${ACCOUNT_PATH}/password`,
      async ({ request, body }) => {
        const visitor = browser.visitor(request);
        if (!visitor) return seeOther(signInPath(ACCOUNT_PATH));
        browser.checkForm(request, body.csrf, visitor);
        const current = new Secret(body.current_password ?? "");
        const next = new Secret(body.new_password ?? "");
        const { sessionId } = visitor;
        try {
          const change = await passwordChanges.change(actorOf(request), { current, next, sessionId });
          return seeOther(accountPathAfter("password"), Object.values(browser.cookiesOf(change)));
        } catch (error) {
          return refused(request, visitor, formFailure(error, request));
        }
      },
      formRoute(
        PasswordForm,
        formOperation("sendPasswordForm", "Changes the password and signs other browsers out"),
      ),
    );
}

export function ownLoginPages(context: RouteContext, browser: Browser) {
  const { router, domain, baseUrl } = context;
  const { ownLogins } = domain.access;
  const view = createAccountView(context, browser);
  const everywhere = `${ACCOUNT_PATH}/sign-out-everywhere`;

  return router
    .post(
      `${ACCOUNT_PATH}/logins/:id/end`,
      async ({ request, params, body }) => {
        const visitor = browser.visitor(request);
        if (!visitor) return seeOther(signInPath(ACCOUNT_PATH));
        browser.checkForm(request, body.csrf, visitor);
        await ownLogins.end(actorOf(request), params.id);
        if (params.id === visitor.sessionId) return seeOther("/sign-out", [expiredSessionCookie(baseUrl())]);
        return seeOther(accountPathAfter("login"));
      },
      formRoute(PlainForm, formOperation("sendEndOfLogin", "Ends one login of the signed-in person")),
    )
    .get(
      everywhere,
      ({ request }) => {
        const visitor = browser.visitor(request);
        if (!visitor) return seeOther(signInPath(everywhere));
        const consequences = [
          signOutText(view.counts(request)),
          "All of them must sign in again. Your password, your gateway key and the files on your workstations do not change.",
        ];
        const question = { title: "Sign out everywhere?", consequences, verb: "Sign out everywhere" };
        const { csrf } = visitor;
        const places = { action: everywhere, back: ACCOUNT_PATH };
        return page(confirmationPage({ ...question, ...places, csrf, branding: browser.branding() }));
      },
      pageRoute("showSignOutEverywhere", "Asks before ending every login"),
    )
    .post(
      everywhere,
      async ({ request, body }) => {
        const visitor = browser.visitor(request);
        if (!visitor) return seeOther(signInPath(ACCOUNT_PATH));
        browser.checkForm(request, body.csrf, visitor);
        const { loginSessions, grants } = await ownLogins.endAll(actorOf(request));
        const counts = { browsers: loginSessions, workstations: grants };
        const html = signedOutEverywherePage({ counts, branding: browser.branding() });
        return page(html, { cookies: [expiredSessionCookie(baseUrl())] });
      },
      formRoute(PlainForm, pageOperation("sendSignOutEverywhere", "Ends every login and shows the number")),
    );
}
