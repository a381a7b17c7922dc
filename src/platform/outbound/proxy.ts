// The proxy that the environment names for an address. The runtime applies it to the requests of this process by itself; this
// file is for programs that this process starts and for reports about the environment.
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface NamedProxy {
  /** such as `https_proxy` */
  variable: string;
  /** may contain a user name and a password */
  url: string;
}

/** @returns the proxy for an http or https address; undefined if it is reached directly */
export function proxyFor(
  { protocol, hostname, port }: URL,
  environment: Environment,
): NamedProxy | undefined {
  const scheme = protocol.slice(0, -1);
  const variables = [`${scheme}_proxy`, "all_proxy"].flatMap((name) => [name, name.toUpperCase()]);
  const variable = variables.find((name) => environment[name]);
  const url = variable === undefined ? undefined : environment[variable];
  if (variable === undefined || url === undefined) return undefined;
  const exempt = environment.no_proxy ?? environment.NO_PROXY ?? "";
  const peer = { host: hostname.replace(/^\[|\]$/g, ""), port: port || (scheme === "https" ? "443" : "80") };
  return isExempt(peer, exempt) ? undefined : { variable, url };
}

/** Follows the runtime's NO_PROXY: `*`, names with their subdomains, `name:port`, addresses and address ranges. */
const isExempt = (peer: { host: string; port: string }, exempt: string): boolean =>
  exempt
    .toLowerCase()
    .split(",")
    .map((entry) => entry.trim().replace(/^\*?\./, ""))
    .some((entry) => entry === "*" || isSame(peer, entry) || isInRange(peer.host, entry));

function isSame({ host, port }: { host: string; port: string }, entry: string): boolean {
  const [, name = entry, wanted = port] = /^([^:]+):(\d+)$/.exec(entry) ?? [];
  return name !== "" && wanted === port && (host === name || host.endsWith(`.${name}`));
}

function isInRange(host: string, entry: string): boolean {
  if (isIP(host) === 0 || !ipaddr.isValidCIDR(entry)) return false;
  const address = ipaddr.parse(host);
  const [range, bits] = ipaddr.parseCIDR(entry);
  return address.kind() === range.kind() && address.match([range, bits]);
}
