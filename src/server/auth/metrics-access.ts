// Who may read the metrics: the holder of the metrics token, or somebody on this machine while nobody else is served
// (operator-experience.md OBS-2). Administrators are let in by guard.ts.
import { BlockList, isIP, isIPv6 } from "node:net";
import type { Secret } from "../../platform/secret.ts";
import type { Exchange } from "../http/exchange.ts";
import { equalInConstantTime } from "./constant-time.ts";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** A proxy on this machine makes every stranger look local, and tells of it in these at best. */
const FORWARDING_HEADERS = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

export interface MetricsAccess {
  token: Secret | undefined;
  /** under which callers reach us: one that other machines can reach too may be a proxy's */
  origin: string;
}

export function canReadMetrics(
  request: Request,
  { address }: Pick<Exchange, "address">,
  { token, origin }: MetricsAccess,
): boolean {
  const given = request.headers.get("authorization");
  if (token && given !== null && equalInConstantTime(given, `Bearer ${token.reveal()}`)) return true;
  if (address === null || FORWARDING_HEADERS.some((name) => request.headers.has(name))) return false;
  return isLocal(address) && isLocal(new URL(origin).hostname.replace(/^\[|\]$/g, "")) && isForLocal(request);
}

const HOST_AND_PORT = /^(?:\[([^\]]+)\]|([^:]+))(?::\d{1,5})?$/;

/** A page of another site that has its name point to this machine (DNS rebinding) sends that name as the host. */
function isForLocal(request: Request): boolean {
  const [, bracketed, bare] = HOST_AND_PORT.exec(request.headers.get("host") ?? "") ?? [];
  const host = bracketed ?? bare;
  return host !== undefined && isLocal(host.toLowerCase());
}

const isLocal = (host: string): boolean =>
  host === "localhost" || (isIP(host) !== 0 && loopback.check(host, isIPv6(host) ? "ipv6" : "ipv4"));
