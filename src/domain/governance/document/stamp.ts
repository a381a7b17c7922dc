// Writes the client requirements into a document when it is published, and removes them before the next change, so that no
// requirement outlives its cause.

import { parseVersion } from "../../shared/exact-version.ts";
import type { GovernanceConfig } from "../model.ts";
import { COMMON_GENERATION, CONTRACT_GENERATION, type PolicyCapability } from "../wire.ts";
import { demandsOf } from "./demands.ts";
import { orderMembers } from "./member-order.ts";
import { deliversModels } from "./model-lists.ts";

export interface StampOptions {
  /** gateway mode: whether the block is added to the document or removed */
  gateway: boolean;
  /** SemVer without a leading v; any other text, such as a development version, counts as 0.0.0 */
  serverVersion: string;
}

const CONTRACT_VERSION_DEFAULT = 1;
const FIRST_VERSION = "0.0.0";

/** Never set by an administrator: it follows from the lists of models, and would lock out clients for no reason. */
const DERIVED: PolicyCapability = "gateway_model_catalog";

/** @returns the generation that the document needs; undefined for any */
const neededContract = (document: GovernanceConfig): number | undefined => {
  if (deliversModels(document)) return CONTRACT_GENERATION;
  return document.gateway !== undefined || demandsOf(document).isVersionAware ? COMMON_GENERATION : undefined;
};

/** @returns the generation that an administrator requested; only stamping requests the highest one */
const askedContract = ({ contract_version }: GovernanceConfig): number =>
  contract_version === CONTRACT_GENERATION ? CONTRACT_VERSION_DEFAULT : contract_version;

/**
 * Removes what stamping added, so that only the administrators' members remain; call it before changing a revision. The minimum
 * client version stays: it restricts no client, and its author is unknown.
 */
export const unstamped = (document: GovernanceConfig): GovernanceConfig => {
  const demanded: readonly string[] = demandsOf(document).capabilities;
  const { gateway: _projected, required_capabilities = [], ...rest } = document;
  const extras = required_capabilities.filter((name) => name !== DERIVED && !demanded.includes(name));
  return orderMembers({
    ...rest,
    contract_version:
      neededContract(document) === undefined ? askedContract(document) : CONTRACT_VERSION_DEFAULT,
    ...(extras.length > 0 ? { required_capabilities: extras } : {}),
  });
};

/**
 * Keeps capabilities that the document already lists, because administrators may require more; lists of models are an exception.
 * @returns the document with the contract version, capabilities, minimum client version and gateway block that it needs
 */
export const stamp = (
  document: GovernanceConfig,
  { gateway, serverVersion }: StampOptions,
): GovernanceConfig => {
  const { gateway: _former, required_capabilities = [], ...rest } = document;
  const projected: GovernanceConfig = gateway
    ? { ...rest, gateway: { type: "litellm", auth_style: "bearer" } }
    : rest;
  const { isVersionAware, capabilities } = demandsOf(projected);
  const required = required_capabilities.filter((name) => name !== DERIVED);
  const named = [...new Set([...required, ...capabilities])];
  const oldest = parseVersion(serverVersion)?.raw ?? FIRST_VERSION;
  return orderMembers({
    ...projected,
    contract_version: neededContract(projected) ?? askedContract(document),
    ...(named.length > 0 ? { required_capabilities: named } : {}),
    ...(isVersionAware ? { minimum_client_version: document.minimum_client_version ?? oldest } : {}),
  });
};
