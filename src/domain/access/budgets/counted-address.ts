// Maps a network address to the subject of the budgets that limit addresses. Pages and the audit log still show the address itself.
import ipaddr from "ipaddr.js";

/** Prefix length of the IPv6 addresses that one household or host controls. */
const IPV6_PREFIX_BITS = 64;

/** Prefix lengths of the network that a site is assigned and can choose addresses from. */
const NETWORK_PREFIX_BITS = { ipv4: 24, ipv6: 48 };

/** Dotted decimal, as sockets and URL parsers write it. */
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

/** The shared subject of all callers over a local socket, if no proxy has forwarded an address. */
const LOCAL_SOCKET = "local socket";

/**
 * @param address as for `countedAddress`
 * @returns its /24 or /48 in CIDR notation; any other text unchanged
 */
export function countedNetwork(address: string | null): string {
  if (address === null) return LOCAL_SOCKET;
  if (IPV4.test(address)) return `${address.slice(0, address.lastIndexOf("."))}.0/24`; // most addresses need no parser
  const bare = address.replace(/%.*/, "");
  if (!ipaddr.isValid(bare)) return address;
  const parsed = ipaddr.process(bare);
  const kind = parsed.kind();
  const network = `${parsed}/${NETWORK_PREFIX_BITS[kind]}`;
  const first =
    kind === "ipv4"
      ? ipaddr.IPv4.networkAddressFromCIDR(network)
      : ipaddr.IPv6.networkAddressFromCIDR(network);
  return `${first}/${NETWORK_PREFIX_BITS[kind]}`;
}

/**
 * @param address as the socket or a trusted proxy wrote it, in any spelling, with or without a zone; null over a local socket
 * @returns the /64 of an IPv6 address; an IPv4 address or any other text unchanged
 * @source RFC 4291 sections 2.5.1 (64 bits identify an interface) and 2.5.5.2 (IPv4-mapped)
 */
export function countedAddress(address: string | null): string {
  if (address === null) return LOCAL_SOCKET;
  if (!address.includes(":")) return address; // most addresses need no parser
  const bare = address.replace(/%.*/, "");
  if (!ipaddr.isValid(bare)) return address;
  const parsed = ipaddr.process(bare); // an IPv4-mapped IPv6 address is the same caller
  if (parsed.kind() === "ipv4") return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/${IPV6_PREFIX_BITS}`).toString();
}

export interface CountedAs {
  countedAddress: string;
  countedNetwork: string;
}

export const countedAs = (address: string | null): CountedAs => ({
  countedAddress: countedAddress(address),
  countedNetwork: countedNetwork(address),
});
