// The reader's gateway key: its state, its problem, and the possible actions. The key itself is never shown.
/** @jsxImportSource preact */
import type { GatewayKeyStatus } from "../../../domain/gateway/keys/key-status.ts";
import {
  KEY_ACTIONS_IN,
  KEY_SENTENCES,
  type KeyAction,
  keyProblem,
  REVOKING_OWN_KEY,
} from "../../pages/account/key-words.ts";
import { Hidden } from "../../pages/forms.tsx";
import { asSentence } from "../../pages/words.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { AsCommand } from "../parts/command.tsx";
import { ConsoleForm, confirmationPage } from "../parts/form.tsx";
import { type Fact, Facts, State, Text, Time } from "../parts/values.tsx";
import { KEY_LABELS } from "../people/words.ts";
import { BREADCRUMBS, OWN_KEY_PATH } from "./words.ts";

/** Operation of the API below /gateway/key, and the command. No command checks a key, because the service does so automatically. */
const EQUIVALENTS: Readonly<Record<KeyAction, { path: string; command?: (email: string) => string[] }>> = {
  ensure: { path: "/gateway/key/ensure", command: (email) => ["keys", "ensure", email] },
  validate: { path: "/gateway/key/validate" },
  rotate: { path: "/gateway/key/rotate", command: (email) => ["keys", "rotate", email] },
};

/**
 * @param version of the key: a form that is sent again changes no later key
 * @returns the page
 */
export function ownKeyPage(key: GatewayKeyStatus, version: string | undefined): ConsolePage {
  const { status, email } = key;
  const actions = KEY_ACTIONS_IN[status];
  return {
    title: "Your gateway key",
    content: (
      <>
        {status !== "missing" && (
          <p>
            <State tone={KEY_LABELS[status].tone}>{KEY_LABELS[status].label}</State>
          </p>
        )}
        <p>{KEY_SENTENCES[status]}</p>
        <KeyProblem status={key} />
        <Facts facts={factsOf(key)} />
        <p class="hint">
          Your agents get the key from the workstation. It is never shown, not even on this page.
        </p>
        <div class="choices">
          {actions.map(([action, label]) => (
            <ConsoleForm key={action} action={`${OWN_KEY_PATH}/${action}`}>
              {action === "rotate" && version !== undefined && <Hidden name="version" value={version} />}
              <button class="button" type="submit">
                {label}
              </button>
            </ConsoleForm>
          ))}
          {status !== "missing" && (
            <a class="button danger" href={`${OWN_KEY_PATH}/revoke`} data-dialog>
              Give up this key
            </a>
          )}
        </div>
        <AsCommand command={["keys", "show", email]} api={{ method: "GET", path: "/gateway/key" }} />
        {actions.map(([action, label]) => (
          <AsCommand
            key={action}
            label={`“${label}” as a command`}
            command={EQUIVALENTS[action].command?.(email)}
            api={{ method: "POST", path: EQUIVALENTS[action].path }}
          />
        ))}
      </>
    ),
  };
}

/** Omits the facts that come from the gateway if the key has no state there. */
const factsOf = (key: GatewayKeyStatus): Fact[] => [
  ...(key.alias === null ? [] : [{ label: "Name at the gateway", value: <Text value={key.alias} /> }]),
  ...timed("Expires", key.expires_at),
  ...timed("Last compared with the gateway", key.last_reconciled_at),
  ...timed("Next attempt", key.next_retry_at),
];

const timed = (label: string, at: string | null): Fact[] =>
  at === null ? [] : [{ label, value: <Time at={at} /> }];

function KeyProblem({ status: key }: { status: GatewayKeyStatus }) {
  const problem = keyProblem(key);
  if (problem === null) return null;
  return (
    <p class="warning">
      {key.status === "ready" && "The last check failed, but the key still works. "}
      <Text value={asSentence(problem)} />
    </p>
  );
}

/**
 * Asks before the key is revoked.
 * @param version of the key, for the form
 */
export const revokeOwnKeyPage = (email: string, version: string | undefined): ConsolePage =>
  confirmationPage({
    title: "Give up your gateway key?",
    consequences: REVOKING_OWN_KEY,
    action: `${OWN_KEY_PATH}/revoke`,
    ...(version !== undefined && { fields: { version } }),
    verb: "Give up this key",
    back: OWN_KEY_PATH,
    breadcrumbs: BREADCRUMBS.key,
    command: ["keys", "revoke", email],
    api: { method: "POST", path: "/gateway/key/revoke" },
  });
