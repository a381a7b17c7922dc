// The interface that creates and revokes keys at the organization's inference gateway, and lists its models. Two implementations
// exist: the built-in one for LiteLLM's admin API, and an executable supplied by the operator. Both pass the same test suite.

import { DomainError } from "../../../platform/errors.ts";
import type { JsonObject } from "../../../platform/json/json-object.ts";
import type { Secret } from "../../../platform/secret.ts";
import type { ListingCode, ModelListing } from "./model-listing.ts";

/** The user for whom a key is requested; groups are display names, ordered without case. */
export interface GatewayIdentity {
  id: string;
  email: string;
  organizationId: string;
  groups: readonly string[];
}

/** Why a key is requested. */
export const PROVISION_REASONS = [
  "missing",
  "configuration_changed",
  "reconciliation_due",
  "credential_invalidated",
] as const;
export type ProvisionReason = (typeof PROVISION_REASONS)[number];

/** The key of the last success, without its secret. */
export interface PreviousKey {
  externalId: string;
  alias: string;
  metadata: JsonObject | null;
}

export interface ProvisionRequest {
  identity: GatewayIdentity;
  reason: ProvisionReason;
  previous: PreviousKey | null;
}

export interface ProvisionedKey {
  /** absent: the stored secret is kept */
  credential?: Secret;
  externalId: string;
  alias: string;
  metadata: JsonObject | null;
  /** UTC milliseconds; null if it does not expire */
  expiresAtMs: number | null;
}

export interface RevokeRequest {
  identity: GatewayIdentity;
  /** null: unknown, because an interrupted attempt may have left a key under this identity */
  externalId: string | null;
}

export interface Provisioner {
  /** `builtin-litellm` or the type that the operator named */
  readonly type: string;
  /**
   * Supersedes any key that an earlier attempt left for this identity. Exception: with `previous: null` and a reason for
   * rotating a healthy key, the new key is created in addition to it.
   * @throws ProvisionerError
   */
  provision(request: ProvisionRequest, signal: AbortSignal): Promise<ProvisionedKey>;
  /** A key that no longer exists counts as a success. @throws ProvisionerError */
  revoke(request: RevokeRequest, signal: AbortSignal): Promise<void>;
  /** @returns the models that the gateway offers. @throws ListingError; ProvisionerError if the gateway could not be reached */
  listModels(signal: AbortSignal): Promise<ModelListing>;
}

/** Failure codes; an executable provisioner answers with the same ones. */
export const PROVISIONER_CODES = [
  "invalid_config",
  "account_missing",
  "conflict",
  "credential_invalid",
  "unavailable",
  "rejected",
] as const;
export type ProvisionerCode = (typeof PROVISIONER_CODES)[number];

/** The text for the user at the workstation, per code. Fixed, because the gateway's own text belongs in the log. */
const TEXTS: Readonly<Record<ProvisionerCode, string>> = {
  invalid_config: "the gateway's configuration is not valid; tell your administrator",
  account_missing: "the gateway has no account for you; ask your administrator for one",
  conflict: "the gateway has conflicting entries for you; tell your administrator",
  credential_invalid: "the gateway no longer accepts your key",
  unavailable: "the gateway is unavailable; try again in a moment", // the client looks for "gateway is unavailable"
  rejected: "the gateway refused to create a key; tell your administrator",
};

const KINDS = {
  invalid_config: "invalid",
  account_missing: "forbidden",
  conflict: "conflict",
  credential_invalid: "conflict",
  unavailable: "upstream",
  rejected: "upstream",
} as const;

/** A call that returned no key. `message` is for the caller, `diagnosis` for the log and the operator. */
export class ProvisionerError extends DomainError {
  constructor(
    readonly code: ProvisionerCode,
    /** the error text of the gateway or the executable, without secrets */
    readonly diagnosis: string,
    options: { cause?: unknown; retryAfterSeconds?: number } = {},
  ) {
    super(KINDS[code], `gateway.${code}`, TEXTS[code], options);
    this.name = "ProvisionerError";
  }
}

/** @returns the listing error code for a failed request to the gateway */
export function listingCodeOf(code: ProvisionerCode): ListingCode {
  if (code === "unavailable") return "unavailable";
  return code === "invalid_config" ? "discovery_auth" : "discovery_response";
}
