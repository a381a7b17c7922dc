// The gateway key of one user, and the confirmation pages of actions on one key or on all.
/** @jsxImportSource preact */
import type { KeyView } from "../../../domain/gateway/administration/key-directory.ts";
import type { User } from "../../../domain/identity/model.ts";
import { asSentence } from "../../pages/words.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { AsCommand } from "../parts/command.tsx";
import { confirmationPage } from "../parts/form.tsx";
import { Count, Facts, Id, State, Text, Time, useReader } from "../parts/values.tsx";
import { KEY_LABELS, userPath } from "../people/words.ts";
import { ACTION_WORDS, KEY_ACTIONS, KEYS_PATH, type KeyAction, keyPath, RECONCILE_PATH } from "./words.ts";

const BREADCRUMBS = [{ href: KEYS_PATH, label: "Gateway keys" }];

/** @returns why the action is impossible; undefined if it is possible */
export function whyUnavailable({ status, email }: User, key: KeyView, action: KeyAction): string | undefined {
  if (action === "revoke") return key.state === "missing" ? "There is no key to revoke." : undefined;
  return status === "active" ? undefined : `${email} is ${status} and cannot have a key.`;
}

interface KeyPageProps {
  user: User;
  key: KeyView;
  /** number of the user's keys that must still be revoked at the gateway */
  revocationsPending: number;
}

export const keyPage = ({ user, key, revocationsPending }: KeyPageProps): ConsolePage => ({
  title: `Gateway key of ${user.email}`,
  breadcrumbs: BREADCRUMBS,
  content: (
    <>
      <p>
        <State tone={KEY_LABELS[key.state].tone}>{KEY_LABELS[key.state].label}</State>
        {key.problem !== null && (
          <>
            {" "}
            <Text value={asSentence(key.problem)} />
          </>
        )}
      </p>
      <Facts
        facts={[
          {
            label: "User",
            value: (
              <a href={userPath(user.id)}>
                <Text value={user.email} />
              </a>
            ),
          },
          { label: "Alias", value: <Text value={key.alias} /> },
          {
            label: "Id at the gateway",
            value: key.externalId === null ? <Text value={null} /> : <Id value={key.externalId} />,
          },
          { label: "Expires", value: <Time at={key.expiresAtMs} /> },
          { label: "Reconciled", value: <Time at={key.reconciledAtMs} /> },
          { label: "Validated", value: <Time at={key.validatedAtMs} /> },
          { label: "Next attempt", value: <Time at={key.nextAttemptAtMs} none="none planned" /> },
          { label: "Failures in a row", value: <Count value={key.failures} /> },
          { label: "Refused by the gateway", value: <Time at={key.invalidatedAtMs} /> },
          { label: "Revocations pending", value: <Count value={revocationsPending} /> },
        ]}
      />
      <Actions user={user} current={key} />
      <AsCommand
        command={["keys", "show", user.email]}
        api={{ method: "GET", path: `/admin/gateway/keys/${user.id}` }}
      />
    </>
  ),
});

function Actions({ user, current }: { user: User; current: KeyView }) {
  const { mayAdminister } = useReader();
  if (!mayAdminister) return null;
  const found = KEY_ACTIONS.map((action) => ({ action, why: whyUnavailable(user, current, action) }));
  const reasons = new Set(found.flatMap(({ why }) => why ?? []));
  return (
    <>
      <p class="choices">
        {found.map(({ action, why }) =>
          why === undefined ? (
            <a key={action} class="button" href={`${keyPath(user.id)}/${action}`} data-dialog>
              {ACTION_WORDS[action].label}
            </a>
          ) : null,
        )}
      </p>
      {[...reasons].map((why) => (
        <p key={why} class="hint">
          {why}
        </p>
      ))}
    </>
  );
}

interface KeyConfirmation {
  user: User;
  action: KeyAction;
  /** of the key, for the form */
  version: string | undefined;
}

/** @returns the page that asks before an action on one key */
export const keyConfirmation = ({ user, action, version }: KeyConfirmation): ConsolePage => {
  const { id, email } = user;
  const { title, consequence, label } = ACTION_WORDS[action];
  return confirmationPage({
    title: title(email),
    consequences: [consequence],
    action: `${keyPath(id)}/${action}`,
    ...(version !== undefined && { fields: { version } }),
    verb: label,
    back: keyPath(id),
    breadcrumbs: BREADCRUMBS,
    command: ["keys", action, email, ...(action === "ensure" ? ["--manual"] : [])],
    api: {
      method: "POST",
      path: `/admin/gateway/keys/${id}/${action}`,
      ...(action === "ensure" && { body: { manual: true } }),
    },
  });
};

/** @returns the page that asks before all keys are reconciled */
export const reconcileConfirmation = (): ConsolePage =>
  confirmationPage({
    title: "Reconcile all gateway keys?",
    consequences: [
      "Every key and every pending revocation becomes due now. The service works through them in the background; working keys stay.",
    ],
    action: RECONCILE_PATH,
    verb: "Reconcile all",
    back: KEYS_PATH,
    breadcrumbs: BREADCRUMBS,
    command: ["keys", "reconcile"],
    api: { method: "POST", path: "/admin/gateway/keys/reconcile" },
  });
