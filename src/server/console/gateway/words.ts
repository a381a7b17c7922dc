// Paths and sentences of the pages about the gateway.
import { CONSOLE } from "../frame/navigation.ts";

export const KEYS_PATH = `${CONSOLE}/gateway/keys`;
export const RECONCILE_PATH = `${KEYS_PATH}/reconcile`;

/** @returns the path of the page about one user's key */
export const keyPath = (userId: string): string => `${KEYS_PATH}/${userId}`;

export const KEY_ACTIONS = ["ensure", "rotate", "revoke"] as const;
export type KeyAction = (typeof KEY_ACTIONS)[number];

interface ActionWords {
  label: string;
  title(email: string): string;
  consequence: string;
  done(email: string): string;
}

export const ACTION_WORDS: Readonly<Record<KeyAction, ActionWords>> = {
  ensure: {
    label: "Provide key",
    title: (email) => `Provide a gateway key for ${email}?`,
    consequence:
      "The gateway is asked now, even if the next attempt is planned for later. A working key stays.",
    done: (email) => `${email} has a working key.`,
  },
  rotate: {
    label: "Replace key",
    title: (email) => `Replace the gateway key of ${email}?`,
    consequence: "The old key works until the new one exists. Workstations take the new one by themselves.",
    done: (email) => `${email} has a new key.`,
  },
  revoke: {
    label: "Revoke key",
    title: (email) => `Revoke the gateway key of ${email}?`,
    consequence:
      "Running sessions fail with their next request. An active user gets a new key with the next one.",
    done: (email) => `The key of ${email} is revoked.`,
  },
};
