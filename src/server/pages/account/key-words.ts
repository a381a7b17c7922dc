// Texts of pages about a gateway key, and the possible actions in each state.
import type { GatewayKeyStatus } from "../../../domain/gateway/keys/key-status.ts";

const KEY_ACTIONS = ["ensure", "validate", "rotate"] as const;
export type KeyAction = (typeof KEY_ACTIONS)[number];

type Status = GatewayKeyStatus["status"];

export const KEY_SENTENCES: Readonly<Record<Status, string>> = {
  ready: "You have a working key.",
  missing: "You have no key. Your workstation will request one when needed.",
  recovering: "Your key is being created. Reload this page in a moment.",
  error: "You have no working key: the last attempt to create one failed.",
  invalid: "The gateway no longer accepts your key.",
};

/** Each action with the label of its button. */
export const KEY_ACTIONS_IN: Readonly<Record<Status, readonly [KeyAction, string][]>> = {
  ready: [
    ["validate", "Check key"],
    ["rotate", "Replace key"],
  ],
  missing: [["ensure", "Get a key"]],
  recovering: [],
  error: [["ensure", "Try again"]],
  invalid: [["ensure", "Get a new key"]],
};

/** @returns the problem of the key; null if there is none */
export const keyProblem = ({
  status,
  error,
  invalidation_reason: reason,
}: GatewayKeyStatus): string | null => (status === "invalid" ? (reason ?? error) : error);

/** The effects of revoking your own key, one paragraph each. */
export const REVOKING_OWN_KEY = [
  "The next request of a running agent fails. The gateway revokes the key as soon as it is reachable.",
  "You stay signed in. A workstation that needs a key gets a new one.",
] as const;
