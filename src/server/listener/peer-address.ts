// Who calls: the peer of the connection, or behind trusted proxies the address that they forward. One header is read, because
// a proxy passes on the other ones as the caller sent them.
import { BlockList, isIP, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";
import {
  type AddressRange,
  FORWARDED_HEADERS,
  type ForwardedHeader,
} from "../../platform/config/addresses.ts";

export interface ProxyTrust {
  /** peers whose forwarding header is believed */
  trustedProxies: readonly AddressRange[];
  /** the one header that is read */
  forwardedHeader: ForwardedHeader;
}

/** Tells who calls. */
export interface PeerAddresses {
  /**
   * @param peer the other end of the connection; null on a Unix socket, whose peers are believed where any proxy is trusted
   * @returns the last address that no trusted proxy has; where an entry cannot be read, that of the proxy that wrote it
   */
  addressOf(headers: Headers, peer: string | null): string | null;
  /** @returns the peer and its forwarding header, where it sent one and is no trusted proxy; most requests have none */
  untrusted(headers: Headers, peer: () => string | null): UntrustedPeer | undefined;
}

export interface UntrustedPeer {
  /** null on a Unix socket */
  peer: string | null;
  header: ForwardedHeader;
}

/** @returns the addresses of callers behind these proxies */
export function createPeerAddresses({ trustedProxies, forwardedHeader }: ProxyTrust): PeerAddresses {
  const isTrusted = trustIn(trustedProxies);
  const read = forwardedHeader === "forwarded" ? forwardedFor : addressIn;
  return {
    addressOf(headers, peer) {
      let address = peer === null ? null : plain(peer);
      if (!isTrusted(address)) return address;
      for (const entry of entriesFromLast(headers.get(forwardedHeader) ?? "")) {
        const next = read(entry);
        if (next === undefined) break;
        address = next;
        if (!isTrusted(address)) break;
      }
      return address;
    },
    untrusted(headers, peerOf) {
      const header = FORWARDED_HEADERS.find((name) => headers.has(name));
      if (header === undefined) return undefined;
      const from = peerOf();
      const peer = from === null ? null : plain(from);
      return isTrusted(peer) ? undefined : { peer, header };
    },
  };
}

/** @returns whether a peer is a trusted proxy; one on a Unix socket is where there is any */
export function trustIn(ranges: readonly AddressRange[]): (peer: string | null) => boolean {
  const list = new BlockList();
  for (const { address, prefix, family } of ranges) list.addSubnet(address, prefix, family);
  return (peer) => ranges.length > 0 && (peer === null || list.check(peer, isIPv6(peer) ? "ipv6" : "ipv4"));
}

/** A dual-stack socket shows an IPv4 peer as an IPv4-mapped address. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, "");

/**
 * From the last entry on: the first ones may be the caller's, and must not change how those of proxies are read.
 * @source RFC 9110 section 5.6.1: empty entries count for nothing
 */
function* entriesFromLast(header: string): Generator<string> {
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

/** An IPv4 address or an IPv6 address in brackets, with a port or without. */
const NODE = /^(?:\[([^\]]+)\]|([^:]+))(?::(?:\d{1,5}|_[\w.-]+))?$/;

/** @returns the address in an X-Forwarded-For entry or an RFC 7239 node, undefined for anything else */
function addressIn(node: string): string | undefined {
  const [, bracketed, bare] = NODE.exec(node) ?? [];
  const address = bracketed ?? bare ?? node;
  return isIP(address) === 0 ? undefined : ipaddr.process(address).toString();
}

/** One parameter of a Forwarded element, the quotes around its value optional as some proxies leave them out. */
const PARAMETER = /\s*([\w!#$%&'*+.^`|~-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s";,]+))\s*(?:;|$)/y;

/** @returns the address that an element of the Forwarded header names, undefined for anything else @source RFC 7239 section 4 */
function forwardedFor(element: string): string | undefined {
  const nodes: string[] = [];
  PARAMETER.lastIndex = 0;
  while (PARAMETER.lastIndex < element.length) {
    const [, name, quoted, bare = ""] = PARAMETER.exec(element) ?? [];
    if (name === undefined) return undefined; // a failed match has set lastIndex back
    if (name.toLowerCase() === "for") nodes.push(quoted?.replace(/\\(.)/g, "$1") ?? bare);
  }
  const [node] = nodes;
  return node === undefined || nodes.length > 1 ? undefined : addressIn(node);
}
