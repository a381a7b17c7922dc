// The collector of traces, from the settings `tracing.*`. It contacts nothing.
import type { Config } from "../../platform/config/config.ts";
import type { Destination, PeerTls } from "../../platform/outbound/outbound.ts";
import { SPANS_WAITING_MAX } from "../../platform/tracing/span-queue.ts";
import { peerTlsOf } from "../files/peer-files.ts";

/** Name in the list of outgoing connections. */
export const COLLECTOR_DESTINATION = "trace-collector";

/** The effect of an unreachable collector. */
export const COLLECTOR_AFFECTS = `traces are dropped once ${SPANS_WAITING_MAX} spans wait; nothing else is affected`;

/** @source OTLP specification 1.9, "OTLP/HTTP Request" */
const DEFAULT_PATH = "/v1/traces";

export function collectorPathOf(url: string): string {
  const { pathname } = new URL(url);
  return pathname === "/" ? DEFAULT_PATH : pathname;
}

/** @returns none while tracing is off */
export function collectorDestinations(config: Config): readonly Destination[] {
  const url = config.get("tracing.url");
  return url === undefined
    ? []
    : [{ name: COLLECTOR_DESTINATION, origin: new URL(url).origin, why: "receives traces of requests" }];
}

/** @throws DomainError `config.invalid` if a file cannot be read or has no usable certificate or key */
export const collectorTlsOf = (config: Config): PeerTls =>
  peerTlsOf(config, "tracing", "the trace collector");
