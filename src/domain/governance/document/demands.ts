// Derives a document's requirements for clients. Stamping writes them into the document; checking finds undeclared ones.

import { HARNESS_KEYS } from "../../harnesses/harnesses.ts";
import type { GovernanceConfig } from "../model.ts";
import type { PolicyCapability } from "../wire.ts";
import { deliversModels } from "./model-lists.ts";

/** Some capabilities and the reason why they are needed. */
interface Demand {
  readonly capabilities: readonly PolicyCapability[];
  /** for a person */
  readonly cause: string;
}

const VERSIONS: Demand = {
  capabilities: [
    "adapter_intervals",
    "compiled_harness_registry",
    "transactional_reconcile",
    "versioned_state",
  ],
  cause: "something here depends on versions of harnesses",
};
const UNVERIFIED: Demand = {
  capabilities: ["unverified_harness_versions"],
  cause: "a harness has allow_unverified_versions",
};
const GATEWAY: Demand = { capabilities: ["gateway_inference_jwt"], cause: "there is a gateway" };
const MODELS: Demand = {
  capabilities: ["gateway_model_catalog"],
  cause: "every allowed harness has gateway_models",
};
const PIN: Demand = {
  capabilities: ["tenant_client_version_pin"],
  cause: "there is a required_client_version",
};

export interface Demands {
  /** whether some part depends on the version of a harness, apart from availability bounds */
  readonly isVersionAware: boolean;
  readonly demands: readonly Demand[];
  /** capabilities of all requirements */
  readonly capabilities: readonly PolicyCapability[];
}

/** @returns the capabilities that clients must have */
export const demandsOf = (document: GovernanceConfig): Demands => {
  const { gateway, packages, required_client_version } = document;
  const policies = HARNESS_KEYS.flatMap((key) => document.harnesses[key] ?? []);
  const allowsUnverified = policies.some((policy) => policy.allow_unverified_versions === true);
  const isVersionAware =
    allowsUnverified ||
    policies.some((policy) => policy.version_requirement !== undefined) ||
    packages.some(({ adapters }) => HARNESS_KEYS.some((key) => (adapters[key]?.variants ?? []).length > 0));
  const demands: Demand[] = [];
  if (isVersionAware) demands.push(VERSIONS);
  if (allowsUnverified) demands.push(UNVERIFIED);
  if (gateway) demands.push(GATEWAY);
  if (deliversModels(document)) demands.push(MODELS);
  if (required_client_version !== undefined) demands.push(PIN);
  return { isVersionAware, demands, capabilities: demands.flatMap(({ capabilities }) => capabilities) };
};
