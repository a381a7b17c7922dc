// The text of `quartermaster help gateway-keys`: the states of a key and what leads from one to another, printed from the table
// that the service follows (domain/gateway/model.ts). It cannot say something else than what happens.
import {
  KEY_EVENTS,
  KEY_STATES,
  type KeyEvent,
  type KeyState,
  REPLACEMENT_WINDOW_MS,
  REPLACEMENTS_MAX,
  RETRY_BASE_MS,
  RETRY_MAX_MS,
  TRANSITIONS,
} from "../../src/domain/gateway/model.ts";
import { HOUR_MS, SECOND_MS } from "../../src/platform/clock.ts";

const STATES: Readonly<Record<KeyState, string>> = {
  ready: "a usable key is stored; a problem beside it stops nobody",
  missing: "never made, or taken away with its user's access",
  invalid: "the gateway disowned the key; none is stored, and another is made",
  recovering: "an attempt is under way for a user without a key",
  error: "there is no key, and the last attempt gave none",
};

const EVENTS: Readonly<Record<KeyEvent, string>> = {
  begun: "an attempt begins: somebody asks, or the time for it has come",
  succeeded: "the gateway made the key, or says that it is fine",
  failed: "the gateway or its provisioner failed",
  replacement_failed: "the same, where a disowned key is replaced",
  disowned: "the gateway does not accept the key, or it does not open",
  expired: "the key expired before it could be renewed",
  retired: "its user lost access, has another address, or it was revoked",
};

/** @returns the topic, without a line break at its end */
export const keysTopic =
  (): string => `Every user has at most one key at the inference gateway, in one of these states:

${KEY_STATES.map((state) => `${state.padEnd(STATE_WIDTH)}${STATES[state]}`).join("\n")}

What happens to a key, and its state afterwards:

${KEY_STATES.flatMap(transitionsOf).join("\n")}

After a failure the next attempt waits ${RETRY_BASE_MS / SECOND_MS} s, then twice as long each time, ${RETRY_MAX_MS / HOUR_MS} h at most; it is
never given up. Where a person has to act, at the gateway or in the configuration, it waits ${RETRY_MAX_MS / HOUR_MS} h at
once. Another configuration ends every wait, and so does \`keys ensure USER --manual\`.
A disowned key is replaced by itself ${REPLACEMENTS_MAX} times in ${REPLACEMENT_WINDOW_MS / HOUR_MS} h; after that it waits for their end,
or for somebody to ask. What is replaced or taken away is revoked at the gateway as soon as that
can be reached; \`keys list\` says how many revocations wait.`;

const widthOf = (texts: readonly string[]): number => Math.max(...texts.map(({ length }) => length)) + 2;
const STATE_WIDTH = widthOf(KEY_STATES);
const EVENT_WIDTH = widthOf(Object.values(EVENTS));

function transitionsOf(from: KeyState): string[] {
  return KEY_EVENTS.flatMap((event) => {
    const to = TRANSITIONS[from][event];
    return to ? [`${from.padEnd(STATE_WIDTH)}${EVENTS[event].padEnd(EVENT_WIDTH)}${to}`] : [];
  });
}
