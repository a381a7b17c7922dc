// The reader's gateway key: state, provisioning, check, replacement, and revocation.
import type { KeyChange } from "../../../../domain/gateway/keys/keys.ts";
import { ProvisionerError } from "../../../../domain/gateway/provisioners/provisioner.ts";
import type { Console } from "../../../console/console.ts";
import { featureOffPage } from "../../../console/frame/refusals.tsx";
import { ownKeyPage, revokeOwnKeyPage } from "../../../console/own/own-key.tsx";
import { OWN_KEY_PATH } from "../../../console/own/words.ts";
import type { Reader } from "../../../console/reader.ts";
import { FormField, formOf, formOperation, formRoute, pageRoute } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";

const Form = formOf({ csrf: FormField, by: FormField });
const VersionForm = formOf({ csrf: FormField, by: FormField, version: FormField });

export function ownConsoleKeyPages({ router, domain }: RouteContext, console: Console) {
  const { keys } = domain.gateway;
  const isOff = (reader: Reader) =>
    console.has("gateway")
      ? undefined
      : featureOffPage("Your gateway key", { setting: "gateway.type", reader });

  /** A refusal by the gateway is not an error, because the page shows it in the key's state. */
  const change = (
    request: Request,
    body: Readonly<Record<string, string | undefined>>,
    work: (keyRequest: KeyChange) => Promise<unknown>,
  ) =>
    console.act(request, body, { needs: "anyone", back: OWN_KEY_PATH }, async (reader) => {
      const { userId: id, email } = reader.visitor.principal;
      const off = isOff(reader);
      if (off) return off;
      try {
        await work({ actor: reader.actor, user: { id, email }, version: body.version });
      } catch (error) {
        if (!(error instanceof ProvisionerError)) throw error;
      }
      return { to: OWN_KEY_PATH, notice: "The current state of your gateway key is shown below." };
    });

  return router
    .get(
      OWN_KEY_PATH,
      ({ request }) =>
        console.show(request, "anyone", (reader) => {
          const { userId: id, email } = reader.visitor.principal;
          return isOff(reader) ?? ownKeyPage(keys.status({ id, email }), keys.versionOf({ id, email }));
        }),
      pageRoute("showOwnKey", "The state of the reader's gateway key"),
    )
    .post(
      `${OWN_KEY_PATH}/ensure`,
      ({ request, body }) =>
        change(request, body, (keyRequest) => keys.ensure({ ...keyRequest, manual: true })),
      formRoute(Form, formOperation("sendEnsureOwnKey", "Creates a working gateway key for the reader")),
    )
    .post(
      `${OWN_KEY_PATH}/validate`,
      ({ request, body }) => change(request, body, (keyRequest) => keys.validate(keyRequest)),
      formRoute(Form, formOperation("sendValidateOwnKey", "Checks the reader's key at the gateway")),
    )
    .post(
      `${OWN_KEY_PATH}/rotate`,
      ({ request, body }) => change(request, body, (keyRequest) => keys.rotate(keyRequest)),
      formRoute(VersionForm, formOperation("sendRotateOwnKey", "Replaces the reader's gateway key")),
    )
    .get(
      `${OWN_KEY_PATH}/revoke`,
      ({ request }) =>
        console.show(request, "anyone", (reader) => {
          const { userId: id, email } = reader.visitor.principal;
          return isOff(reader) ?? revokeOwnKeyPage(email, keys.versionOf({ id, email }));
        }),
      pageRoute("showRevokeOwnKey", "Asks before the reader's gateway key is revoked"),
    )
    .post(
      `${OWN_KEY_PATH}/revoke`,
      ({ request, body }) => change(request, body, (keyRequest) => keys.revoke(keyRequest)),
      formRoute(VersionForm, formOperation("sendRevokeOwnKey", "Revokes the reader's gateway key")),
    );
}
