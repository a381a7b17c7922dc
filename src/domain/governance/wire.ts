// Names of the policy contract that workstation clients send and read.

/** The highest contract generation that this service publishes. */
export const CONTRACT_GENERATION = 3;

export const CONTRACT_VERSION_HEADER = "x-blue-contract-version";
export const CAPABILITIES_HEADER = "x-blue-capabilities";
/** Sent with 200 and 426 where the document pins a client version. */
export const REQUIRED_CLIENT_VERSION_HEADER = "x-blue-required-client-version";

/** What a client must be able to do for a document that uses it. */
export const POLICY_CAPABILITIES = [
  "adapter_intervals",
  "compiled_harness_registry",
  "transactional_reconcile",
  "versioned_state",
  "unverified_harness_versions",
  "gateway_inference_jwt",
  "tenant_client_version_pin",
] as const;
export type PolicyCapability = (typeof POLICY_CAPABILITIES)[number];

/** Who published a revision; the command line and the dashboard are one to clients. */
export const ORIGINS = ["bootstrap", "deployment", "dashboard", "operator"] as const;
export type Origin = (typeof ORIGINS)[number];
