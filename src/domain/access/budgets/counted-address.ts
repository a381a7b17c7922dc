// Whose attempts a network address counts as: budgets that limit addresses name their subject by it. What is shown and
// audited stays the address itself.
import ipaddr from "ipaddr.js";

/** Bits of an IPv6 address that belong to one household or host, which has all addresses below them. */
const IPV6_PREFIX_BITS = 64;

/** Bits of an address that belong to one network: what a site is given, and what a caller can choose among. */
const NETWORK_PREFIX_BITS = { ipv4: 24, ipv6: 48 };

/** In the spelling that sockets and URL parsers write. */
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

/** What the callers of a local socket count as, all together, where no proxy has named an address. */
export const LOCAL_SOCKET = "local socket";

/** @param address as `countedAddress` takes it @returns its /24 or /48 in CIDR notation, of anything else the text as it is */
export function countedNetwork(address: string | null): string {
  if (address === null) return LOCAL_SOCKET;
  if (IPV4.test(address)) return `${address.slice(0, address.lastIndexOf("."))}.0/24`; // the common case needs no parser
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
 * @returns an IPv4 address as it is, of an IPv6 address its /64, of anything else the text as it is
 * @source RFC 4291 sections 2.5.1 (64 bits name an interface) and 2.5.5.2 (IPv4-mapped)
 */
export function countedAddress(address: string | null): string {
  if (address === null) return LOCAL_SOCKET;
  if (!address.includes(":")) return address; // the common case needs no parser
  const bare = address.replace(/%.*/, "");
  if (!ipaddr.isValid(bare)) return address;
  const parsed = ipaddr.process(bare); // an IPv4 address in IPv6 clothes is the same caller
  if (parsed.kind() === "ipv4") return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/${IPV6_PREFIX_BITS}`).toString();
}

/** @returns how a device login of this address is counted */
/** What the budgets and limits of a caller are counted by. */
export interface CountedAs {
  countedAddress: string;
  countedNetwork: string;
}

export const countedAs = (address: string | null): CountedAs => ({
  countedAddress: countedAddress(address),
  countedNetwork: countedNetwork(address),
});
