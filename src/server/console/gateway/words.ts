// Paths and sentences of the pages about the gateway.
import type { GatewayStatus } from "../../../domain/gateway/status.ts";
import type { HarnessKey } from "../../../domain/harnesses/harnesses.ts";
import type { DropCause, Result } from "../../../domain/inference/log/model.ts";
import type { Outcome } from "../../../domain/inference/log/record.ts";
import type { ModelState } from "../../../domain/inference/models/model.ts";
import { CONSOLE } from "../frame/navigation.ts";
import type { Tone } from "../parts/values.tsx";

export const GATEWAY_PATH = `${CONSOLE}/gateway`;
export const KEYS_PATH = `${GATEWAY_PATH}/keys`;
export const REQUESTS_PATH = `${GATEWAY_PATH}/requests`;
export const REQUESTS_CSV_PATH = `${REQUESTS_PATH}.csv`;
export const RECONCILE_PATH = `${KEYS_PATH}/reconcile`;
export const PROGRESS_PATH = `${RECONCILE_PATH}/progress`;
export const MODELS_PATH = `${GATEWAY_PATH}/models`;
export const REFRESH_PATH = `${MODELS_PATH}/refresh`;
/** of one model; its id is in the query, because ids contain slashes */
export const MODEL_PATH = `${MODELS_PATH}/model`;

/** @returns the address of the page about one model */
export const modelPath = (id: string): string => `${MODEL_PATH}?${new URLSearchParams({ id })}`;

/** @returns the path of the form that assigns models to an agent */
export const assignmentPath = (harness: HarnessKey): string => `${MODELS_PATH}/harnesses/${harness}`;

export const MODEL_WORDS: Readonly<Record<ModelState, { label: string; tone: Tone }>> = {
  available: { label: "Available", tone: "good" },
  changed: { label: "Changed", tone: "attention" },
  removed: { label: "No longer offered", tone: "bad" },
  unknown: { label: "Never offered", tone: "bad" },
};

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
      "The service contacts the gateway now, without waiting for the next attempt. A working key stays.",
    done: (email) => `${email} has a working key.`,
  },
  rotate: {
    label: "Replace key",
    title: (email) => `Replace the gateway key of ${email}?`,
    consequence: "The old key works until the new one exists. Workstations fetch the new one automatically.",
    done: (email) => `${email} has a new key.`,
  },
  revoke: {
    label: "Revoke key",
    title: (email) => `Revoke the gateway key of ${email}?`,
    consequence:
      "Running sessions fail with their next request. An active user gets a new key with the next one. The gateway revokes the old key as soon as it can be reached.",
    done: (email) =>
      `The key of ${email} is revoked. The gateway revokes it too as soon as it can be reached.`,
  },
};

type Check = keyof NonNullable<GatewayStatus["runtime_checks"]>;

/** The problem if a check fails, and its remedy. If one of the other checks fails, the service does not start. */
export const FAILED_CHECKS: Readonly<Partial<Record<Check, { what: string; remedy: string }>>> = {
  gateway_policy: {
    what: "The policy in force sends no agent through the gateway.",
    remedy: "Publish a policy with a gateway block.",
  },
  internal_auth: {
    what: "No process forwards inference requests.",
    remedy:
      "Start `quartermaster serve --only proxy`, or give the separate proxy its token in the setting gateway.proxy_token.",
  },
  inference_jwt_signing: {
    what: "Inference tokens cannot be signed.",
    remedy: "Check the signing keys of inference tokens.",
  },
};

export const PROXY_MODES: Readonly<Record<NonNullable<GatewayStatus["proxy"]>["mode"], string>> = {
  "in-process": "This service forwards requests",
  external: "A separate proxy forwards requests",
  off: "Keys are managed, nothing is forwarded",
};

export const RESULT_WORDS: Readonly<Record<Result, { label: string; tone: Tone }>> = {
  success: { label: "Success", tone: "good" },
  redirect: { label: "Redirect", tone: "neutral" },
  client_error: { label: "Client error", tone: "attention" },
  server_error: { label: "Server error", tone: "bad" },
  transport_error: { label: "No response", tone: "bad" },
};

export const OUTCOME_LABELS: Readonly<Record<Outcome, string>> = {
  complete: "Complete",
  client_closed: "The agent disconnected",
  upstream_closed: "The gateway ended it",
  timeout: "Timed out",
  cut: "Ended with the login",
  stopped: "The service stopped",
  refused: "Refused here",
};

export const DROP_REASONS: Readonly<Record<DropCause, string>> = {
  queue_full: "the file was not written quickly enough",
  disk_full: "the disk was full",
  broken: "the file could not be written",
};
