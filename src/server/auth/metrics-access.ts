// Decides who may read the metrics: a caller with the metrics token, or a local process while the service is reachable only
// from this machine. guard.ts admits administrators.
import { BlockList, isIP, isIPv6 } from "node:net";
import { equalInConstantTime } from "../../platform/crypto/constant-time.ts";
import type { Secret } from "../../platform/secret.ts";
import type { Exchange } from "../http/exchange.ts";
import { bearerTokenIn } from "./bearer-token.ts";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Behind a reverse proxy on this machine every caller looks local. These headers reveal such a proxy, if it sends any. */
const FORWARDING_HEADERS = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

export interface MetricsAccess {
  token: Secret | undefined;
  /** our public origin; unless it is local, other machines may reach us through a proxy on this one */
  origin: string;
}

export function canReadMetrics(
  request: Request,
  { address }: Pick<Exchange, "address">,
  { token, origin }: MetricsAccess,
): boolean {
  const given = bearerTokenIn(request);
  if (token && given !== undefined && equalInConstantTime(given, token.reveal())) return true;
  if (address === null || FORWARDING_HEADERS.some((name) => request.headers.has(name))) return false;
  return isLocal(address) && isLocal(new URL(origin).hostname.replace(/^\[|\]$/g, "")) && isForLocal(request);
}

const HOST_AND_PORT = /^(?:\[([^\]]+)\]|([^:]+))(?::\d{1,5})?$/;

/** Prevents DNS rebinding: a page whose host name resolves to this machine still sends that name as the host. */
function isForLocal(request: Request): boolean {
  const [, bracketed, bare] = HOST_AND_PORT.exec(request.headers.get("host") ?? "") ?? [];
  const host = bracketed ?? bare;
  return host !== undefined && isLocal(host.toLowerCase());
}

const isLocal = (host: string): boolean =>
  host === "localhost" || (isIP(host) !== 0 && loopback.check(host, isIPv6(host) ? "ipv6" : "ipv4"));
