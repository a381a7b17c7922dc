// Status of gateway mode in this installation, derived from the current policy and the settings without network calls.
import { type Static, Type } from "@sinclair/typebox";
import { DomainError } from "../../platform/errors.ts";
import type { GovernanceConfig } from "../governance/service.ts";
import type { SigningKeyRing } from "../shared/signing-key-ring.ts";
import type { GatewayMode } from "./dependencies.ts";

const CHECKS = [
  "gateway_policy",
  "gateway_url",
  "inference_proxy_url",
  "provisioner",
  "secret_encryption",
  "internal_auth",
  "inference_jwt_signing",
] as const;
type Checks = Record<(typeof CHECKS)[number], boolean>;

const Flag = Type.Boolean();
const Url = Type.Optional(Type.String({ format: "uri" }));

/** All members except the first two are for administrators only. */
export const GatewayStatus = Type.Object({
  enabled: Type.Boolean({ description: "whether the policy in force has a gateway block" }),
  runtime_configured: Type.Boolean({ description: "whether everything is there that inference needs" }),
  inference_proxy_url: Url,
  upstream_gateway_url: Url,
  provisioner_type: Type.Optional(Type.String()),
  harnesses: Type.Optional(
    Type.Array(Type.Object({ name: Type.String(), gateway_type: Type.String() }), {
      description: "agents that the policy sends through the gateway",
    }),
  ),
  runtime_checks: Type.Optional(
    Type.Object({
      gateway_policy: Flag,
      gateway_url: Flag,
      inference_proxy_url: Flag,
      provisioner: Flag,
      secret_encryption: Flag,
      internal_auth: Type.Boolean({ description: "whether the inference proxy has a token to come with" }),
      inference_jwt_signing: Flag,
    }),
  ),
});
export type GatewayStatus = Static<typeof GatewayStatus>;

interface StatusDependencies {
  /** the current policy document */
  policy: Pick<GovernanceConfig, "gateway" | "allowed_harnesses">;
  mode: GatewayMode | undefined;
  signingKeys: Pick<SigningKeyRing, "signer"> | undefined;
}

/** @returns the full status, for administrators */
export function gatewayStatus(stands: StatusDependencies): GatewayStatus {
  const { policy, mode } = stands;
  const { gateway, allowed_harnesses: names } = policy;
  const checks = checksOf(stands);
  return {
    enabled: gateway !== undefined,
    runtime_configured: CHECKS.every((name) => checks[name]),
    ...(mode && {
      inference_proxy_url: mode.settings.inferenceProxyUrl,
      upstream_gateway_url: mode.settings.url,
      provisioner_type: mode.provisioner.type,
    }),
    harnesses: gateway ? names.map((name) => ({ name, gateway_type: gateway.type })) : [],
    runtime_checks: checks,
  };
}

function checksOf({ policy, mode, signingKeys }: StatusDependencies): Checks {
  const isOn = mode !== undefined; // the service does not start without these four
  return {
    gateway_policy: policy.gateway !== undefined,
    gateway_url: isOn,
    inference_proxy_url: isOn,
    provisioner: isOn,
    secret_encryption: isOn,
    internal_auth: mode?.settings.proxyToken !== undefined,
    inference_jwt_signing: canSign(signingKeys),
  };
}

/** @returns the part that every member of the organization may see */
export const forMembers = ({ enabled, runtime_configured }: GatewayStatus): GatewayStatus => ({
  enabled,
  runtime_configured,
});

function canSign(signingKeys: StatusDependencies["signingKeys"]): boolean {
  try {
    return signingKeys?.signer() !== undefined;
  } catch (error) {
    if (error instanceof DomainError) return false;
    throw error;
  }
}
