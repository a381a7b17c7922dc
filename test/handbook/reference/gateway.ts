// The states of a gateway key and their transitions, made from the table that the service uses.
import {
  KEY_EVENTS,
  KEY_STATES,
  type KeyEvent,
  type KeyState,
  TRANSITIONS,
} from "../../../src/domain/gateway/model.ts";
import { code, table } from "./prose.ts";

const STATES: Readonly<Record<KeyState, string>> = {
  ready: "a usable key is stored; it works even while a problem is shown",
  missing: "no key was created yet, or it was removed when its user lost access",
  invalid: "the gateway rejected the key; none is stored, and a new one will be created",
  recovering: "a user without a key is getting one",
  error: "there is no key, and the last attempt failed",
};

const EVENTS: Readonly<Record<KeyEvent, string>> = {
  begun: "an attempt begins, on request or because it is due",
  succeeded: "the gateway created the key, or confirmed it",
  failed: "the gateway or its provisioner failed",
  replacement_failed: "replacing a rejected key failed",
  rejected: "the gateway does not accept the key, or the stored key cannot be decrypted",
  expired: "the key expired before it could be renewed",
  retired: "the user lost access or has another address, or the key was revoked",
};

export const keyStatesMarkdown = (): string =>
  table(
    ["State", "Meaning"],
    KEY_STATES.map((state) => [code(state), STATES[state]]),
  );

export const keyTransitionsMarkdown = (): string =>
  table(
    ["State", "Event", "Next state"],
    KEY_STATES.flatMap((from) =>
      KEY_EVENTS.flatMap((event) => {
        const to = TRANSITIONS[from][event];
        return to ? [[code(from), EVENTS[event], code(to)]] : [];
      }),
    ),
  );
