// Handles the sign-in form on the page of an ended session (frame/expired.tsx), which carries the entered values. It
// takes the password, and the second factor of accounts that have one.
import { SecondFactorNeeded } from "../../domain/access/second-factor/errors.ts";
import { Secret } from "../../platform/secret.ts";
import type { Browser, BrowserAttempt, Visitor } from "../auth/browser.ts";
import { attemptCookie, expiredAttemptCookie } from "../auth/cookies.ts";
import { type Failure, PROBLEM_BYTES_MAX } from "../http/problems/problem.ts";
import { counted } from "../metrics/factor-metrics.ts";
import { formFailure, page } from "../pages/html.ts";
import { proofPage } from "../pages/second-factor/proof.tsx";
import type { RouteContext } from "../router.ts";
import { proofOf } from "../routes/pages/factor-sign-in-pages.ts";
import { type Expired, expiredPage } from "./frame/expired.tsx";
import { isInParts, type Kept, keptFields, SIGN_IN_FIELDS } from "./frame/kept-fields.tsx";

export interface SignedInAgain {
  visitor: Visitor;
  /** Set-Cookie values for the response */
  cookies: readonly string[];
}

type Sent = Kept & { request: Request };

/**
 * @returns a function that signs in the sender of a form, or answers with the sign-in page
 * @throws DomainError `access.foreign_origin` for a form on a page of another site, which must not choose the entered
 * values
 */
export function createSignInAgain(context: RouteContext, browser: Browser) {
  const { domain, baseUrl, countFactor } = context;
  const { factorSignIns, settings } = domain.access;
  const hasPasswords = settings.identityMode !== "oidc";

  /** @param sent without `fields` if they were not read */
  const ask = ({ request, ...sent }: Omit<Expired, "branding">, failure?: Failure): Response => {
    browser.checkOrigin(request);
    const email = sent.fields?.[SIGN_IN_FIELDS.email];
    const offer = hasPasswords ? { ...browser.anonymousForm(request), email, failure } : undefined;
    return expiredPage({ ...sent, request, offer, branding: browser.branding() });
  };

  const askFactor = async (sent: Sent, attempt: BrowserAttempt, failure?: Failure): Promise<Response> => {
    const found = factorSignIns.find(attempt.token);
    if (found?.demand !== "proof") return ask(sent, failure);
    const passkey = await factorSignIns.passkeyRequest(found);
    const html = proofPage({
      purpose: "sign-in",
      action: sent.path,
      csrf: attempt.csrf,
      kept: { fields: { ...keptFields(sent), [SIGN_IN_FIELDS.step]: "factor" }, back: sent.back },
      isInParts: isInParts(sent.request),
      hasApp: found.factors.authenticatorApp !== null,
      passkey,
      error: failure?.message,
      branding: browser.branding(),
    });
    if (Buffer.byteLength(html) > PROBLEM_BYTES_MAX) return ask(sent, failure);
    const cookies = [attemptCookie(attempt.token, baseUrl())];
    return page(html, {
      status: failure?.status ?? 401,
      failure,
      cookies,
      isScripted: passkey !== undefined,
    });
  };

  const withPassword = async ({ request, fields }: Sent): Promise<SignedInAgain> => {
    browser.checkAnonymousForm(request, fields.csrf);
    const { session, cookie, deviceCookie } = await browser.signIn(request, {
      email: fields[SIGN_IN_FIELDS.email] ?? "",
      password: new Secret(fields[SIGN_IN_FIELDS.password] ?? ""),
    });
    return { visitor: browser.visitorOf(request, session.token), cookies: [cookie, deviceCookie] };
  };

  const withFactor = async ({ request, fields }: Sent, attempt: BrowserAttempt): Promise<SignedInAgain> => {
    browser.checkAttemptForm(request, fields.csrf, attempt);
    const proof = proofOf(fields);
    const { session, deviceCookie } = await counted(factorSignIns.prove(attempt, proof), proof, countFactor);
    const given = Object.values(browser.cookiesOf({ sessionToken: session.token, deviceCookie }));
    return {
      visitor: browser.visitorOf(request, session.token),
      cookies: [...given, expiredAttemptCookie(baseUrl())],
    };
  };

  return {
    ask,

    async take(sent: Sent): Promise<SignedInAgain | Response> {
      const { request, fields } = sent;
      const step = fields[SIGN_IN_FIELDS.step];
      const attempt = step === "factor" ? browser.attempt(request) : undefined;
      if (step !== "password" && !attempt) return ask(sent);
      try {
        return attempt ? await withFactor(sent, attempt) : await withPassword(sent);
      } catch (error) {
        if (error instanceof SecondFactorNeeded && error.demand === "proof")
          return await askFactor(sent, browser.begun(request, error.attemptToken));
        const failure = formFailure(error, request);
        return attempt ? await askFactor(sent, attempt, failure) : ask(sent, failure);
      }
    },
  };
}
