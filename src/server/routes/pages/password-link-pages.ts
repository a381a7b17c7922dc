// The pages of a one-time link for choosing a password: form, done, or unavailable. Invitations and password links both
// use them.
import { PASSWORD_LENGTH_MIN } from "../../../domain/identity/users/passwords.ts";
import { Secret } from "../../../platform/secret.ts";
import type { Browser } from "../../auth/browser.ts";
import { exchangeOf } from "../../http/exchange.ts";
import { failureOf } from "../../http/problems/problem.ts";
import type { PasswordLinkProps } from "../../pages/forms.tsx";
import { FormField, formOf, formRoute, page, type pageOperation, seeOther } from "../../pages/html.ts";
import type { Branding } from "../../pages/layout.tsx";
import type { RouteContext } from "../../router.ts";

const LinkQuery = formOf({ token: FormField });
const PasswordForm = formOf({ csrf: FormField, token: FormField, password: FormField });

export interface PasswordLinkPages {
  /** name of the router */
  path: string;
  /** error reason of an unusable link */
  unavailableReason: string;
  /** @returns the page for an unusable link */
  unavailablePage(shown: { branding: Branding }): string;
  /** @returns a page to show instead of the form; undefined for the form. @throws for an unusable link */
  insteadOfForm?(token: Secret): string | undefined;
  /** @returns the page that asks for the password. @throws for an unusable link */
  formPage(form: Omit<PasswordLinkProps, "email">): string;
  donePage(shown: { branding: Branding }): string;
  /** Consumes the link. @throws `identity.invalid` for a password that is not accepted */
  use(given: { token: Secret; password: Secret; requestId: string; address?: string }): Promise<unknown>;
  operations: Readonly<Record<"show" | "send" | "done", ReturnType<typeof pageOperation>>>;
}

export function passwordLinkPages({ router }: RouteContext, browser: Browser, link: PasswordLinkPages) {
  const form = (request: Request, { token, error, status }: Shown): Response => {
    const { csrf, cookies } = browser.anonymousForm(request);
    const shown = { csrf, token, error, minimumPasswordLength: PASSWORD_LENGTH_MIN };
    return page(link.formPage({ ...shown, branding: browser.branding() }), { status, cookies });
  };

  /** Runs work that reads the link, and shows the page of an unavailable link. */
  const answer = async (work: () => Response | Promise<Response>): Promise<Response> => {
    try {
      return await work();
    } catch (error) {
      const failure = failureOf(error);
      if (failure?.reason !== link.unavailableReason) throw error;
      return page(link.unavailablePage({ branding: browser.branding() }), { status: failure.status });
    }
  };

  return router
    .get(
      link.path,
      ({ request, query: { token = "" } }) =>
        answer(() => {
          const other = link.insteadOfForm?.(new Secret(token));
          return other === undefined ? form(request, { token }) : page(other);
        }),
      { requires: "nobody", query: LinkQuery, detail: link.operations.show },
    )
    .post(
      link.path,
      ({ request, body: { csrf, token = "", password = "" } }) => {
        browser.checkAnonymousForm(request, csrf);
        const { requestId, address } = exchangeOf(request);
        const origin = { requestId, ...(address !== null && { address }) };
        return answer(async () => {
          try {
            await link.use({ token: new Secret(token), password: new Secret(password), ...origin });
            return seeOther(`${link.path}/done`);
          } catch (error) {
            const failure = failureOf(error);
            if (failure?.reason !== "identity.invalid") throw error;
            const detail = failure.problems.map((problem) => problem.detail).join("; ");
            return form(request, { token, error: detail, status: failure.status });
          }
        });
      },
      formRoute(PasswordForm, link.operations.send),
    )
    .get(`${link.path}/done`, () => page(link.donePage({ branding: browser.branding() })), {
      requires: "nobody",
      detail: link.operations.done,
    });
}

interface Shown {
  token: string;
  error?: string;
  status?: number;
}
