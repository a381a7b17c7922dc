// What a document demands of clients, written into it on publishing, and taken out again
// before the next change: nothing stays behind once its cause is gone.

import { parseVersion } from "../../shared/exact-version.ts";
import type { GovernanceConfig } from "../model.ts";
import { CONTRACT_GENERATION } from "../wire.ts";
import { demandsOf } from "./demands.ts";
import { orderMembers } from "./member-order.ts";

export interface StampOptions {
  /** gateway mode: the block is projected into the document, else removed */
  gateway: boolean;
  /** SemVer, without a leading v; anything else, as a development build has, counts as 0.0.0 */
  serverVersion: string;
}

const CONTRACT_VERSION_DEFAULT = 1;
const FIRST_VERSION = "0.0.0";

const needsNewestContract = (document: GovernanceConfig): boolean =>
  document.gateway !== undefined || demandsOf(document).isVersionAware;

/**
 * Takes out what stamping has put in, so that only what administrators wrote is left; call it before changing a revision.
 * The minimum client version stays: it binds no client, and who wrote it cannot be told.
 */
export const unstamped = (document: GovernanceConfig): GovernanceConfig => {
  const demanded: readonly string[] = demandsOf(document).capabilities;
  const { gateway: _projected, required_capabilities = [], ...rest } = document;
  const extras = required_capabilities.filter((name) => !demanded.includes(name));
  return orderMembers({
    ...rest,
    ...(needsNewestContract(document) ? { contract_version: CONTRACT_VERSION_DEFAULT } : {}),
    ...(extras.length > 0 ? { required_capabilities: extras } : {}),
  });
};

/**
 * Capabilities that the document names already are kept, needed or not: administrators may ask for more.
 * @returns the document with contract version, capabilities, minimum client version and gateway block as it needs them
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
  const named = [...new Set([...required_capabilities, ...capabilities])];
  const oldest = parseVersion(serverVersion)?.raw ?? FIRST_VERSION;
  return orderMembers({
    ...projected,
    ...(needsNewestContract(projected) ? { contract_version: CONTRACT_GENERATION } : {}),
    ...(named.length > 0 ? { required_capabilities: named } : {}),
    ...(isVersionAware ? { minimum_client_version: document.minimum_client_version ?? oldest } : {}),
  });
};
