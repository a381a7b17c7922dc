// Probes the configured external services, and reports what is affected while one is unreachable. The start never depends on
// them; `status` and `doctor` probe on request.

import { RECEIVER_DESTINATION } from "../../domain/audit/forwarding/https-receiver.ts";
import { isDestinationOf } from "../../domain/catalog/connections/connection.ts";
import { PROXY_DESTINATION, UPSTREAM_DESTINATION } from "../../domain/gateway/inference/proxy-health.ts";
import { discoveryUrl, PROVIDER_DESTINATION } from "../../domain/sso/service.ts";
import { SECOND_MS } from "../../platform/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import { DomainError, reasonForOperators } from "../../platform/errors.ts";
import { discardBody } from "../../platform/outbound/discard-body.ts";
import { isSftpOrigin, isTlsOrigin } from "../../platform/outbound/origins.ts";
import {
  ANY_PUBLIC_HOST,
  createOutbound,
  type Destination,
  type PeerTls,
} from "../../platform/outbound/outbound.ts";
import { RECEIVER_AFFECTS, receiverTlsOf } from "../audit-forwarding/receiver.ts";
import { PUBLIC_ENDPOINT, STORE_AFFECTS, storeCaOf } from "../object-store/buckets.ts";
import { COLLECTOR_AFFECTS, COLLECTOR_DESTINATION, collectorTlsOf } from "../tracing/collector-settings.ts";
import { ConfiguredConnections } from "./connections/configured-connections.ts";
import { allDestinationsOf, GATEWAY_DESTINATION } from "./destinations.ts";
import { caOf } from "./sso-settings.ts";

export interface ExternalService {
  name: string;
  origin: string;
  /** `not_asked`: the destination covers many hosts */
  state: "reachable" | "unreachable" | "not_asked";
  /** why it is unreachable; null otherwise */
  reason: string | null;
  /** effects while it is unreachable */
  affects: string;
}

/** Time limit of a probe; all probes run in parallel. */
const PROBE_TIMEOUT_MS = 3 * SECOND_MS;

/** The path to probe at each service, and what depends on it. */
const PROBES: Readonly<Record<string, { path: string; affects: string }>> = {
  [GATEWAY_DESTINATION]: {
    path: "/health/liveliness",
    affects: "gateway keys are not created, renewed or revoked; existing keys keep working",
  },
  [UPSTREAM_DESTINATION]: { path: "/health/liveliness", affects: "inference of all workstations" },
  [PROXY_DESTINATION]: {
    path: "/health",
    affects: "inference of workstations that the policy sends through the gateway",
  },
};
/**
 * Endpoints that are not probed: the issuer stands for the provider's other endpoints, and `doctor` checks the replica
 * and the store's public endpoint.
 */
const NOT_ASKED = [`${PROVIDER_DESTINATION}-`, PUBLIC_ENDPOINT];
/** The same for hosts to which a repository connection redirects. */
const DOWNLOADS = /^package-source:[^:]+:/;

interface Probe {
  path: string;
  affects: string;
  /** @throws DomainError `config.invalid` if a file with certificates cannot be used */
  tls?: () => PeerTls;
}

function probeOf(config: Config, { name }: Destination): Probe {
  const issuer = config.get("identity.oidc.issuer");
  if (name === PROVIDER_DESTINATION && issuer !== undefined)
    return {
      path: new URL(discoveryUrl(issuer)).pathname,
      affects: "nobody can sign in at the identity provider; sessions and workstations keep working",
      tls: () => ({ ca: caOf(config) }),
    };
  if (name === RECEIVER_DESTINATION)
    return { path: "/", affects: RECEIVER_AFFECTS, tls: () => receiverTlsOf(config) };
  if (name === COLLECTOR_DESTINATION)
    return { path: "/", affects: COLLECTOR_AFFECTS, tls: () => collectorTlsOf(config) };
  const connection = new ConfiguredConnections(config).list().find((known) => isDestinationOf(known, name));
  if (connection)
    return {
      path: "/",
      affects: "no commits of its repositories are mirrored; mirrored archives are still served",
      tls: () => ({ ca: connection.ca }),
    };
  const affects = STORE_AFFECTS[name];
  if (affects === undefined) return PROBES[name] ?? NOT_PROBED;
  const bucket = config.get("blobs.s3.bucket") ?? config.get("blobs.s3.package_bucket");
  const path = config.get("blobs.s3.path_style") ? `/${bucket}` : "/";
  return { path, affects, tls: () => ({ ca: storeCaOf(config), linkLocal: "allowed" }) };
}

/** Sends an empty message; a receiver that accepts it is reachable. */
const NOTHING = new Uint8Array();
const NOT_PROBED = { path: "/", affects: "archives that an administrator names are not fetched" };

/** @returns the state of every configured destination, probed now; does not reject if one fails to answer */
export function probeExternalServices(
  config: Config,
  timeoutMs = PROBE_TIMEOUT_MS,
): Promise<ExternalService[]> {
  const destinations = allDestinationsOf(config).filter(
    ({ name, origin }) =>
      !NOT_ASKED.some((beginning) => name.startsWith(beginning)) &&
      !DOWNLOADS.test(name) &&
      !isSftpOrigin(origin),
  );
  const outbound = createOutbound({ allowed: destinations });
  return Promise.all(
    destinations.map(async (destination) => {
      const { affects, path, tls } = probeOf(config, destination);
      const probe = async () => {
        const request = { timeoutMs, ...(tls && { tls: tls() }) };
        if (!isTlsOrigin(destination.origin)) return await outbound.fetch(destination.name, path, request);
        await outbound.deliver(destination.name, NOTHING, { tls: { ca: undefined }, ...request });
        return undefined;
      };
      return { ...(await ask(destination, probe)), affects };
    }),
  );
}

async function ask(
  { name, origin }: Destination,
  question: () => Promise<Response | undefined>,
): Promise<Omit<ExternalService, "affects">> {
  if (origin === ANY_PUBLIC_HOST) return { name, origin, state: "not_asked", reason: null };
  try {
    const response = await question();
    await discardBody(response);
    // Any response below 500 shows that the service is up, even if it rejects the request.
    if (!response || response.status < 500) return { name, origin, state: "reachable", reason: null };
    return { name, origin, state: "unreachable", reason: `it answered ${response.status}` };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { name, origin, state: "unreachable", reason: reasonFor(name, error) };
  }
}

/** The origin is shown beside the reason, so the reason does not repeat the name of the destination. */
function reasonFor(name: string, error: DomainError): string {
  const reason = reasonForOperators(error);
  return reason.startsWith(`${name} `) ? `it${reason.slice(name.length)}` : reason;
}
