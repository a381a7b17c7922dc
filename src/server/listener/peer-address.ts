// Finds the caller's address: the peer of the connection, or the address forwarded by trusted proxies. Only the
// configured header is read, because proxies pass on the others as the caller sent them.
import { BlockList, isIP, isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";
import {
  type AddressRange,
  FORWARDED_HEADERS,
  type ForwardedHeader,
} from "../../platform/config/addresses.ts";

export interface ProxyTrust {
  /** peers whose forwarding header is trusted */
  trustedProxies: readonly AddressRange[];
  /** the only forwarding header that is read */
  forwardedHeader: ForwardedHeader;
}

/**
 * How the caller's address was found. `none`: it is the peer's. `trusted`: a trusted proxy forwarded it. `missing`: a trusted
 * proxy did not. `untrusted`: the peer forwarded one and is not trusted. `socket`: a Unix socket without a trusted proxy.
 */
export type Forwarding = "none" | "trusted" | "missing" | "untrusted" | "socket";

/** Finds callers' addresses. */
export interface PeerAddresses {
  /**
   * @param peer the peer of the connection; null on a Unix socket, which is trusted if any proxy is
   * @returns the last address that is not a trusted proxy; if an entry cannot be read, the address of the proxy that added it
   */
  addressOf(headers: Headers, peer: string | null): string | null;
  /** @returns how `addressOf` finds the address */
  forwardingOf(headers: Headers, peer: string | null): Forwarding;
  /**
   * @returns the peer and its forwarding header, if it sent one without being a trusted proxy; undefined for most requests
   */
  untrusted(headers: Headers, peer: () => string | null): UntrustedPeer | undefined;
}

export interface UntrustedPeer {
  /** null on a Unix socket */
  peer: string | null;
  header: ForwardedHeader;
}

/** @returns a lookup that trusts these proxies */
export function createPeerAddresses({ trustedProxies, forwardedHeader }: ProxyTrust): PeerAddresses {
  const isTrusted = trustedPeerCheck(trustedProxies);
  const isTrustedPeer = withLastAnswer(isTrusted);
  const read = forwardedHeader === "forwarded" ? forwardedFor : addressIn;
  /** whether all entries up to the caller's are readable; otherwise the address belongs to a proxy */
  const isReadable = (header: string): boolean => {
    let found: string | undefined;
    for (const entry of entriesFromLast(header)) {
      found = read(entry);
      if (found === undefined || !isTrusted(found)) break;
    }
    return found !== undefined;
  };
  return {
    addressOf(headers, peer) {
      let address = peer === null ? null : plain(peer);
      if (!isTrustedPeer(address)) return address;
      for (const entry of entriesFromLast(headers.get(forwardedHeader) ?? "")) {
        const next = read(entry);
        if (next === undefined) break;
        address = next;
        if (!isTrusted(address)) break;
      }
      return address;
    },
    forwardingOf(headers, peer) {
      if (isTrustedPeer(peer === null ? null : plain(peer)))
        return isReadable(headers.get(forwardedHeader) ?? "") ? "trusted" : "missing";
      if (FORWARDED_HEADERS.some((name) => headers.has(name))) return "untrusted";
      return peer === null ? "socket" : "none";
    },
    untrusted(headers, peerOf) {
      const header = FORWARDED_HEADERS.find((name) => headers.has(name));
      if (header === undefined) return undefined;
      const from = peerOf();
      const peer = from === null ? null : plain(from);
      return isTrustedPeer(peer) ? undefined : { peer, header };
    },
  };
}

/** @returns whether a peer is a trusted proxy; a Unix socket is trusted if any proxy is */
export function trustedPeerCheck(ranges: readonly AddressRange[]): (peer: string | null) => boolean {
  const list = new BlockList();
  for (const { address, prefix, family } of ranges) list.addSubnet(address, prefix, family);
  const isInIpv4Range = ipv4RangeCheck(ranges);
  const isIpv4Alone = ranges.every(({ family }) => family === "ipv4"); // other ranges may contain IPv4-mapped addresses
  return (peer) => {
    if (ranges.length === 0) return false;
    if (peer === null) return true;
    if (isIpv4Alone && isIPv4(peer)) return isInIpv4Range(peer);
    return list.check(peer, isIPv6(peer) ? "ipv6" : "ipv4");
  };
}

const IPV4_BITS = 32;

/** The list of the runtime takes longer than the rest of a look-up, and most addresses and ranges are IPv4. */
function ipv4RangeCheck(ranges: readonly AddressRange[]): (address: string) => boolean {
  const blocks = ranges
    .filter(({ family }) => family === "ipv4")
    .map(({ address, prefix }) => {
      const size = 2 ** (IPV4_BITS - prefix);
      return { size, block: Math.floor(ipv4Number(address) / size) };
    });
  return (address) => {
    const number = ipv4Number(address);
    return blocks.some(({ size, block }) => Math.floor(number / size) === block);
  };
}

/** @param address in dotted decimal */
const ipv4Number = (address: string): number =>
  address.split(".").reduce((number, part) => number * 256 + Number(part), 0);

/** Most requests come from a few connections, and each request needs the address several times. */
function withLastAnswer(ask: (peer: string | null) => boolean): (peer: string | null) => boolean {
  let lastPeer: string | null | undefined;
  let answer = false;
  return (peer) => {
    if (peer !== lastPeer) {
      answer = ask(peer);
      lastPeer = peer;
    }
    return answer;
  };
}

/** A dual-stack socket reports an IPv4 peer as an IPv4-mapped address. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, "");

/**
 * Reads from the end, because the caller may have sent the first entries. They must not affect the entries of the
 * proxies.
 * @source RFC 9110 section 5.6.1: empty entries are ignored
 */
function* entriesFromLast(header: string): Generator<string> {
  if (!header.includes(",")) {
    const entry = header.trim();
    if (entry !== "") yield entry;
    return;
  }
  let end = header.length;
  let isQuoted = false;
  for (let index = end - 1; index >= -1; index -= 1) {
    if (header[index] === '"') isQuoted = !isQuoted;
    const isBorder = index < 0 || (header[index] === "," && !isQuoted);
    if (!isBorder) continue;
    const entry = header.slice(index + 1, end).trim();
    end = index;
    if (entry !== "") yield entry;
  }
}

/** An IPv4 address or an IPv6 address in brackets, with an optional port. */
const NODE = /^(?:\[([^\]]+)\]|([^:]+))(?::(?:\d{1,5}|_[\w.-]+))?$/;

