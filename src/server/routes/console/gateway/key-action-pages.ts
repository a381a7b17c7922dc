// Actions of administrators on one gateway key or all keys: a confirmation page for each action, and the action itself.
import type { User } from "../../../../domain/identity/service.ts";
import { readWord } from "../../../../domain/shared/page.ts";
import { DomainError } from "../../../../platform/errors.ts";
import { runInTurns } from "../../../../platform/steps.ts";
import type { Console, Done } from "../../../console/console.ts";
import type { ConsolePage } from "../../../console/frame/frame.tsx";
import { featureOffPage } from "../../../console/frame/refusals.tsx";
import {
  keyConfirmation,
  reconcileConfirmation,
  whyUnavailable,
} from "../../../console/gateway/key-page.tsx";
import { reconciliationPage, reconciliationPath } from "../../../console/gateway/reconciliation.tsx";
import {
  ACTION_WORDS,
  KEY_ACTIONS,
  KEYS_PATH,
  type KeyAction,
  keyPath,
  PROGRESS_PATH,
  RECONCILE_PATH,
} from "../../../console/gateway/words.ts";
import { listValues } from "../../../console/list/list.ts";
import type { Reader } from "../../../console/reader.ts";
import { HttpError } from "../../../http/problems/problem.ts";
import { FormField, formOf, formOperation, formRoute, pageRoute } from "../../../pages/html.ts";
import { asSentence } from "../../../pages/words.ts";
import type { RouteContext } from "../../../router.ts";

const Form = formOf({ csrf: FormField, by: FormField });
const ActionForm = formOf({ csrf: FormField, by: FormField, version: FormField });

interface RequestedAction {
  user: User;
  action: KeyAction;
  /** version of the key when the form was made, so that sending it again changes no later key */
  version: string | undefined;
}

/** @returns the confirmation pages and the actions on gateway keys */
export function gatewayKeyActionPages({ router, domain }: RouteContext, console: Console) {
  const { directory, administration, keys, figuresInSteps } = domain.gateway;
  const isOff = (reader: Reader): ConsolePage | undefined =>
    console.has("gateway") ? undefined : featureOffPage("Gateway keys", { setting: "gateway.type", reader });
  const userOf = ({ organizationId }: Reader, id: string): User =>
    domain.identity.users.show(organizationId, id.toLowerCase());

  /** If the gateway fails, the message says so and the key shows its state. */
  const perform = async ({ actor }: Reader, { user, action, version }: RequestedAction): Promise<Done> => {
    const to = keyPath(user.id);
    try {
      if (action === "ensure") await administration.ensure({ actor, user, manual: true });
      else if (action === "rotate") await administration.rotate({ actor, user, version });
      else await keys.revoke({ actor, user, version });
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return { to, notice: { kind: "attention", text: asSentence(error.message) } };
    }
    return { to, notice: ACTION_WORDS[action].done(user.email) };
  };

  return router
    .get(
      RECONCILE_PATH,
      ({ request }) =>
        console.show(request, "administrator", (reader) => isOff(reader) ?? reconcileConfirmation()),
      pageRoute("showGatewayKeyReconciliation", "Asks before all gateway keys are reconciled"),
    )
    .post(
      RECONCILE_PATH,
      ({ request, body }) =>
        console.act(request, body, { needs: "administrator", back: KEYS_PATH }, async (reader) => {
          const due = await administration.makeAllDue(reader.actor);
          const text = `Keys that are due now: ${due.keys}. Revocations: ${due.revocations}. The service works through them.`;
          return { to: reconciliationPath(due), notice: text };
        }),
      formRoute(Form, formOperation("sendGatewayKeyReconciliation", "Makes all gateway keys due")),
    )
    .get(
      PROGRESS_PATH,
      ({ request }) =>
        console.show(request, "administrator", async (reader) => {
          const off = isOff(reader);
          return off ?? reconciliationPage(listValues(reader), await runInTurns(figuresInSteps()));
        }),
      pageRoute("showGatewayKeyReconciliationProgress", "Progress of the reconciliation of all gateway keys"),
    )
    .get(
      `${KEYS_PATH}/:user/:action`,
      ({ request, params }) =>
        console.show(request, "administrator", (reader) => {
          const off = isOff(reader);
          if (off) return off;
          const user = userOf(reader, params.user);
          return keyConfirmation({ user, action: actionIn(params.action), version: keys.versionOf(user) });
        }),
      pageRoute("showGatewayKeyActionPage", "Asks before an action on a gateway key"),
    )
    .post(
      `${KEYS_PATH}/:user/:action`,
      ({ request, params, body }) => {
        const needed = { needs: "administrator", back: `${KEYS_PATH}/${params.user}` } as const;
        return console.act(request, body, needed, (reader) => {
          const action = actionIn(params.action);
          const user = userOf(reader, params.user);
          const why = whyUnavailable(user, directory.show(user), action);
          if (why === undefined) return perform(reader, { user, action, version: body.version });
          return { to: keyPath(user.id), notice: { kind: "attention", text: why } };
        });
      },
      formRoute(
        ActionForm,
        formOperation("sendGatewayKeyAction", "Provides, replaces or revokes a gateway key"),
      ),
    );
}

function actionIn(text: string): KeyAction {
  const action = readWord(text, { name: "action", words: KEY_ACTIONS, problems: [] });
  if (action === undefined) throw new HttpError(404, "console.no_page", "there is no such page");
  return action;
}
