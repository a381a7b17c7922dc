// Settings of the gateway area. The whole object is undefined if gateway mode is off.
import type { Secret } from "../../platform/secret.ts";

export interface GatewaySettings {
  /** `litellm` is the only supported gateway type */
  type: "litellm";
  /** URL of the gateway without a trailing slash; it may have a path */
  url: string;
  /** URL of the inference proxy for clients; it may have a path */
  inferenceProxyUrl: string;
  inferenceProxyHealthUrl: string;
  /** what forwards inference requests: this service, a separate proxy, or nothing */
  proxyMode: "in-process" | "external" | "off";
  /** lets the inference proxy call the internal operations; without it they are always refused */
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
  /** `builtin-litellm`, or a name that the operator chose for an executable */
  type: string;
  reconcileTtlSeconds: number;
  /** deadline of one whole call */
  timeoutSeconds: number;
  /** time between two refreshes of the model catalog */
  modelCatalogRefreshSeconds: number;
  /** concurrent calls */
  maxConcurrency: number;
  /** undefined for the built-in provisioner */
  executable: { path: string; sha256: string; environment: Readonly<Record<string, string>> } | undefined;
  /** the operator changes it to reconcile every key */
  policyRevision: string | undefined;
  adminKey: Secret | undefined;
  policy: GatewayPolicy;
}

/** Policy that the built-in provisioner applies to each key. An empty list of models means the gateway's default. */
export interface GatewayPolicy {
  models: readonly string[];
  maxBudget: number | undefined;
  /** such as `30d` */
  budgetDuration: string | undefined;
  rpmLimit: number | undefined;
  tpmLimit: number | undefined;
  maxParallelRequests: number | undefined;
  /** lifetime of a key, such as `90d` */
  duration: string | undefined;
  /** whether a key is created in its user's only team */
  teamScoped: boolean;
}
