// Status of gateway mode in this installation, derived from the current policy and the settings without network calls.
import { type Static, Type } from "@sinclair/typebox";
import { DomainError } from "../../platform/errors.ts";
import type { GovernanceConfig } from "../governance/service.ts";
import type { SigningKeyRing } from "../shared/signing-keys/signing-key-ring.ts";
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
const Figure = Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]);
const Url = Type.Optional(Type.String({ format: "uri" }));

/** All members except the first two are for administrators only. */
export const GatewayStatus = Type.Object({
  enabled: Type.Boolean({ description: "whether the current policy has a gateway block" }),
  runtime_configured: Type.Boolean({ description: "whether inference can work now" }),
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
      internal_auth: Type.Boolean({
        description: "whether this installation forwards inference itself, or a separate proxy has a token",
      }),
      inference_jwt_signing: Flag,
    }),
  ),
  proxy: Type.Optional(
    Type.Object(
      {
        mode: Type.Union([Type.Literal("in-process"), Type.Literal("external"), Type.Literal("off")]),
        in_flight: Figure,
        capacity: Figure,
        upstream_up: Type.Union([Type.Boolean(), Type.Null()], {
          description: "whether the last forwarded request reached the gateway; null before the first one",
        }),
        log_queue: Figure,
        log_dropped: Figure,
      },
      { description: "who forwards inference requests; the figures are null unless it is this service" },
    ),
  ),
});
export type GatewayStatus = Static<typeof GatewayStatus>;

/** The current work of the proxy in this process. */
export interface ProxyFigures {
  /** requests in progress */
  inFlight: number;
  /** maximum number of requests in progress */
  capacity: number;
  /** whether the last forwarded request reached the gateway; undefined before the first one */
  isUpstreamUp: boolean | undefined;
  /** rows that wait to be written to the request log */
  logQueue: number;
  /** rows that were not written since the start */
  logDropped: number;
}

interface StatusDependencies {
  /** undefined unless this service forwards inference requests */
  proxy: ProxyFigures | undefined;
  /** whether a second process of this installation forwards inference */
  isForwardedElsewhere: boolean;
  /** the current policy document */
  policy: Pick<GovernanceConfig, "gateway" | "allowed_harnesses">;
  mode: GatewayMode | undefined;
  signingKeys: Pick<SigningKeyRing, "signer"> | undefined;
}

/** @returns the full status, for administrators */
export function gatewayStatus(dependencies: StatusDependencies): GatewayStatus {
  const { policy, mode } = dependencies;
  const { gateway, allowed_harnesses: names } = policy;
  const checks = checksOf(dependencies);
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
    ...(mode && { proxy: proxyOf(mode, dependencies.proxy) }),
  };
}

const proxyOf = ({ settings }: GatewayMode, figures: ProxyFigures | undefined) => ({
  mode: settings.proxyMode,
  in_flight: figures?.inFlight ?? null,
  capacity: figures?.capacity ?? null,
  upstream_up: figures?.isUpstreamUp ?? null,
  log_queue: figures?.logQueue ?? null,
  log_dropped: figures?.logDropped ?? null,
});

function checksOf({ policy, mode, signingKeys, ...forwards }: StatusDependencies): Checks {
  const isOn = mode !== undefined; // the service does not start without these four
  return {
    gateway_policy: policy.gateway !== undefined,
    gateway_url: isOn,
    inference_proxy_url: isOn,
    provisioner: isOn,
    secret_encryption: isOn,
    internal_auth:
      mode?.settings.proxyMode === "in-process"
        ? forwards.proxy !== undefined || forwards.isForwardedElsewhere
        : mode?.settings.proxyToken !== undefined,
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
