// The reader's account, and the form that changes the password.
import { PASSWORD_LENGTH_MIN } from "../../../../domain/identity/users/passwords.ts";
import { Secret } from "../../../../platform/secret.ts";
import type { Browser } from "../../../auth/browser.ts";
import type { Console } from "../../../console/console.ts";
import { ownAccountPage } from "../../../console/own/own-account.tsx";
import { OWN_ACCOUNT_PATH } from "../../../console/own/words.ts";
import type { Reader } from "../../../console/reader.ts";
import type { Failure } from "../../../http/problems/problem.ts";
import { factorsIn, PASSWORD_CHANGED } from "../../../pages/account/account-view.ts";
import { passwordErrorOf } from "../../../pages/account/password-fields.tsx";
import { FormField, formFailure, formOf, formOperation, formRoute, pageRoute } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";

const PasswordForm = formOf({
  csrf: FormField,
  by: FormField,
  current_password: FormField,
  new_password: FormField,
});

export function ownAccountPages({ router, domain }: RouteContext, console: Console, browser: Browser) {
  const { passwordChanges, ownFactors } = domain.access;

  const account = ({ actor, organizationId, visitor }: Reader, failure?: Failure) => {
    const { email, role, userId } = visitor.principal;
    const error = failure && passwordErrorOf(failure);
    return ownAccountPage({
      email,
      role,
      through: visitor.through,
      status: failure?.status,
      source: domain.identity.users.find(organizationId, userId).provisioningSource,
      ...(passwordChanges.hasPassword(actor) && { password: { minimumLength: PASSWORD_LENGTH_MIN, error } }),
      secondFactors: factorsIn(ownFactors.view(actor)),
    });
  };

  return router
    .get(
      OWN_ACCOUNT_PATH,
      ({ request }) => console.show(request, "anyone", (reader) => account(reader)),
      pageRoute("showOwnAccount", "The reader's account"),
    )
    .post(
      `${OWN_ACCOUNT_PATH}/password`,
      ({ request, body }) =>
        console.act(request, body, { needs: "anyone", back: OWN_ACCOUNT_PATH }, async (reader) => {
          const current = new Secret(body.current_password ?? "");
          const next = new Secret(body.new_password ?? "");
          const { sessionId } = reader.visitor;
          try {
            const change = await passwordChanges.change(reader.actor, { current, next, sessionId });
            const cookies = Object.values(browser.cookiesOf(change));
            return { to: OWN_ACCOUNT_PATH, cookies, notice: PASSWORD_CHANGED };
          } catch (error) {
            return account(reader, formFailure(error, request));
          }
        }),
      formRoute(
        PasswordForm,
        formOperation("sendOwnPassword", "Changes the reader's password and signs other browsers out"),
      ),
    );
}
