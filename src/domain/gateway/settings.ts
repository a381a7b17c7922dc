// What the gateway area is configured with; undefined as a whole where gateway mode is off (gateway-keys.md section 10).
import type { Secret } from "../../platform/secret.ts";

export interface GatewaySettings {
  /** the adapter; `litellm` is the only one */
  type: "litellm";
  /** origin of the gateway, for the provisioner */
  url: string;
  /** origin of the inference proxy, given to clients */
  inferenceProxyUrl: string;
  inferenceProxyHealthUrl: string;
  /** opens the internal operations to the inference proxy; without it they are closed */
  proxyToken: Secret | undefined;
  inferenceJwt: {
    issuer: string;
    audience: string;
    tokenTtlSeconds: number;
    /** days after which the signing key is replaced */
    rotationDays: number;
  };
  provisioner: ProvisionerSettings;
}

export interface ProvisionerSettings {
  /** `builtin-litellm`, or a name of the operator's for an executable */
  type: string;
  reconcileTtlSeconds: number;
  /** for one call, whatever it takes */
  timeoutSeconds: number;
  /** calls at the same moment */
  maxConcurrency: number;
  /** both, or the built-in provisioner */
  executable: { path: string; sha256: string; environment: Readonly<Record<string, string>> } | undefined;
  /** changes when the operator wants every key reconciled */
  policyRevision: string | undefined;
  adminKey: Secret | undefined;
  policy: GatewayPolicy;
}

/** What the built-in provisioner gives each key; an empty list of models is the gateway's own default. */
export interface GatewayPolicy {
  models: readonly string[];
  maxBudget: number | undefined;
  /** such as `30d` */
  budgetDuration: string | undefined;
  rpmLimit: number | undefined;
  tpmLimit: number | undefined;
  maxParallelRequests: number | undefined;
  /** life of a key, such as `90d` */
  duration: string | undefined;
  /** whether a key is made in the one team of its user */
  teamScoped: boolean;
}
