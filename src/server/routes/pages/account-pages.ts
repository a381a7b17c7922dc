// Sign-in, landing and sign-out pages, and the style sheet. The access area manages passwords and sessions.
import { Type } from "@sinclair/typebox";
import { SecondFactorNeeded } from "../../../domain/access/second-factor/errors.ts";
import { SIGNED_OUT_PATH } from "../../../domain/sso/service.ts";
import { DomainError } from "../../../platform/errors.ts";
import { Secret } from "../../../platform/secret.ts";
import type { Browser, Visitor } from "../../auth/browser.ts";
import { attemptCookie, expiredSessionCookie } from "../../auth/cookies.ts";
import { readOwnPath } from "../../auth/own-path.ts";
import { CONSOLE } from "../../console/frame/navigation.ts";
import { prepareResponse, respondConditionally } from "../../http/conditional.ts";
import { actorOf } from "../../http/exchange.ts";
import { operation } from "../../openapi.ts";
import {
  iconBody,
  iconPath,
  passkeyScriptBody,
  passkeyScriptPath,
  styleSheetBody,
  styleSheetPath,
} from "../../pages/assets.ts";
import {
  chooseSignInPath,
  FormField,
  formFailure,
  formOf,
  formOperation,
  formRoute,
  page,
  pageOperation,
  pageRoute,
  redirectOperation,
  seeOther,
} from "../../pages/html.ts";
import {
  accountPage,
  leavePage,
  type ProviderOffer,
  signedOutPage,
  signInPage,
} from "../../pages/sign-in.tsx";
import type { RouteContext } from "../../router.ts";
import { factorPath } from "./factor-sign-in-pages.ts";
import { PROVIDER_SIGN_IN_PATH } from "./provider-pages.ts";

const SignInForm = formOf({ csrf: FormField, next: FormField, email: FormField, password: FormField });
const SignOutForm = formOf({ csrf: FormField, next: FormField });

/** @returns the sign-in page and its form */
export function signInPages({ router, domain, baseUrl }: RouteContext, browser: Browser) {
  /** @returns the sign-in at the provider that the page offers; undefined without a provider */
  const offer = ({ next, wantsPassword }: Wanted): ProviderOffer | undefined => {
    const settings = domain.sso.settings();
    if (!settings) return undefined;
    const way = next === undefined ? "" : `callbackURL=${encodeURIComponent(next)}`;
    const href = way === "" ? PROVIDER_SIGN_IN_PATH : `${PROVIDER_SIGN_IN_PATH}?${way}`;
    const isOnlyWay = domain.access.settings.identityMode === "oidc";
    const recoveryHref = isOnlyWay && !wantsPassword ? `/login?password=1${way && `&${way}`}` : undefined;
    const isRecovery = isOnlyWay && wantsPassword;
    return { name: settings.providerName, href, isRecovery, ...(recoveryHref && { recoveryHref }) };
  };

  return router
    .get(
      "/login",
      ({ request, query }) => {
        const next = readOwnPath(query.callbackURL);
        if (browser.visitor(request)) return seeOther(next ?? "/");
        const provider = offer({ next, wantsPassword: query.password !== undefined });
        const branding = browser.branding();
        if (
          provider &&
          domain.sso.settings()?.autoRedirect &&
          query.choose === undefined &&
          query.password === undefined
        )
          return page(leavePage({ to: provider.href, title: `Continue with ${provider.name}`, branding }));
        const { csrf, cookies } = browser.anonymousForm(request);
        return page(signInPage({ csrf, next, provider, branding }), { cookies });
      },
      {
        requires: "nobody",
        query: formOf({ callbackURL: FormField, choose: FormField, password: FormField }),
        detail: pageOperation(
          "showSignInPage",
          "Offers the identity provider, or asks for e-mail and password",
        ),
      },
    )
    .post(
      "/login",
      async ({ request, body }) => {
        const { csrf, email = "", password = "" } = body;
        browser.checkAnonymousForm(request, csrf);
        const next = readOwnPath(body.next);
        try {
          const { cookie, deviceCookie } = await browser.signIn(request, {
            email,
            password: new Secret(password),
          });
          return seeOther(next ?? "/", [cookie, deviceCookie]);
        } catch (error) {
          if (error instanceof SecondFactorNeeded)
            return seeOther(factorPath(error.demand, next), [attemptCookie(error.attemptToken, baseUrl())]);
          const failure = formFailure(error, request);
          const provider = offer({ next, wantsPassword: true });
          const form = { ...browser.anonymousForm(request), next, email, provider, error: failure.message };
          return page(signInPage({ ...form, branding: browser.branding() }), { failure });
        }
      },
      formRoute(SignInForm, formOperation("sendSignInForm", "Signs a browser in")),
    );
}

