// Setting types for network addresses: listen addresses, origins, URLs and ranges of trusted proxies. Other types are in
// config/types.ts. Nothing here opens a connection or resolves a name.
import { BlockList, isIP, isIPv4, isIPv6 } from "node:net";
import { resolve } from "node:path";
import { type SettingType, scalarText } from "./types.ts";

/** Where the server listens. `host` has no brackets; port 0 lets the system choose. */
export type Listen =
  | { readonly kind: "tcp"; readonly host: string; readonly port: number }
  | { readonly kind: "unix"; readonly path: string };

/** A range in the form that `BlockList.addSubnet` takes; a single address is a range with the longest prefix. */
export interface AddressRange {
  readonly address: string;
  readonly prefix: number;
  readonly family: "ipv4" | "ipv6";
}

/** Headers in which proxies pass on the address of their client. */
export const FORWARDED_HEADERS = ["x-forwarded-for", "forwarded"] as const;
export type ForwardedHeader = (typeof FORWARDED_HEADERS)[number];

export const PORT_MAX = 65_535;
/** size of `sun_path` without its terminating null byte, unix(7) */
export const UNIX_PATH_BYTES_MAX = 107;

const UNIX = "unix:";
const HOST_AND_PORT = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/;
const HOST_NAME = /^(?![\d.]+$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*\.?$/i;
const ORIGIN = /^https?:\/\/[^/?#@\\\s]+\/?$/i;
const URL_WITH_PATH = /^https?:\/\/[^/?#@\\\s]+(?:\/[^?#@\\\s%;]*)?$/i;

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** `host:port`, `[ipv6]:port`, or `unix:` and a path of at most UNIX_PATH_BYTES_MAX bytes. */
export const listenAddress: SettingType<Listen> = {
  placeholder: "address",
  read: (raw, folder) => {
    const given = scalarText(raw) ?? "";
    const value = given.startsWith(UNIX) ? unixSocket(given.slice(UNIX.length), folder) : hostAndPort(given);
    return value === undefined
      ? {
          wrong: `must be host:port (port 0 to ${PORT_MAX}), [ipv6]:port, or unix:/path (at most ${UNIX_PATH_BYTES_MAX} bytes)`,
        }
      : { value, text: listenText(value) };
  },
};

const encrypted = (type: SettingType<string>): SettingType<string> => ({
  ...type,
  read: (raw, folder) => {
    const reading = type.read(raw, folder);
    if ("wrong" in reading) return reading;
    const { protocol, hostname } = new URL(reading.value);
    return protocol === "https:" || isLoopbackHost(hostname)
      ? reading
      : { wrong: "must be https (http is only for localhost)" };
  },
});

export const ISSUER_LENGTH_MAX = 500;

/**
 * The issuer of an identity provider: an https URL (http for a loopback host) without query, fragment or credentials. The
 * text stays as it is, because issuers are compared exactly and a trailing slash counts (OpenID Connect Discovery section
 * 4.3).
 */
export const issuerUrl: SettingType<string> = {
  placeholder: "url",
  read: (raw) => {
    const given = scalarText(raw) ?? "";
    const url = /[?#@\\\s]/.test(given) || given.length > ISSUER_LENGTH_MAX ? null : URL.parse(given);
    const isProvider =
      url?.protocol === "https:" || (url?.protocol === "http:" && isLoopbackHost(url.hostname));
    return isProvider
      ? { value: given, text: given }
      : {
          wrong: `must be the issuer's https URL of at most ${ISSUER_LENGTH_MAX} characters, without query and fragment (http is only for localhost)`,
        };
  },
};

/** `https://host[:port]` or `http://host[:port]`, for requests without secrets; the value has no trailing slash. */
export const anyOrigin: SettingType<string> = {
  placeholder: "url",
  read: (raw) => {
    const given = scalarText(raw) ?? "";
    if (!ORIGIN.test(given) || !URL.canParse(given))
      return {
        wrong:
          "must be an origin such as https://quartermaster.example.org, without path, query or credentials",
      };
    const { origin } = new URL(given);
    return { value: origin, text: origin };
  },
};

/** Like `anyOrigin`, with an optional path; normalized for comparison. */
export const anyUrl: SettingType<string> = {
  placeholder: "url",
  read: (raw) => {
    const given = scalarText(raw) ?? "";
    const url = URL_WITH_PATH.test(given) ? URL.parse(given) : null;
    if (url === null || url.pathname.includes("//"))
      return {
        wrong: "must be a URL such as https://gateway.example.org/v2, without query or credentials",
      };
    const value = url.origin + url.pathname.replace(/\/$/, "");
    return { value, text: value };
  },
};

/** `https://host[:port]`, or `http://` for a loopback host only; the value has no trailing slash. */
export const publicOrigin: SettingType<string> = encrypted(anyOrigin);

/** Like `publicOrigin`, with an optional path. */
export const publicUrl: SettingType<string> = encrypted(anyUrl);

/** RFC 5425 section 4.1 */
const SYSLOG_PORT = 6514;
const SYSLOG = /^syslog\+tls:\/\/([^/?#@\\\s:[\]]+|\[[^\]]+\])(?::(\d{1,5}))?\/?$/i;

/** Where a log is sent: `https://host[:port][/path]` (http for a loopback host only), or `syslog+tls://host[:port]`. */
export const logReceiver: SettingType<string> = {
  placeholder: "url",
  read: (raw, folder) => {
    const given = scalarText(raw) ?? "";
    const [, host, digits] = SYSLOG.exec(given) ?? [];
    const listen = host === undefined ? undefined : hostAndPort(`${host}:${digits ?? SYSLOG_PORT}`);
    if (listen?.kind === "tcp" && listen.port > 0) {
      const value = `syslog+tls://${listenText(listen)}`;
      return { value, text: value };
    }
    const reading = publicUrl.read(raw, folder);
    return "wrong" in reading
      ? {
          wrong:
            "must be an https URL without query or credentials (http is only for localhost), or syslog+tls://host[:port]",
        }
      : reading;
  },
};

/** An IP address, or a range in CIDR notation. */
export const addressRange: SettingType<AddressRange> = {
  placeholder: "range",
  read: (raw) => {
    const value = rangeOf(scalarText(raw) ?? "");
    return value === undefined
      ? { wrong: "must be an IP address or a range such as 10.0.0.0/8" }
      : { value, text: `${value.address}/${value.prefix}` };
  },
};

function unixSocket(given: string, folder: string): Listen | undefined {
  const path = resolve(folder, given);
  return given === "" || Buffer.byteLength(path) > UNIX_PATH_BYTES_MAX ? undefined : { kind: "unix", path };
}

function hostAndPort(given: string): Listen | undefined {
  const [, bracketed, bare, digits] = HOST_AND_PORT.exec(given) ?? [];
  const port = Number(digits);
  const host = bracketed ?? bare ?? "";
  const isHost = bracketed === undefined ? isIPv4(host) || HOST_NAME.test(host) : isIPv6(host);
  return isHost && port <= PORT_MAX ? { kind: "tcp", host, port } : undefined;
}

function listenText(listen: Listen): string {
  if (listen.kind === "unix") return `${UNIX}${listen.path}`;
  const host = isIPv6(listen.host) ? `[${listen.host}]` : listen.host;
  return `${host}:${listen.port}`;
}

/** @param hostname as URL normalizes it: shortened IPv4 addresses are expanded, IPv6 addresses have brackets */
export function isLoopbackHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (host === "localhost") return true;
  return isIP(host) !== 0 && loopback.check(host, isIPv6(host) ? "ipv6" : "ipv4");
}

function rangeOf(given: string): AddressRange | undefined {
  const [, address = "", digits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(given) ?? [];
  if (isIP(address) === 0 || address.includes("%")) return undefined;
  const family = isIPv4(address) ? "ipv4" : "ipv6";
  const prefixMax = family === "ipv4" ? 32 : 128;
  const prefix = digits === undefined ? prefixMax : Number(digits);
  return prefix <= prefixMax ? { address, prefix, family } : undefined;
}
