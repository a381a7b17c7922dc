// How gateway mode stands in this installation, from what is configured and stored; nobody is contacted.
// Source: gateway-keys.md section 9.6, openapi.yaml getGatewayStatus.
import { type Static, Type } from "@sinclair/typebox";
import { DomainError } from "../errors.ts";
import type { SigningKeyRing } from "../signing-key-ring.ts";
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

/** All members but the first two are for administrators. */
export const GatewayStatus = Type.Object({
  enabled: Type.Boolean({ description: "whether gateway mode is on" }),
  runtime_configured: Type.Boolean({ description: "whether everything is there that inference needs" }),
  inference_proxy_url: Url,
  upstream_gateway_url: Url,
  provisioner_type: Type.Optional(Type.String()),
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

interface Stands {
  mode: GatewayMode | undefined;
  signingKeys: Pick<SigningKeyRing, "signer"> | undefined;
}

/** @returns everything, for administrators */
export function gatewayStatus({ mode, signingKeys }: Stands): GatewayStatus {
  if (!mode) return { enabled: false, runtime_configured: false };
  const { settings, provisioner } = mode;
  const checks: Checks = {
    // The service does not start without these.
    gateway_policy: true,
    gateway_url: true,
    inference_proxy_url: true,
    provisioner: true,
    secret_encryption: true,
    internal_auth: settings.proxyToken !== undefined,
    inference_jwt_signing: canSign(signingKeys),
  };
  return {
    enabled: true,
    runtime_configured: CHECKS.every((name) => checks[name]),
    inference_proxy_url: settings.inferenceProxyUrl,
    upstream_gateway_url: settings.url,
    provisioner_type: provisioner.type,
    runtime_checks: checks,
  };
}

/** @returns what everybody may know */
export const forMembers = ({ enabled, runtime_configured }: GatewayStatus): GatewayStatus => ({
  enabled,
  runtime_configured,
});

function canSign(signingKeys: Stands["signingKeys"]): boolean {
  try {
    return signingKeys?.signer() !== undefined;
  } catch (error) {
    if (error instanceof DomainError) return false;
    throw error;
  }
}
