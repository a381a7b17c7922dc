// The way of workstations and of the inference proxy through the gateway: joins tokens, their keys and the resolver. The keys
// at the gateway themselves are service.ts's.
import type { Outbound } from "../../../platform/outbound/outbound.ts";
import type { FindActiveLogin } from "../../access/service.ts";
import type { GatewayDependencies } from "../dependencies.ts";
import type { GatewayKeys } from "../keys/keys.ts";
import { createInferenceKeys } from "./inference-keys.ts";
import { InferenceTokens } from "./inference-tokens.ts";
import { createResolver } from "./key-resolver.ts";
import { createProxyHealth } from "./proxy-health.ts";

export interface InferenceDependencies extends Omit<GatewayDependencies, "groupsOf" | "observe"> {
  keys: GatewayKeys;
  loginOf: FindActiveLogin;
  outbound: Outbound;
}

export type Inference = ReturnType<typeof createInference>;

/** @returns the operations; made once, in domain.ts */
export function createInference(dependencies: InferenceDependencies) {
  const settings = dependencies.mode?.settings;
  const minting = settings && {
    settings,
    keys: createInferenceKeys(dependencies, settings.inferenceJwt),
  };
  return {
    tokens: new InferenceTokens(dependencies, minting),
    /** of inference tokens; undefined where gateway mode is off */
    signingKeys: minting?.keys,
    resolve: createResolver(dependencies),
    /** undefined where there is no proxy */
    proxyHealth: settings && createProxyHealth(dependencies),
  };
}
