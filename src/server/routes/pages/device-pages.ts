// Device login pages: type the code or open the link, see the request, decide. The access area decides who may approve.
import { readUserCode } from "../../../domain/access/model.ts";
import type { Browser } from "../../auth/browser.ts";
import { typedCodeCookie, typedCodeOf, waitingCodeCookie, waitingCodeOf } from "../../auth/cookies.ts";
import { actorOf } from "../../http/exchange.ts";
import { decisionPage } from "../../pages/device-login/approval-outcome.tsx";
import { createApprovals, type Decision } from "../../pages/device-login/approvals.ts";
import { codeEntryPage } from "../../pages/device-login/code-entry.tsx";
import {
  FormField,
  formFailure,
  formOf,
  formOperation,
  formRoute,
  page,
  pageRoute,
  redirectOperation,
  seeOther,
  signInPath,
} from "../../pages/html.ts";
import type { RouteContext } from "../../router.ts";
import { detourOf } from "./factor-confirmation-pages.ts";

const CodeForm = formOf({ csrf: FormField, user_code: FormField });
const DecisionForm = formOf({ csrf: FormField, decision: FormField });
const ConfirmForm = formOf({ csrf: FormField, decision: FormField, user_code: FormField });

const ENTRY = "/device";
/** Shows the login of the code that this browser submitted last. The code is in a cookie, so a link cannot choose it. */
const CONFIRM = `${ENTRY}/confirm`;
const linkPath = (token: string): string => `${ENTRY}/${encodeURIComponent(token)}`;

/** @returns the page for typing the code (RFC 8628 section 3.3) */
export function codeEntryPages({ router, domain, baseUrl }: RouteContext, browser: Browser) {
  const { deviceLogins, settings } = domain.access;

  /**
   * The session of the page has ended, so no form token proves that this person typed the code. The browser must
   * therefore confirm that the form comes from our origin.
   * @returns the cookies that carry the code through the sign-in
   */
  const keepWaiting = (request: Request, typed: string): string[] => {
    const userCode = readUserCode(typed);
    if (userCode === undefined || request.headers.get("sec-fetch-site") !== "same-origin") return [];
    const maxAgeSeconds = settings.deviceCodeTtlSeconds;
    return [waitingCodeCookie(userCode, { baseUrl: baseUrl(), maxAgeSeconds })];
  };

  return router
    .get(
      ENTRY,
      ({ request }) => {
        const visitor = browser.visitor(request);
        if (!visitor) return seeOther(signInPath(ENTRY));
        const { csrf, principal } = visitor;
        const value = readUserCode(waitingCodeOf(request, baseUrl()) ?? "");
        const shown = { csrf, value, signedInAs: principal.email, branding: browser.branding() };
        const used =
          value === undefined ? [] : [waitingCodeCookie("", { baseUrl: baseUrl(), maxAgeSeconds: 0 })];
        return page(codeEntryPage(shown), { cookies: used });
      },
      pageRoute("showCodeEntryPage", "Asks for the user code"),
    )
    .post(
      ENTRY,
      async ({ request, body }) => {
        const visitor = browser.visitor(request);
        const typed = body.user_code ?? "";
        if (!visitor) return seeOther(signInPath(ENTRY), keepWaiting(request, typed));
        browser.checkForm(request, body.csrf, visitor);
        try {
          const { userCode } = await deviceLogins.claimByUserCode(actorOf(request), typed);
          const maxAgeSeconds = settings.deviceCodeTtlSeconds;
          return seeOther(CONFIRM, [typedCodeCookie(userCode, { baseUrl: baseUrl(), maxAgeSeconds })]);
        } catch (error) {
          const failure = formFailure(error, request);
          const shown = { csrf: visitor.csrf, value: typed, error: failure.message };
          const signedInAs = visitor.principal.email;
          return page(codeEntryPage({ ...shown, signedInAs, branding: browser.branding() }), { failure });
        }
      },
      formRoute(CodeForm, formOperation("sendUserCode", "Finds the device login of a typed code")),
    );
}

/** @returns the approval pages of a device login link */
export function approvalPages({ router, domain }: RouteContext, browser: Browser) {
  const { deviceLogins } = domain.access;
  const approvals = createApprovals(browser, detourOf);

  return router
    .get(
      `${ENTRY}/approved`,
      () => page(decisionPage({ decision: "approved", branding: browser.branding() })),
      pageRoute("showApprovedPage", "Confirms an approval"),
    )
    .get(
      `${ENTRY}/denied`,
      () => page(decisionPage({ decision: "denied", branding: browser.branding() })),
      pageRoute("showDeniedPage", "Confirms a refusal"),
    )
    .get(
      `${ENTRY}/:token`,
      ({ request, params }) => {
        const claim = () => deviceLogins.claim(actorOf(request), params.token);
        return approvals.show(request, { action: linkPath(params.token), claim });
      },
      pageRoute("showApprovalPage", "The device login of a link"),
    )
    .post(
      `${ENTRY}/:token`,
      ({ request, params, body }) => {
        const decide = (decision: Decision) =>
          deviceLogins.decide(actorOf(request), { ...decision, linkToken: params.token });
        return approvals.decide(request, { action: linkPath(params.token), form: body, decide });
      },
      formRoute(
        DecisionForm,
        formOperation("sendApproval", "Approves or refuses the device login of a link"),
      ),
    );
}

/** @returns the approval page of a typed code; submitting the code claimed the login for its user */
export function codeConfirmationPages({ router, domain, baseUrl }: RouteContext, browser: Browser) {
  const { deviceLogins } = domain.access;
  const approvals = createApprovals(browser, detourOf);

  return router
    .get(
      CONFIRM,
      ({ request }) => {
        const userCode = typedCodeOf(request, baseUrl());
        if (userCode === undefined) return seeOther(ENTRY);
        const claim = async () => deviceLogins.getClaimed(actorOf(request), userCode);
        return approvals.show(request, { action: CONFIRM, claim });
      },
      pageRoute("showApprovalOfCode", "The device login of a typed code"),
    )
    .post(
      CONFIRM,
      ({ request, body }) => {
        // Use the code of the submitted page: another tab may have replaced the cookie.
        const userCode = body.user_code ?? "";
        const decide = (decision: Decision) =>
          deviceLogins.decideClaimed(actorOf(request), { ...decision, userCode });
        return approvals.decide(request, { action: CONFIRM, form: body, decide });
      },
      formRoute(
        ConfirmForm,
        formOperation("sendApprovalOfCode", "Approves or refuses the device login of a typed code"),
      ),
    )
    .get(`${ENTRY}/code/:userCode`, () => seeOther(ENTRY), {
      requires: "nobody",
      detail: redirectOperation("leaveCodeLink", "Redirects to the page that asks for the code"),
    });
}