interface Wanted {
  /** path to continue at */
  next: string | undefined;
  /** whether the visitor requested the recovery password */
  wantsPassword: boolean;
}

/** @returns the landing page and sign-out */
export function accountPages({ router, domain, baseUrl, hasConsole }: RouteContext, browser: Browser) {
  const { sessions } = domain.access;

  /** @returns the sign-out address of the provider, if the session there must end too and the provider answers */
  const providerLogout = async ({ sessionToken, principal }: Visitor) => {
    const settings = domain.sso.settings();
    if (settings?.logout !== "idp" || sessions.find(sessionToken)?.method !== "oidc") return undefined;
    const back = { postLogoutRedirectUri: `${baseUrl()}${SIGNED_OUT_PATH}`, loginHint: principal.email };
    const to = await domain.sso.provider.endSessionUrl(back).catch((error: unknown) => {
      if (error instanceof DomainError) return undefined; // signing out here must not depend on the provider
      throw error;
    });
    return to === undefined ? undefined : { to, title: `Sign out at ${settings.providerName}` };
  };

  return router
    .get(
      "/",
      ({ request }) => {
        const visitor = browser.visitor(request);
        if (!visitor) return seeOther("/login");
        if (hasConsole !== false) return seeOther(CONSOLE);
        const { csrf, principal } = visitor;
        const { email, role } = principal;
        return page(accountPage({ email, role, csrf, branding: browser.branding() }));
      },
      pageRoute("showAccountPage", "The start page of a signed-in browser"),
    )
    .post(
      "/sign-out",
      async ({ request, body }) => {
        const next = readOwnPath(body.next);
        const leave = next === undefined ? "/sign-out" : chooseSignInPath(next);
        const visitor = browser.visitor(request);
        if (!visitor) return seeOther(leave);
        browser.checkForm(request, body.csrf, visitor);
        const provider = await providerLogout(visitor);
        await sessions.end(visitor.sessionToken, actorOf(request));
        const cookies = [expiredSessionCookie(baseUrl())];
        if (!provider || next !== undefined) return seeOther(leave, cookies);
        return page(leavePage({ ...provider, branding: browser.branding() }), { cookies });
      },
      formRoute(
        SignOutForm,
        formOperation("sendSignOutForm", "Ends the browser session; workstations stay signed in"),
      ),
    )
    .get(
      "/sign-out",
      ({ request }) => {
        if (browser.visitor(request)) return seeOther("/");
        return page(signedOutPage({ branding: browser.branding() }));
      },
      pageRoute("showSignedOutPage", "Confirms the sign-out"),
    )
    .get(SIGNED_OUT_PATH, () => seeOther("/sign-out"), {
      requires: "nobody",
      detail: redirectOperation(
        "returnFromProviderLogout",
        "Where the provider sends the browser after a sign-out",
      ),
    });
}

/** @returns the routes of the style sheet, the icon and the script, whose names change with their content */
export function assetRoutes({ router }: RouteContext) {
  const cacheControl = "public, max-age=31536000, immutable";
  const styleSheet = prepareResponse(Buffer.from(styleSheetBody), {
    contentType: "text/css; charset=utf-8",
    cacheControl,
  });
  const icon = prepareResponse(Buffer.from(iconBody), { contentType: "image/svg+xml", cacheControl });
  const passkeyScript = prepareResponse(Buffer.from(passkeyScriptBody), {
    contentType: "text/javascript; charset=utf-8",
    cacheControl,
  });
  const describe = (operationId: string, summary: string, mediaType: string) =>
    operation(operationId, summary, {
      tags: ["Pages"],
      answers: { 200: { description: summary, schema: Type.String(), mediaType } },
    });
  return router
    .get(styleSheetPath, ({ request }) => respondConditionally(request, styleSheet), {
      requires: "nobody",
      detail: describe("getStyleSheet", "Style sheet of the pages", "text/css"),
    })
    .get(passkeyScriptPath, ({ request }) => respondConditionally(request, passkeyScript), {
      requires: "nobody",
      detail: describe("getPasskeyScript", "Script of the pages that ask for a passkey", "text/javascript"),
    })
    .get(iconPath, ({ request }) => respondConditionally(request, icon), {
      requires: "nobody",
      detail: describe("getIcon", "Icon and logo of pages without branding", "image/svg+xml"),
    });
}
