// The second half of a password sign-in: asks for the second factor. The browser has no session yet; a cookie identifies the
// sign-in. first-factor-pages.ts sets the first factor up.
import type { Demand } from "../../../domain/access/second-factor/model.ts";
import { Secret } from "../../../platform/secret.ts";
import type { Browser } from "../../auth/browser.ts";
import { expiredAttemptCookie } from "../../auth/cookies.ts";
import { readOwnPath } from "../../auth/own-path.ts";
import type { Failure } from "../../http/problems/problem.ts";
import { counted } from "../../metrics/factor-metrics.ts";
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
import { proofPage } from "../../pages/second-factor/proof.tsx";
import { signInPage } from "../../pages/sign-in.tsx";
import type { RouteContext } from "../../router.ts";

const PROOF = "/login/second-factor";
export const SETUP = `${PROOF}/setup`;

export const NextQuery = formOf({ callbackURL: FormField });
const ProofForm = formOf({ csrf: FormField, next: FormField, code: FormField, answer: FormField });

/** @returns the path with the page to continue to in its query */
export const pathWith = (path: string, next: string | undefined): string =>
  next === undefined ? path : `${path}?callbackURL=${encodeURIComponent(next)}`;

/** @returns the path of the page that continues a sign-in */
export const factorPath = (demand: Demand, next: string | undefined): string =>
  pathWith(demand === "enrollment" ? SETUP : PROOF, next);

/** @returns a function that shows the sign-in page after an attempt has ended */
export const createStartAgain =
  ({ baseUrl }: RouteContext, browser: Browser) =>
  (request: Request, next: string | undefined): Response => {
    if (browser.visitor(request)) return seeOther(next ?? "/");
    if (!browser.attempt(request)) return seeOther(pathWith("/login", next));
    const { csrf, cookies } = browser.anonymousForm(request);
    const error = "this sign-in has expired; start again";
    const html = signInPage({ csrf, next, error, branding: browser.branding() });
    return page(html, { status: 401, cookies: [...cookies, expiredAttemptCookie(baseUrl())] });
  };

/** The reason for a sign-in that ended between its page and its form. */
export const OVER = "access.sign_in_expired";

export function factorSignInPages(context: RouteContext, browser: Browser) {
  const { router, domain, baseUrl, countFactor } = context;
  const { factorSignIns } = domain.access;
  const startAgain = createStartAgain(context, browser);

  const show = async (request: Request, { next, failure }: Shown): Promise<Response> => {
    const attempt = browser.attempt(request);
    const found = attempt && factorSignIns.find(attempt.token);
    if (!attempt || !found) return startAgain(request, next);
    if (found.demand === "enrollment") return seeOther(factorPath("enrollment", next));
    const passkey = await factorSignIns.passkeyRequest(found);
    const hasApp = found.factors.authenticatorApp !== null;
    const shown = { purpose: "sign-in", action: PROOF, csrf: attempt.csrf, next, hasApp, passkey } as const;
    const html = proofPage({ ...shown, error: failure?.message, branding: browser.branding() });
    return page(html, { failure, isScripted: passkey !== undefined });
  };

  return router
    .get(PROOF, ({ request, query }) => show(request, { next: readOwnPath(query.callbackURL) }), {
      requires: "nobody",
      query: NextQuery,
      detail: pageOperation("showSecondFactorPage", "Asks for the second factor after the password"),
    })
    .post(
      PROOF,
      async ({ request, body }) => {
        const next = readOwnPath(body.next);
        const attempt = browser.attempt(request);
        if (!attempt) return startAgain(request, next);
        browser.checkAttemptForm(request, body.csrf, attempt);
        const proof = proofOf(body);
        try {
          const signedIn = await counted(factorSignIns.prove(attempt, proof), proof, countFactor);
          const given = { sessionToken: signedIn.session.token, deviceCookie: signedIn.deviceCookie };
          const cookies = Object.values(browser.cookiesOf(given));
          return seeOther(next ?? "/", [...cookies, expiredAttemptCookie(baseUrl())]);
        } catch (error) {
          const failure = formFailure(error, request);
          return failure.reason === OVER ? startAgain(request, next) : await show(request, { next, failure });
        }
      },
      formRoute(ProofForm, formOperation("sendSecondFactor", "Signs a browser in with the second factor")),
    );
}

/** The content of a page in addition to its fixed parts. */
export interface Shown {
  next: string | undefined;
  failure?: Failure;
}

/** @returns the proof in a form: the passkey if the script filled it in, else the code */
export const proofOf = ({ answer, code }: { answer?: string | undefined; code?: string | undefined }) =>
  answer ? { passkey: answer } : { code: new Secret(code ?? "") };
