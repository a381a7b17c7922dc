// The confirmation for sensitive operations. It requires the second factor, or the password of a user without one, or a
// sign-in at the identity provider for an account with neither.
import { DomainError } from "../../../platform/errors.ts";
import { Secret } from "../../../platform/secret.ts";
import type { Browser, Visitor } from "../../auth/browser.ts";
import { readOwnPath } from "../../auth/own-path.ts";
import { actorOf } from "../../http/exchange.ts";
import { counted } from "../../metrics/factor-metrics.ts";
import { ACCOUNT_PATH } from "../../pages/account/account-view.ts";
import {
  FormField,
  formFailure,
  formOf,
  formOperation,
  formRoute,
  page,
  pageOperation,
  seeOther,
  signInPath,
} from "../../pages/html.ts";
import {
  passwordConfirmationPage,
  proofPage,
  providerConfirmationPage,
} from "../../pages/second-factor/proof.tsx";
import type { RouteContext } from "../../router.ts";
import { proofOf, type Shown } from "./factor-sign-in-pages.ts";
import { signInAgainPath } from "./provider-pages.ts";

export const FACTORS = `${ACCOUNT_PATH}/second-factor`;
const CONFIRM = `${FACTORS}/confirm`;

const ConfirmQuery = formOf({ next: FormField });
const ConfirmForm = formOf({
  csrf: FormField,
  next: FormField,
  code: FormField,
  answer: FormField,
  password: FormField,
});

/** @returns the path of the page that confirms the browser and continues to `next` */
export const confirmPath = (next: string): string => leadingTo(CONFIRM, next);

/** @returns the path of a page that continues to `next` */
export const leadingTo = (path: string, next: string | undefined): string =>
  next === undefined ? path : `${path}?next=${encodeURIComponent(next)}`;

/** @returns whether an error means that the browser must be confirmed first */
export const needsConfirmation = (error: unknown): boolean =>
  error instanceof DomainError && error.reason === "access.confirmation_needed";

/**
 * @param back path to continue to afterwards
 * @returns the redirect to the required step; undefined for any other error
 */
export function detourOf(error: unknown, back: string): Response | undefined {
  if (needsConfirmation(error)) return seeOther(confirmPath(back));
  const needsFactor =
    error instanceof DomainError && error.reason === "access.second_factor_enrollment_needed";
  return needsFactor ? seeOther(leadingTo(FACTORS, back)) : undefined;
}

export type Work = (visitor: Visitor, session: ReturnType<typeof sessionOf>) => Response | Promise<Response>;

/** @returns the visitor in the form that the domain expects */
export const sessionOf = (request: Request, { sessionId }: Visitor) => ({
  actor: actorOf(request),
  sessionId,
});

/** @returns a function that runs work for a signed-in visitor, after a confirmation if the domain requires one */
export const createForVisitor =
  (browser: Browser) =>
  async (request: Request, back: string, work: Work): Promise<Response> => {
    const visitor = browser.visitor(request);
    if (!visitor) return seeOther(signInPath(back));
    try {
      return await work(visitor, sessionOf(request, visitor));
    } catch (error) {
      if (needsConfirmation(error)) return seeOther(confirmPath(back));
      throw error;
    }
  };

export function confirmationPages({ router, domain, countFactor }: RouteContext, browser: Browser) {
  const { ownFactors } = domain.access;
  const forVisitor = createForVisitor(browser);

  const show = async (
    visitor: Visitor,
    session: ReturnType<typeof sessionOf>,
    { next, failure }: Shown,
  ): Promise<Response> => {
    const { csrf } = visitor;
    const shown = { action: CONFIRM, csrf, next, error: failure?.message, branding: browser.branding() };
    const kind = ownFactors.confirmsWith(session.actor);
    if (kind === "provider") {
      const providerName = domain.sso.settings()?.providerName;
      const provider =
        providerName === undefined
          ? undefined
          : { name: providerName, href: signInAgainPath(next ?? FACTORS) };
      return page(providerConfirmationPage({ provider, branding: browser.branding() }), { failure });
    }
    if (kind === "password") {
      const html = passwordConfirmationPage({ ...shown, email: visitor.principal.email });
      return page(html, { failure });
    }
    const hasApp = ownFactors.view(session.actor)?.authenticatorApp != null;
    const passkey = await ownFactors.passkeyRequest(session);
    const html = proofPage({ ...shown, purpose: "confirm", hasApp, passkey });
    return page(html, { failure, isScripted: passkey !== undefined });
  };

  return router
    .get(
      CONFIRM,
      ({ request, query }) =>
        forVisitor(request, CONFIRM, (visitor, session) =>
          show(visitor, session, { next: readOwnPath(query.next) }),
        ),
      {
        requires: "nobody",
        query: ConfirmQuery,
        detail: pageOperation("showConfirmation", "Asks for confirmation of the identity"),
      },
    )
    .post(
      CONFIRM,
      ({ request, body }) =>
        forVisitor(request, CONFIRM, async (visitor, session) => {
          browser.checkForm(request, body.csrf, visitor);
          const next = readOwnPath(body.next);
          try {
            if (body.password === undefined) {
              const proof = proofOf(body);
              await counted(ownFactors.confirm(session, proof), proof, countFactor);
            } else await ownFactors.confirmWithPassword(session, new Secret(body.password));
            return seeOther(next ?? FACTORS);
          } catch (error) {
            return await show(visitor, session, { next, failure: formFailure(error, request) });
          }
        }),
      formRoute(ConfirmForm, formOperation("sendConfirmation", "Confirms this browser for 10 minutes")),
    );
}
