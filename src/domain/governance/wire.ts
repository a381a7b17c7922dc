// Names of the policy contract that workstation clients send and read.

/** The highest contract generation that this service publishes: policies that deliver lists of models need it. */
export const CONTRACT_GENERATION = 4;
/** The generation of all other policies that depend on the gateway or on versions of harnesses. */
export const COMMON_GENERATION = 3;

export const CONTRACT_VERSION_HEADER = "x-blue-contract-version";
export const CAPABILITIES_HEADER = "x-blue-capabilities";
/** Sent with 200 and 426 if the document requires a client version. */
export const REQUIRED_CLIENT_VERSION_HEADER = "x-blue-required-client-version";

/** Capabilities that a client needs for a document that uses them. */
export const POLICY_CAPABILITIES = [
  "adapter_intervals",
  "compiled_harness_registry",
  "transactional_reconcile",
  "versioned_state",
  "unverified_harness_versions",
  "gateway_inference_jwt",
  "tenant_client_version_pin",
  "gateway_model_catalog",
] as const;
export type PolicyCapability = (typeof POLICY_CAPABILITIES)[number];

/** The author of a revision; to clients the command line and the dashboard are one author. */
const ORIGINS = ["bootstrap", "deployment", "dashboard", "operator"] as const;
export type Origin = (typeof ORIGINS)[number];
