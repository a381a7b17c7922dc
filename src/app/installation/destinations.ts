// Lists every destination that the settings let the service connect to. The service cannot connect to any other
// (platform/outbound/outbound.ts). An area that needs a connection adds its destinations here. The identity provider chooses
// some of its origins itself, so they come from its stored metadata.
import { destinationsOfConnection } from "../../domain/catalog/connections/connection.ts";
import { PUBLIC_SOURCES_DESTINATION } from "../../domain/catalog/sources/package-sources.ts";
import { PROXY_DESTINATION, UPSTREAM_DESTINATION } from "../../domain/gateway/inference/proxy-health.ts";
import { providerDestinations } from "../../domain/sso/service.ts";
import type { Config } from "../../platform/config/config.ts";
import { ANY_PUBLIC_HOST, type Destination } from "../../platform/outbound/outbound.ts";
import { receiverDestinations } from "../audit-forwarding/receiver.ts";
import { storeDestinations } from "../object-store/buckets.ts";
import { sftpDestinations } from "../standby/sftp-replica.ts";
import { collectorDestinations } from "../tracing/collector-settings.ts";
import { ConfiguredConnections } from "./connections/configured-connections.ts";
import { configuredOrigin } from "./origin.ts";
import { isProxyInProcess, PROXY_PREFIX } from "./proxy-settings.ts";
import { storedMetadata } from "./stored-facts.ts";

/** Name of the inference gateway in the list, for its administration. */
export const GATEWAY_DESTINATION = "gateway";

/**
 * @returns `destinationsOf`, with the repository connections and the identity provider, whose endpoints may be at other
 * origins than its issuer
 * @throws DomainError `storage.*`
 */
export function allDestinationsOf(config: Config): readonly Destination[] {
  const issuer = config.get("identity.oidc.issuer");
  const connections = new ConfiguredConnections(config).list().flatMap(destinationsOfConnection);
  const decided = [...destinationsOf(config, configuredOrigin(config)), ...connections];
  return issuer === undefined
    ? decided
    : [...decided, ...providerDestinations(issuer, storedMetadata(config, issuer))];
}

/**
 * @param ownOrigin of this service; undefined if unknown
 * @returns the destinations that follow from the settings alone
 */
export const destinationsOf = (config: Config, ownOrigin?: string): readonly Destination[] => [
  ...gatewayDestinations(config, ownOrigin),
  ...storeDestinations(config),
  ...sftpDestinations(config),
  ...receiverDestinations(config),
  ...collectorDestinations(config),
  ...destination(PUBLIC_SOURCES_DESTINATION, {
    origin: config.get("package_sources.public") ? ANY_PUBLIC_HOST : undefined,
    why: "package archives that an administrator names, from any public https host",
  }),
];

function gatewayDestinations(config: Config, ownOrigin: string | undefined): readonly Destination[] {
  if (!config.has("gateway.type")) return [];
  const isBuiltin = !config.has("gateway.provisioner.executable_path");
  const ownProxy = ownOrigin === undefined ? undefined : `${ownOrigin}${PROXY_PREFIX}`;
  return [
    ...at(config.get("gateway.url"), {
      why: "creates and revokes gateway keys",
      name: GATEWAY_DESTINATION,
      isListed: isBuiltin,
    }),
    ...at(config.get("gateway.url"), {
      why: "receives the inference requests of workstations",
      name: UPSTREAM_DESTINATION,
      isListed: isProxyInProcess(config),
    }),
    ...at(
      config.get("gateway.inference_proxy_health_url") ??
        config.get("gateway.inference_proxy_url") ??
        ownProxy,
      { why: "answers health checks that an administrator requests", name: PROXY_DESTINATION },
    ),
  ];
}

const destination = (
  name: string,
  { origin, why }: { origin: string | undefined; why: string },
): readonly Destination[] => (origin === undefined ? [] : [{ name, origin, why }]);

/** @param url with or without a path */
function at(
  url: string | undefined,
  { isListed = true, ...named }: { name: string; why: string; isListed?: boolean },
): readonly Destination[] {
  if (url === undefined || !isListed) return [];
  const { origin, pathname } = new URL(url);
  return [{ ...named, origin, ...(pathname !== "/" && { base: pathname }) }];
}
