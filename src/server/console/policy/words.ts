// Addresses and sentences of the pages about the policy.
import type { Rollout } from "../../../domain/clients/service.ts";
import type { Revision } from "../../../domain/governance/service.ts";
import { isHarnessKey } from "../../../domain/harnesses/harnesses.ts";
import { tokensOf } from "../../../platform/errors.ts";
import { CONSOLE } from "../frame/navigation.ts";
import { harnessText } from "../own/words.ts";
import { shortened } from "../parts/texts.ts";

export const POLICY_PATH = `${CONSOLE}/policy`;
export const HISTORY_PATH = `${POLICY_PATH}/history`;
export const DIFF_PATH = `${POLICY_PATH}/diff`;
export const EXPLAIN_PATH = `${POLICY_PATH}/explain`;

/** @returns the address that explains the policy for a user, and optionally for a harness with its installed version */
export function explainPath(query: {
  user: string;
  harness?: string;
  installed?: string | undefined;
}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return `${EXPLAIN_PATH}?${new URLSearchParams(given)}`;
}
export const ROLLOUT_PATH = `${POLICY_PATH}/rollout`;
export const EDIT_PATH = `${POLICY_PATH}/edit`;
export const REVIEW_PATH = `${POLICY_PATH}/review`;
export const PEOPLE_CSV_PATH = `${REVIEW_PATH}/people.csv`;
/** @param draft id of another person's draft */
export const reviewPath = (draft: string | undefined): string =>
  draft === undefined ? REVIEW_PATH : `${REVIEW_PATH}?draft=${encodeURIComponent(draft)}`;
export const MERGE_PATH = `${POLICY_PATH}/merge`;
export const CONFLICTS_PATH = `${POLICY_PATH}/conflicts`;
export const DRAFT_FILE_PATH = `${REVIEW_PATH}/draft.yaml`;
export const DISCARD_PATH = `${POLICY_PATH}/discard`;

export const BREADCRUMBS = [{ href: POLICY_PATH, label: "Policy" }] as const;

export const ORIGIN_WORDS: Readonly<Record<Revision["origin"], string>> = {
  bootstrap: "First start",
  deployment: "Configuration file",
  dashboard: "Administrator",
  operator: "Command on the server",
};

/** @returns the place for people: `Codex: model`, `Package guide`, `Who gets guide` */
export function placeText(path: string): string {
  const [first = "", second, ...rest] = tokensOf(path);
  if (first === "packages" && second !== undefined) return withRest(`Package ${second}`, rest);
  if (first === "package_audiences" && second !== undefined)
    return withRest(
      `Who gets ${second}`,
      rest.map((member) => AUDIENCE_MEMBERS[member] ?? member).filter(Boolean),
    );
  if (first === "harnesses" && second !== undefined) {
    const name = isHarnessKey(second) ? harnessText(second) : second;
    const [member = "", ...inside] = rest;
    if (member === "managed_config") return withRest(name, inside);
    const known = HARNESS_MEMBERS[member];
    return known === undefined ? withRest(name, rest) : withRest(name, [[known, ...inside].join(" ")]);
  }
  return withRest(NAMES[first] ?? first, second === undefined ? rest : [second, ...rest]);
}

const AUDIENCE_MEMBERS: Readonly<Record<string, string>> = {
  scope: "",
  user_ids: "people",
  group_ids: "groups",
};

const HARNESS_MEMBERS: Readonly<Record<string, string>> = {
  version_requirement: "versions",
  allow_unverified_versions: "versions that are not certified",
  mcp: "MCP server",
  package_overrides: "use of package",
  gateway_models: "models",
};

const NAMES: Readonly<Record<string, string>> = {
  allowed_harnesses: "Harnesses that may run",
  required: "Without a fresh policy, nothing runs",
  ttl_seconds: "Seconds until a policy is fetched again",
  required_client_version: "Version of the client",
  packages: "Packages",
};

const withRest = (name: string, rest: readonly string[]): string =>
  rest.length === 0 ? name : `${name}: ${rest.join(".")}`;

/** @returns `3 changes` */
export const changesText = (count: number, adjective = ""): string =>
  `${count} ${adjective}${count === 1 ? "change" : "changes"}`;

/** @returns `r43`, for titles */
export const revisionText = ({ sequence }: Pick<Revision, "sequence">): string => `r${sequence}`;

/** @returns the name of a workstation that refused a revision */
export const exampleText = ({ id, hostname }: Rollout["refusals"][number]["example"]): string =>
  hostname ?? shortened(id);