/** @returns the address in an X-Forwarded-For entry or an RFC 7239 node; undefined if there is none */
function addressIn(node: string): string | undefined {
  const [, bracketed, bare] = NODE.exec(node) ?? [];
  const address = bracketed ?? bare ?? node;
  if (isIPv4(address)) return address; // IPv4 has only one spelling
  return isIP(address) === 0 ? undefined : ipaddr.process(address).toString();
}

/** One parameter of a Forwarded element. Quotes around the value are optional because some proxies omit them. */
const PARAMETER = /\s*([\w!#$%&'*+.^`|~-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s";,]+))\s*(?:;|$)/y;

/**
 * @returns the address in an element of the Forwarded header; undefined if there is none
 * @source RFC 7239 section 4
 */
function forwardedFor(element: string): string | undefined {
  const nodes: string[] = [];
  PARAMETER.lastIndex = 0;
  while (PARAMETER.lastIndex < element.length) {
    const [, name, quoted, bare = ""] = PARAMETER.exec(element) ?? [];
    if (name === undefined) return undefined; // a failed match resets lastIndex
    if (name.toLowerCase() === "for") nodes.push(quoted?.replace(/\\(.)/g, "$1") ?? bare);
  }
  const [node] = nodes;
  return node === undefined || nodes.length > 1 ? undefined : addressIn(node);
}
