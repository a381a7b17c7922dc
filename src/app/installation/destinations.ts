// Lists every destination that the settings let the service connect to. The service cannot connect to any other
// (platform/outbound/outbound.ts). An area that needs a connection adds its destinations here. The identity provider names some of
// its origins itself, so they come from what is known about it.
import { PUBLIC_SOURCES_DESTINATION } from "../../domain/catalog/sources/package-sources.ts";
import { PROXY_DESTINATION } from "../../domain/gateway/inference/proxy-health.ts";
import { providerDestinations } from "../../domain/sso/service.ts";
import type { Config } from "../../platform/config/config.ts";
import { ANY_PUBLIC_HOST, type Destination } from "../../platform/outbound/outbound.ts";
import { storedMetadata } from "./stored-metadata.ts";

/** Name of the inference gateway in the list. */
export const GATEWAY_DESTINATION = "gateway";

/**
 * @returns the same with the identity provider, whose endpoints may be elsewhere than its issuer
 * @throws DomainError `storage.*`
 */
export function allDestinationsOf(config: Config): readonly Destination[] {
  const issuer = config.get("identity.oidc.issuer");
  if (issuer === undefined) return destinationsOf(config);
  return [...destinationsOf(config), ...providerDestinations(issuer, storedMetadata(config, issuer))];
}

/** @returns the destinations that the settings alone decide */
export const destinationsOf = (config: Config): readonly Destination[] => [
  ...gatewayDestinations(config),
  ...destination(PUBLIC_SOURCES_DESTINATION, {
    origin: config.get("package_sources.public") ? ANY_PUBLIC_HOST : undefined,
    why: "package archives that an administrator names, from any public https host",
  }),
];

function gatewayDestinations(config: Config): readonly Destination[] {
  if (!config.has("gateway.type")) return [];
  const isBuiltin = !config.has("gateway.provisioner.executable_path");
  return [
    ...destination(GATEWAY_DESTINATION, {
      origin: isBuiltin ? config.get("gateway.url") : undefined,
      why: "creates and revokes gateway keys",
    }),
    ...destination(PROXY_DESTINATION, {
      origin: config.get("gateway.inference_proxy_health_url") ?? config.get("gateway.inference_proxy_url"),
      why: "answers health checks that an administrator requests",
    }),
  ];
}

const destination = (
  name: string,
  { origin, why }: { origin: string | undefined; why: string },
): readonly Destination[] => (origin === undefined ? [] : [{ name, origin, why }]);
