// Defines which URLs, host names and addresses count as public for public-https.ts. Pure rules: no lookup, no connection.
import { isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";
import { DomainError } from "../errors.ts";

/** The smallest range around an address decides. An IPv6 address in none of them is not public. */
const RANGES: readonly (readonly [range: string, isPublic: boolean])[] = [
  ["0.0.0.0/0", true],
  ["0.0.0.0/8", false],
  ["10.0.0.0/8", false],
  ["100.64.0.0/10", false],
  ["127.0.0.0/8", false],
  ["169.254.0.0/16", false],
  ["172.16.0.0/12", false],
  ["192.0.0.0/24", false],
  ["192.0.0.9/32", true],
  ["192.0.0.10/32", true],
  ["192.0.2.0/24", false],
  ["192.88.99.0/24", false],
  ["192.168.0.0/16", false],
  ["198.18.0.0/15", false],
  ["198.51.100.0/24", false],
  ["203.0.113.0/24", false],
  ["224.0.0.0/4", false],
  ["240.0.0.0/4", false],
  ["2000::/3", true],
  ["2001::/23", false],
  ["2001:1::1/128", true],
  ["2001:1::2/128", true],
  ["2001:1::3/128", true],
  ["2001:3::/32", true],
  ["2001:4:112::/48", true],
  ["2001:20::/28", true],
  ["2001:30::/28", true],
  ["2001:db8::/32", false],
  ["2002::/16", false],
  ["3fff::/20", false],
];

const SMALLEST_FIRST = RANGES.map(([text, isPublic]) => ({ range: ipaddr.parseCIDR(text), isPublic })).sort(
  ({ range: [, left] }, { range: [, right] }) => right - left,
);

/** Hexadecimal only, without a zone, because the library mistakes `::8.8.8.8` for an IPv4-mapped address. */
function expandedAddress(text: string): string | undefined {
  if (!isIPv6(text)) return isIPv4(text) ? text : undefined;
  return URL.parse(`https://[${text}]`)?.hostname.slice(1, -1);
}

/**
 * @param text an address as a resolver or a URL spells it; an IPv4-mapped address counts as its IPv4 address
 * @returns whether the address is public; false for text that is not an address
 * @source the special-purpose registries of RFC 6890
 */
export function isPublicAddress(text: string): boolean {
  const spelled = expandedAddress(text);
  if (spelled === undefined) return false;
  const address = ipaddr.process(spelled);
  const around = SMALLEST_FIRST.find(
    ({ range: [network, bits] }) => network.kind() === address.kind() && address.match(network, bits),
  );
  return around?.isPublic ?? false;
}

/** Metadata addresses, where cloud machines get their credentials, and link-local addresses. */
const LINK_LOCAL = [
  "169.254.0.0/16",
  "fe80::/10",
  "fd00:ec2::254/128",
  "100.100.100.200/32",
  "192.0.0.192/32",
].map((range) => ipaddr.parseCIDR(range));

/**
 * @param text an address as a resolver or a URL spells it, or a name
 * @returns whether it is a link-local or metadata address; false for a name
 * @source RFC 3927, RFC 4291 section 2.5.6, and the documentation of AWS, Alibaba Cloud and Oracle Cloud
 */
export function isLinkLocalAddress(text: string): boolean {
  const spelled = expandedAddress(text.replace(/^\[|\]$/g, ""));
  if (spelled === undefined) return false;
  const address = ipaddr.process(spelled);
  return LINK_LOCAL.some((range) => range[0].kind() === address.kind() && address.match(range));
}

const LOCAL_NAME = /(?:^|\.)(?:localhost|local)\.?$/;

/** @returns whether a host name can only mean this machine or its own network */
export const isLocalName = (host: string): boolean => LOCAL_NAME.test(host.toLowerCase());

/**
 * Parses a URL that must be public. Its addresses are checked when it is fetched.
 * @throws DomainError `invalid` outbound.bad_url with all problems, without repeating the text
 */
export function publicUrl(text: string): URL {
  const url = URL.parse(text);
  const wrong = url ? publicUrlProblem(url, text) : ["be a whole https URL"];
  if (url && wrong.length === 0) return url;
  throw new DomainError("invalid", "outbound.bad_url", `the address must ${wrong.join(", ")}`);
}

const publicUrlProblem = (url: URL, text: string): string[] => [
  ...(url.protocol === "https:" ? [] : ["begin with https://"]),
  ...(url.username === "" && url.password === "" ? [] : ["hold no user name and no password"]),
  ...(text.includes("#") ? ["have no fragment"] : []),
  ...(isLocalName(url.hostname) ? ["name a public host"] : []),
];
