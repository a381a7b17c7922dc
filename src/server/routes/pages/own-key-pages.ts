// Gateway key forms of the account page. gateway.ts has the same operations as an API.
import type { KeyRequest } from "../../../domain/gateway/keys/keys.ts";
import { ProvisionerError } from "../../../domain/gateway/provisioners/provisioner.ts";
import type { Browser } from "../../auth/browser.ts";
import { actorOf, principalOf } from "../../http/exchange.ts";
import { ACCOUNT_PATH, accountPathAfter } from "../../pages/account/account-view.ts";
import { REVOKING_OWN_KEY } from "../../pages/account/key-words.ts";
import { confirmationPage } from "../../pages/confirmation.tsx";
import { FormField, formOf, formOperation, page, pageRoute, seeOther, signInPath } from "../../pages/html.ts";
import type { RouteContext } from "../../router.ts";
import { confirmPath, needsConfirmation } from "./factor-confirmation-pages.ts";

const PlainForm = formOf({ csrf: FormField });
const KEY_PATH = `${ACCOUNT_PATH}/gateway-key`;

export function ownKeyPages({ router, domain }: RouteContext, browser: Browser) {
  const { keys } = domain.gateway;

  /** A refusal by the gateway is not an error, because the page shows it in the key's state. */
  const change = async (
    request: Request,
    csrf: string | undefined,
    work: (keyRequest: KeyRequest) => Promise<unknown>,
  ): Promise<Response> => {
    const visitor = browser.visitor(request);
    if (!visitor) return seeOther(signInPath(ACCOUNT_PATH));
    browser.checkForm(request, csrf, visitor);
    const { userId: id, email } = principalOf(request);
    try {
      await work({ actor: actorOf(request), user: { id, email } });
    } catch (error) {
      if (needsConfirmation(error)) return seeOther(confirmPath(ACCOUNT_PATH));
      if (!(error instanceof ProvisionerError)) throw error;
    }
    return seeOther(accountPathAfter("key"));
  };

  const form = { requires: "nobody", accepts: "form", body: PlainForm } as const;
  return router
    .post(
      `${KEY_PATH}/ensure`,
      ({ request, body }) =>
        change(request, body.csrf, (keyRequest) => keys.ensure({ ...keyRequest, manual: true })),
      { ...form, detail: formOperation("sendEnsureKeyForm", "Creates a working gateway key for the user") },
    )
    .post(
      `${KEY_PATH}/validate`,
      ({ request, body }) => change(request, body.csrf, (keyRequest) => keys.validate(keyRequest)),
      { ...form, detail: formOperation("sendValidateKeyForm", "Checks the user's key at the gateway") },
    )
    .post(
      `${KEY_PATH}/rotate`,
      ({ request, body }) => change(request, body.csrf, (keyRequest) => keys.rotate(keyRequest)),
      { ...form, detail: formOperation("sendRotateKeyForm", "Replaces the user's gateway key") },
    )
    .get(
      `${KEY_PATH}/revoke`,
      ({ request }) => {
        const visitor = browser.visitor(request);
        if (!visitor) return seeOther(signInPath(`${KEY_PATH}/revoke`));
        const { csrf } = visitor;
        return page(confirmationPage({ ...REVOCATION, csrf, branding: browser.branding() }));
      },
      pageRoute("showRevokeKey", "Asks before the gateway key is revoked"),
    )
    .post(
      `${KEY_PATH}/revoke`,
      ({ request, body }) => change(request, body.csrf, (keyRequest) => keys.revoke(keyRequest)),
      { ...form, detail: formOperation("sendRevokeKeyForm", "Revokes the user's gateway key") },
    );
}

const REVOCATION = {
  title: "Revoke your gateway key?",
  consequences: REVOKING_OWN_KEY,
  action: `${KEY_PATH}/revoke`,
  verb: "Revoke key",
  back: ACCOUNT_PATH,
};
