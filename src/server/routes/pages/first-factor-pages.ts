// Sets up the first second factor right after the password, for users who must have one. Until then the browser has no
// session; a cookie identifies the sign-in.
import type { SignedInAndSetUp } from "../../../domain/access/sign-in/factor-sign-in.ts";
import { Secret } from "../../../platform/secret.ts";
import type { Browser, BrowserAttempt } from "../../auth/browser.ts";
import { expiredAttemptCookie } from "../../auth/cookies.ts";
import { readOwnPath } from "../../auth/own-path.ts";
import {
  FormField,
  formFailure,
  formOf,
  formOperation,
  formRoute,
  page,
  pageOperation,
  seeOther,
} from "../../pages/html.ts";
import {
  appSetupPage,
  passkeySetupPage,
  recoveryCodesPage,
  setupChoicePage,
} from "../../pages/second-factor/setup.tsx";
import type { RouteContext } from "../../router.ts";
import {
  createStartAgain,
  factorPath,
  NextQuery,
  OVER,
  pathWith,
  SETUP,
  type Shown,
} from "./factor-sign-in-pages.ts";

const APP = `${SETUP}/authenticator-app`;
const PASSKEY = `${SETUP}/passkey`;

const AppForm = formOf({ csrf: FormField, next: FormField, setup: FormField, code: FormField });
const PasskeyForm = formOf({ csrf: FormField, next: FormField, name: FormField, answer: FormField });

export function firstFactorPages(context: RouteContext, browser: Browser) {
  const forAttempt = createForAttempt(context, browser);
  const { router, domain } = context;
  firstAppPages(context, browser);
  firstPasskeyPages(context, browser);
  return router.get(
    SETUP,
    ({ request, query }) => {
      const next = readOwnPath(query.callbackURL);
      return forAttempt(request, next, () => {
        const passkeyPath = domain.access.factors.offersPasskeys() ? pathWith(PASSKEY, next) : undefined;
        const branding = browser.branding();
        return page(setupChoicePage({ appPath: pathWith(APP, next), passkeyPath, branding }));
      });
    },
    {
      requires: "nobody",
      query: NextQuery,
      detail: pageOperation("showFactorSetup", "Offers second factors to a user who must have one"),
    },
  );
}

/** @returns a function that runs work for a sign-in that must set up a factor; other sign-ins are redirected */
function createForAttempt(context: RouteContext, browser: Browser) {
  const { factorSignIns } = context.domain.access;
  const startAgain = createStartAgain(context, browser);
  return async (
    request: Request,
    next: string | undefined,
    work: (attempt: BrowserAttempt) => Response | Promise<Response>,
  ): Promise<Response> => {
    const attempt = browser.attempt(request);
    const found = attempt && factorSignIns.find(attempt.token);
    if (!attempt || !found) return startAgain(request, next);
    if (found.demand !== "enrollment") return seeOther(factorPath("proof", next));
    return await work(attempt);
  };
}

/** @returns a function that signs the browser in and shows the recovery codes */
const createFinish =
  ({ baseUrl }: RouteContext, browser: Browser) =>
  (signedIn: SignedInAndSetUp, next: string | undefined): Response => {
    const given = { sessionToken: signedIn.session.token, deviceCookie: signedIn.deviceCookie };
    const cookies = [...Object.values(browser.cookiesOf(given)), expiredAttemptCookie(baseUrl())];
    const codes = signedIn.recoveryCodes.map((code) => code.reveal());
    if (codes.length === 0) return seeOther(next ?? "/", cookies);
    const html = recoveryCodesPage({ codes, next: next ?? "/", branding: browser.branding() });
    return page(html, { cookies });
  };

function firstAppPages(context: RouteContext, browser: Browser) {
  const { factorSignIns } = context.domain.access;
  const startAgain = createStartAgain(context, browser);
  const forAttempt = createForAttempt(context, browser);
  const finish = createFinish(context, browser);

  const showApp = (request: Request, { next, setup, failure }: Shown & { setup?: string | undefined }) =>
    forAttempt(request, next, (attempt) => {
      const { secret, uri, sealed } =
        setup === undefined ? factorSignIns.startApp(attempt) : factorSignIns.resumeApp(attempt, setup);
      const places = { action: APP, back: pathWith(SETUP, next), csrf: attempt.csrf, next };
      const texts = { secret: secret.reveal(), uri: uri.reveal(), sealed, error: failure?.message };
      return page(appSetupPage({ ...places, ...texts, branding: browser.branding() }), { failure });
    });

  return context.router
    .get(APP, ({ request, query }) => showApp(request, { next: readOwnPath(query.callbackURL) }), {
      requires: "nobody",
      query: NextQuery,
      detail: pageOperation("showFirstAppSetup", "Shows the QR code of the first authenticator app"),
    })
    .post(
      APP,
      ({ request, body }) => {
        const next = readOwnPath(body.next);
        const { setup = "", code = "" } = body;
        return forAttempt(request, next, async (attempt) => {
          browser.checkAttemptForm(request, body.csrf, attempt);
          try {
            const given = { sealed: setup, code: new Secret(code) };
            return finish(await factorSignIns.addApp(attempt, given), next);
          } catch (error) {
            const failure = formFailure(error, request);
            if (failure.reason === OVER) return startAgain(request, next);
            const kept = failure.reason === "second_factor.code_wrong" ? setup : undefined;
            return await showApp(request, { next, setup: kept, failure });
          }
        });
      },
      formRoute(AppForm, formOperation("sendFirstAppSetup", "Adds the first authenticator app and signs in")),
    );
}

function firstPasskeyPages(context: RouteContext, browser: Browser) {
  const { factorSignIns } = context.domain.access;
  const startAgain = createStartAgain(context, browser);
  const forAttempt = createForAttempt(context, browser);
  const finish = createFinish(context, browser);

  const showPasskey = (request: Request, { next, failure }: Shown) =>
    forAttempt(request, next, async (attempt) => {
      const options = await factorSignIns.startPasskey(attempt);
      const places = { action: PASSKEY, back: pathWith(SETUP, next), csrf: attempt.csrf, next };
      const shown = { ...places, options, error: failure?.message, branding: browser.branding() };
      return page(passkeySetupPage(shown), { failure, isScripted: true });
    });

  return context.router
    .get(PASSKEY, ({ request, query }) => showPasskey(request, { next: readOwnPath(query.callbackURL) }), {
      requires: "nobody",
      query: NextQuery,
      detail: pageOperation("showFirstPasskeySetup", "Asks the browser for the first passkey"),
    })
    .post(
      PASSKEY,
      ({ request, body }) => {
        const next = readOwnPath(body.next);
        const { name = "", answer = "" } = body;
        return forAttempt(request, next, async (attempt) => {
          browser.checkAttemptForm(request, body.csrf, attempt);
          try {
            return finish(await factorSignIns.addPasskey(attempt, { name, answer }), next);
          } catch (error) {
            const failure = formFailure(error, request);
            if (failure.reason === OVER) return startAgain(request, next);
            return await showPasskey(request, { next, failure });
          }
        });
      },
      formRoute(PasskeyForm, formOperation("sendFirstPasskey", "Adds the first passkey and signs in")),
    );
}
