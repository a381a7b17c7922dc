// Inference for workstations and the inference proxy: assembles tokens, their signing keys and the key resolver. service.ts
// assembles the management of gateway keys.

import type { Outbound } from "../../../platform/outbound/outbound.ts";
import type { FindActiveLogin, LoginWatch } from "../../access/service.ts";
import { SigningKeyRing, type SigningKeyRingOptions } from "../../shared/signing-keys/signing-key-ring.ts";
import type { GatewayDependencies } from "../dependencies.ts";
import type { GatewayKeys } from "../keys/keys.ts";
import type { GatewaySettings } from "../settings.ts";
import { inferenceKeyStore } from "./inference-keys-store.ts";
import type { CallerFacts } from "./inference-sessions-store.ts";
import { InferenceTokens } from "./inference-tokens.ts";
import { createKeyReplacement } from "./key-replacement.ts";
import { createResolver } from "./key-resolver.ts";
import { createProxyHealth } from "./proxy-health.ts";
import { createSessionWatch } from "./session-watch.ts";

export interface InferenceDependencies extends Omit<GatewayDependencies, "groupsOf" | "observe"> {
  keys: GatewayKeys;
  loginOf: FindActiveLogin;
  loginExpiryOf: CallerFacts["loginExpiryOf"];
  loginWatch: Pick<LoginWatch, "endedAmong">;
  outbound: Outbound;
}

type Machine = Pick<SigningKeyRingOptions, "db" | "clock" | "audit" | "sealing">;

/** Called once, when the area is assembled. */
export const createInferenceKeys = (
  { db, clock, audit, sealing }: Machine,
  { tokenTtlSeconds, rotationDays }: GatewaySettings["inferenceJwt"],
): SigningKeyRing =>
  new SigningKeyRing({
    db,
    clock,
    audit,
    sealing,
    store: inferenceKeyStore,
    topic: "gateway",
    algorithm: "RS256",
    typ: "JWT",
    noun: "gateway_signing_key",
    tokenTtlSeconds,
    rotationDays,
  });

/** Called once, in domain.ts. */
export function createInference(dependencies: InferenceDependencies) {
  const settings = dependencies.mode?.settings;
  const minting = settings && {
    settings,
    keys: createInferenceKeys(dependencies, settings.inferenceJwt),
  };
  const { identity, loginExpiryOf } = dependencies;
  const { organizationOfActive } = identity;
  const resolve = createResolver({ ...dependencies, callerFacts: { loginExpiryOf, organizationOfActive } });
  return {
    tokens: new InferenceTokens(dependencies, minting),
    /** keys that sign inference tokens; undefined when gateway mode is off */
    signingKeys: minting?.keys,
    resolve,
    /** @returns the address of a user, for a separate proxy */
    emailOf: (userId: string): string => identity.findUserById(dependencies.db.read, userId)?.email ?? "",
    replaceKey: createKeyReplacement({ ...dependencies, resolve }),
    sessionWatch: createSessionWatch(dependencies),
    /** undefined when no proxy is configured */
    proxyHealth: settings && createProxyHealth(dependencies),
  };
}
