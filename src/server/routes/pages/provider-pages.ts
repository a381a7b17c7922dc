// Pages of sign-in at the identity provider: the redirect there, the callback, and the form that links a local account
// by its password.
import { Type } from "@sinclair/typebox";
import { SecondFactorNeeded } from "../../../domain/access/second-factor/errors.ts";
import { CALLBACK_PATH } from "../../../domain/sso/service.ts";
import { DomainError } from "../../../platform/errors.ts";
import { Secret } from "../../../platform/secret.ts";
import type { Browser, Visitor } from "../../auth/browser.ts";
import { deviceCookieOf } from "../../auth/cookies.ts";
import { readOwnPath } from "../../auth/own-path.ts";
import { createProviderSignIn, returningBrowser, unknownProvider } from "../../auth/provider-sign-in.ts";
import { exchangeOf } from "../../http/exchange.ts";
import {
  chooseSignInPath,
  FormField,
  formFailure,
  formOf,
  formOperation,
  formRoute,
  page,
  redirectOperation,
  seeOther,
} from "../../pages/html.ts";
import { alreadySignedInPage, proofPage } from "../../pages/sign-in.tsx";
import type { RouteContext } from "../../router.ts";

/** Where the browser goes to sign in at the provider. */
export const PROVIDER_SIGN_IN_PATH = "/login/oidc";

/** @returns the path for confirming a signed-in user at the provider, which then continues to `next` */
export const signInAgainPath = (next: string): string =>
  `${PROVIDER_SIGN_IN_PATH}?prompt=login&callbackURL=${encodeURIComponent(next)}`;

const LINK_PATH = "/login/link";

/** Texts for the person at the page. They replace the generic ones. */
const PROOF_TEXTS = new Map([
  ["access.sign_in_failed", "the password is wrong, or the account cannot sign in"],
  [
    "access.second_factor_needed",
    "this account also needs its second factor: enter the code of your authenticator app, or a recovery code",
  ],
]);

const ProofForm = formOf({ csrf: FormField, proof: FormField, password: FormField, code: FormField });

export function providerPages(context: RouteContext, browser: Browser) {
  const { router, domain, baseUrl } = context;
  const { sso } = domain;
  const signIn = createProviderSignIn(context);

  return router
    .get(
      PROVIDER_SIGN_IN_PATH,
      async ({ request, query }) => {
        const settings = sso.settings();
        const next = readOwnPath(query.callbackURL);
        if (!settings) return seeOther("/login");
        const visitor = browser.visitor(request);
        const isForced = query.prompt === "login";
        if (visitor && !isForced) return seeOther(next ?? "/");
        signIn.limit(request);
        const loginHint = visitor?.principal.email ?? query.login_hint;
        return seeOther(await signIn.begin(request, settings, { next, loginHint, isForced }));
      },
      {
        requires: "nobody",
        query: formOf({ callbackURL: FormField, login_hint: FormField, prompt: FormField }),
        detail: redirectOperation("startProviderSignIn", "Redirects to the identity provider"),
      },
    )
    .get(
      `${CALLBACK_PATH}/:providerId`,
      async ({ request, params }) => {
        const settings = sso.settings();
        if (settings?.providerId !== params.providerId) throw unknownProvider();
        signIn.limit(request);
        const visitor = browser.visitor(request);
        if (visitor && !signIn.isUnderWay(request)) {
          return page(alreadySignedIn(visitor, browser));
        }
        const taken = signIn.take(request);
        const { next, startedMs } = taken;
        exchangeOf(request).next = next;
        const person = await signIn.finish(taken, settings).catch(asInteraction);
        if (!person) return seeOther(chooseSignInPath(next));
        const returning = { ...returningBrowser(request, baseUrl()), startedMs };
        const admitted = await sso.admission.admit(person, returning);
        if (admitted.kind === "signed_in" && admitted.isRoleKept)
          exchangeOf(request).warning = "sign_in.role_kept";
        if (admitted.kind === "signed_in") return seeOther(next ?? "/", [signIn.cookieOf(admitted.session)]);
        const form = browser.anonymousForm(request);
        const proof = sso.proofs.seal({ person, callbackURL: next }, form.csrf);
        const { email } = admitted;
        return page(proofPage({ ...frameOf(domain, browser), csrf: form.csrf, proof, email }), {
          cookies: form.cookies,
        });
      },
      {
        requires: "nobody",
        params: Type.Object({ providerId: Type.String() }),
        detail: redirectOperation("finishProviderSignIn", "Handles the callback of the provider"),
      },
    );
}

export function accountLinkPages(context: RouteContext, browser: Browser) {
  const { router, domain, baseUrl } = context;
  const { sso } = domain;

  return router.post(
    LINK_PATH,
    async ({ request, body }) => {
      const { csrf = "", proof: sealed = "", password = "" } = body;
      browser.checkAnonymousForm(request, csrf);
      const { person, callbackURL, startedMs } = sso.proofs.open(sealed, csrf);
      const proving = {
        ...returningBrowser(request, baseUrl()),
        startedMs,
        password: new Secret(password),
        ...(body.code !== undefined && { code: new Secret(body.code) }),
        deviceCookie: deviceCookieOf(request, baseUrl()),
      };
      try {
        const { session, deviceCookie } = await sso.admission.prove(person, proving);
        const cookies = browser.cookiesOf({ sessionToken: session.token, deviceCookie });
        return seeOther(readOwnPath(callbackURL) ?? "/", [cookies.cookie, cookies.deviceCookie]);
      } catch (error) {
        const asksCode = body.code !== undefined || error instanceof SecondFactorNeeded;
        const failure = formFailure(error, request);
        const { reason, message } = failure;
        const visitor = browser.visitor(request);
        const isDone = reason === "sso.user_conflict" && visitor?.principal.email === person.email;
        if (visitor && isDone) return page(alreadySignedIn(visitor, browser)); // linked in another tab
        const text = PROOF_TEXTS.get(reason ?? "") ?? message;
        const shown = { csrf, proof: sealed, email: person.email ?? "", asksCode, error: text };
        return page(proofPage({ ...frameOf(domain, browser), ...shown }), { failure });
      }
    },
    formRoute(
      ProofForm,
      formOperation("linkAccount", "Links a local account to the provider by its password"),
    ),
  );
}

const alreadySignedIn = ({ principal: { email } }: Visitor, browser: Browser): string =>
  alreadySignedInPage({ email, branding: browser.branding() });

const frameOf = ({ sso }: RouteContext["domain"], browser: Browser) => ({
  providerName: sso.settings()?.providerName ?? "your organization",
  branding: browser.branding(),
});

/** @returns undefined if the provider only asks the person to act there; anything else continues */
function asInteraction(error: unknown): undefined {
  if (error instanceof DomainError && error.reason === "sso.interaction_required") return undefined;
  throw error;
}
