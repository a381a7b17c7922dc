// The members of a policy document and their fixed order, so that equal documents have equal texts.

import type { GovernanceConfig } from "../model.ts";

/** in the order in which clients have always received them */
export const DOCUMENT_MEMBERS = [
  "revision",
  "contract_version",
  "required_capabilities",
  "minimum_client_version",
  "required_client_version",
  "ttl_seconds",
  "required",
  "allowed_harnesses",
  "harnesses",
  "packages",
  "gateway",
  "session_upload",
  "telemetry",
] as const satisfies readonly (keyof GovernanceConfig)[];

const NAMES: readonly string[] = DOCUMENT_MEMBERS;

/** @param part of a document, or all of it @returns the same members in their order */
export const orderMembers = <Part extends object>(part: Part): Part => {
  const entries = Object.entries(part).toSorted(
    ([one], [other]) => NAMES.indexOf(one) - NAMES.indexOf(other),
  );
  return Object.assign({}, Object.fromEntries(entries), part);
};
