// Texts of the pages about workstations: states, and remedies for each reason of a verdict.
import { STALE_AFTER_DAYS } from "../../../domain/clients/limits.ts";
import type { Health } from "../../../domain/clients/model.ts";
import type { BulkWords } from "../list/bulk.tsx";
import type { Tone } from "../parts/values.tsx";

export const HEALTH_WORDS: Readonly<Record<Health, { tone: Tone; label: string }>> = {
  current: { tone: "good", label: "Up to date" },
  outdated: { tone: "neutral", label: "Not up to date" },
  attention: { tone: "attention", label: "Needs attention" },
};

export const STALE_WORD = `Not seen for ${STALE_AFTER_DAYS} days`;
export const RECENT_WORD = `Seen within ${STALE_AFTER_DAYS} days`;

const START = "Start the harness on the workstation";

/** Remedies for reasons of verdict.ts, by a pattern of the reason. The first match is used. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/^no revision of the policy was applied yet$/, `${START}: its client fetches the policy first.`],
  [
    /^the revision .* is not one of this organization$/s,
    `The policy is from another service, or this service was restored from an older backup. ${START}: its client fetches the current policy.`,
  ],
  [
    /^the revision .* is not applied$/s,
    `${START} again. If its client refuses the policy, its error is listed here too.`,
  ],
  [
    /^managed files are missing or were changed$/,
    `${START}: its client writes the files again. If this recurs, a person or another program changes them.`,
  ],
  [/: the client does not support it$/, "Update the client on the workstation."],
  [
    /: no version was reported$/,
    "Check on the workstation that the harness starts. The client could not read its version.",
  ],
  [
    / has no archive for \S+$/,
    "Publish the package with an archive for this platform, or take this user out of its audience.",
  ],
  [/\): is missing$/, `${START}: its client installs missing packages.`],
  [
    /\): is not expected$/,
    `The policy does not give this package to this user. ${START}: its client removes the package.`,
  ],
  [/\): is reported twice$/, "Update the client on the workstation."],
  [/\): has another version than /, `${START}: its client installs the version of the policy.`],
  [
    /\): has another digest than the policy names$/,
    `The installed package differs from the policy. ${START}: its client installs it again.`,
  ],
  [/\): is [^:]+/, `${START} again. If the package fails again, correct the cause that the client names.`],
  [
    /^[\w-]+: .*(?:is not a full version|does not satisfy the required|older than any that is known|is not certified)/s,
    "Install an allowed version on the workstation, or change the versions that the policy allows.",
  ],
  [/^and \d+ more$/, "Correct the reasons above first."],
];

/** @returns the remedy for a reason; an unknown reason is an error of the client */
export const remedyOf = (reason: string): string =>
  REMEDIES.find(([form]) => form.test(reason))?.[1] ??
  "The client reports this error. Correct its cause on the workstation, then start the harness again.";

/** @returns the remedy for a workstation that has an older revision and no other problem */
export const outdatedRemedy = (current: number): string =>
  `${START}: its client fetches revision r${current}. Running workstations fetch it automatically.`;

export const STALE_REMEDY =
  "If the workstation is no longer used, remove it from the inventory. If it is lost, revoke it to end its login.";

/** The actions on workstations. */
export const ACTS = {
  revoke: {
    label: "Revoke…",
    verb: "Revoke",
    past: "revoked",
    ask: (workstations) => `Revoke ${workstations}?`,
    consequences: [
      "Their logins end: their next requests are refused and they must sign in again. Workstations that you did not select stay signed in, except those with the tokens of a selected one.",
    ],
    done: (workstations) => `${workstations} revoked`,
    doneRow: "Revoked",
  },
  remove: {
    label: "Remove from the inventory…",
    verb: "Remove",
    past: "removed from the inventory",
    ask: (workstations) => `Remove ${workstations}?`,
    consequences: [
      "Their access stays: a workstation that reports again appears again. To end their access, revoke them instead.",
    ],
    done: (workstations) => `${workstations} removed from the inventory`,
    doneRow: "Removed from the inventory",
  },
} as const satisfies Record<string, BulkWords & { past: string }>;
export type Act = keyof typeof ACTS;
