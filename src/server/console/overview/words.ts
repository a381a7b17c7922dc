// Texts of the overview: names of the checks, and the page to solve each problem.
import type { KeyState } from "../../../domain/gateway/model.ts";
import { CONSOLE } from "../frame/navigation.ts";
import type { Tone } from "../parts/values.tsx";

export const PROBLEM_WORDS = {
  failed: { tone: "bad", label: "Failed" },
  warning: { tone: "attention", label: "Warning" },
} as const satisfies Record<string, { tone: Tone; label: string }>;

/** Labels of checks; checks without one are shown by their name. */
const SOURCE_WORDS: ReadonlyMap<string, string> = new Map([
  ["backup", "Backups"],
  ["deployment", "Configuration file"],
  ["disk", "Disk space"],
  ["doctor", "Checks"],
  ["gateway_keys", "Gateway keys"],
  ["gateway_models", "Models of the gateway"],
  ["inference-upstream", "Gateway for inference"],
  ["jobs", "Scheduled jobs"],
  ["policy_drafts", "Drafts of the policy"],
  ["policy_file", "Policy in the configuration file"],
  ["provisioning", "Provisioned users"],
  ["proxy", "Reverse proxy"],
  ["refusals", "Provisioning"],
  ["request_log", "Request log"],
  ["sso", "Company sign-in"],
]);

/** Checks of repository connections have the names of their destinations. */
const CONNECTION = /^package-source:([^:]+)$/;

/** @returns the name of a check for people */
export function sourceWord(source: string): string {
  const [, connection] = CONNECTION.exec(source) ?? [];
  if (connection !== undefined) return `Repository connection ${connection}`;
  const word = SOURCE_WORDS.get(source) ?? source.replaceAll(/[_-]/g, " ");
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}

/** Shows the findings of every check. */
export const FINDINGS_PAGE = `${CONSOLE}/system`;

/** The page to solve a problem. Pages that this installation lacks are not linked. */
export const PROBLEM_PAGES: Readonly<Record<string, string>> = {
  backup: `${CONSOLE}/system/backups`,
  deployment: `${CONSOLE}/policy`,
  gateway_keys: `${CONSOLE}/gateway/keys`,
  invitations: `${CONSOLE}/invitations`,
  jobs: `${CONSOLE}/system/jobs`,
  policy: `${CONSOLE}/policy`,
  policy_drafts: `${CONSOLE}/policy`,
  policy_file: `${CONSOLE}/policy`,
  provisioning: `${CONSOLE}/identity`,
  refusals: `${CONSOLE}/identity`,
  sealing_keys: `${CONSOLE}/system/keys`,
  settings: `${CONSOLE}/system/settings`,
  signing_keys: `${CONSOLE}/system/keys`,
  sso: `${CONSOLE}/identity`,
};

export const KEY_STATE_WORDS: Readonly<Record<KeyState, string>> = {
  ready: "Keys ready",
  missing: "Keys missing",
  invalid: "Keys refused by the gateway",
  recovering: "Keys being made",
  error: "Keys that failed",
};
