// Who may read the metrics: the holder of the metrics token, or somebody on this machine (operator-experience.md OBS-2).
import { BlockList, isIPv6 } from "node:net";
import type { Secret } from "../platform/secret.ts";
import { equalInConstantTime } from "./constant-time.ts";
import type { Exchange } from "./exchange.ts";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** A proxy on this machine would make every stranger look local: what it forwards does not count. */
const FORWARDING_HEADERS = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

export function mayReadMetrics(request: Request, exchange: Exchange, token: Secret | undefined): boolean {
  const given = request.headers.get("authorization");
  if (token && given !== null && equalInConstantTime(given, `Bearer ${token.reveal()}`)) return true;
  const { address } = exchange;
  if (address === null || FORWARDING_HEADERS.some((name) => request.headers.has(name))) return false;
  return loopback.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}
