// Addresses and sentences of the pages about the reader's own account.
import type { Explanation, PolicySummary } from "../../../domain/governance/service.ts";
import { getHarness, type HarnessKey } from "../../../domain/harnesses/harnesses.ts";
import { countText } from "../../../platform/count-text.ts";
import { CONSOLE } from "../frame/navigation.ts";

export const ME_PATH = `${CONSOLE}/me`;
export const OWN_POLICY_PATH = `${ME_PATH}/policy`;
export const OWN_WORKSTATIONS_PATH = `${ME_PATH}/workstations`;
export const OWN_KEY_PATH = `${ME_PATH}/key`;
export const OWN_LOGINS_PATH = `${ME_PATH}/logins`;
export const OWN_ACCOUNT_PATH = `${ME_PATH}/account`;

/** Pages above the page of a single action. */
export const BREADCRUMBS = {
  workstations: [{ href: OWN_WORKSTATIONS_PATH, label: "Your workstations" }],
  key: [{ href: OWN_KEY_PATH, label: "Your gateway key" }],
  logins: [{ href: OWN_LOGINS_PATH, label: "Your logins" }],
} as const;

export const PACKAGE_WORDS: Readonly<Record<Explanation["packages"][number]["state"], string>> = {
  installed: "Installed",
  hidden: "Offered to other people only",
  disabled: "Turned off for this harness",
  other_harness: "For other harnesses",
  other_version: "For other versions of this harness",
};

export const NO_POLICY = "No policy is published yet, so your organization sets no rules.";

/** @returns the product name of the harness */
export const harnessText = (key: HarnessKey): string => getHarness(key).label;

/** @returns `a`, `a and b`, or `a, b and c` */
export const andText = (words: readonly string[]): string =>
  [words.slice(0, -1).join(", "), ...words.slice(-1)].filter((part) => part !== "").join(" and ");

/** @returns one sentence each about allowed harnesses, installed packages, and the consequence without the policy */
export function policySentences({ allowed, packages, isRequired }: PolicySummary): readonly string[] {
  const installed = countText(packages, "package");
  return [
    allowed.length === 0
      ? "Your workstations may not run any harness."
      : `You may use ${andText(allowed.map(harnessText))}.`,
    packages === 0 ? "It installs no packages for you." : `It installs ${installed} for you.`,
    isRequired
      ? "A workstation that cannot load the policy starts no harness."
      : "A workstation that cannot load the policy continues with the last one.",
  ];
}

/** @returns the place of a value below its harness: `managed_config.model` */
export const placeText = (pointer: string): string =>
  pointer
    .split("/")
    .slice(PARTS_ABOVE_VALUES)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .join(".");

/** Empty text, `harnesses` and the key of the harness. */
const PARTS_ABOVE_VALUES = 3;
