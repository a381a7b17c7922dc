// What a document demands of the clients that are to follow it, worked out from the document (control-api.md sections
// 4.2, 4.3 and 6.2). Stamping writes it down, checking finds where it is not written down.

import { HARNESS_KEYS } from "../../harnesses.ts";
import type { GovernanceConfig } from "../model.ts";
import type { PolicyCapability } from "../wire.ts";

const OF_VERSIONS = [
  "adapter_intervals",
  "compiled_harness_registry",
  "transactional_reconcile",
  "versioned_state",
] as const;

export interface Demands {
  /** some part depends on the version of a harness; bounds of availability alone do not count */
  readonly isVersionAware: boolean;
  /** with the cause of each, for a person */
  readonly capabilities: ReadonlyMap<PolicyCapability, string>;
}

/** @returns what clients must be able to do */
export const demandsOf = (document: GovernanceConfig): Demands => {
  const { gateway, packages, required_client_version } = document;
  const policies = HARNESS_KEYS.flatMap((key) => document.harnesses[key] ?? []);
  const allowsUnverified = policies.some((policy) => policy.allow_unverified_versions === true);
  const isVersionAware =
    allowsUnverified ||
    policies.some((policy) => policy.version_requirement !== undefined) ||
    packages.some(({ adapters }) => HARNESS_KEYS.some((key) => (adapters[key]?.variants ?? []).length > 0));
  const capabilities = new Map<PolicyCapability, string>();
  const demand = (names: readonly PolicyCapability[], cause: string) => {
    for (const name of names) capabilities.set(name, cause);
  };
  if (isVersionAware) demand(OF_VERSIONS, "something in the document depends on versions of harnesses");
  if (allowsUnverified) demand(["unverified_harness_versions"], "a harness has allow_unverified_versions");
  if (gateway) demand(["gateway_inference_jwt"], "the document has a gateway");
  if (required_client_version !== undefined)
    demand(["tenant_client_version_pin"], "the document has required_client_version");
  return { isVersionAware, capabilities };
};
