// The first layers of a connection to a service: name, TCP connection and certificate. Later checks need all three.
import type { LookupAddress } from "node:dns";
import { type Clock, DAY_MS, toRfc3339 } from "../../platform/clock.ts";
import { DomainError } from "../../platform/errors.ts";
import type { NamedServer } from "../../platform/outbound/named-server.ts";
import type { PeerCertificate } from "../../platform/outbound/peer-certificates.ts";
import { type Check, examine, type Finding } from "../doctor/finding.ts";
import { CERTIFICATE_DAYS_MIN } from "../doctor/machine.ts";

/** Maximum number of addresses to try for one name. */
export const ADDRESSES_MAX = 8;

export interface Reached {
  findings: Finding[];
  /** address of this machine on the connection; undefined if the server cannot be reached */
  localAddress: string | undefined;
  /** whether requests may be sent: there is a connection with a trusted certificate */
  isUsable: boolean;
}

/** Examines name, connection and certificate, and makes the server use the first address that answers. */
export async function reach(server: NamedServer, clock: Clock): Promise<Reached> {
  const addresses: LookupAddress[] = [];
  const findings = await examine(
    "dns",
    async (check) => {
      addresses.push(...(await server.resolve()));
      const texts = addresses.map(({ address }) => address);
      return check.ok(
        texts.includes(server.host) ? "the URL has an address instead of a name" : texts.join(", "),
      );
    },
    "check the spelling, and add the name to the DNS server of this machine",
  );
  const connection = await connect(server, addresses.slice(0, ADDRESSES_MAX));
  findings.push(...connection.findings);
  const { reached } = connection;
  if (!reached) {
    findings.push(...(await examine("tls", (check) => check.skipped("requires a connection"))));
    return { findings, localAddress: undefined, isUsable: false };
  }
  server.use(reached.address);
  const tls = await examine("tls", (check) => checkTls(check, server, { ...reached, clock }), RENEW);
  findings.push(...tls);
  const isTrusted = !server.isTls || tls.every(({ result }) => result !== "failed");
  return { findings, localAddress: reached.localAddress, isUsable: isTrusted };
}

interface Target {
  address: LookupAddress;
  localAddress: string;
}

async function connect(
  server: NamedServer,
  addresses: readonly LookupAddress[],
): Promise<{ findings: Finding[]; reached?: Target }> {
  if (addresses.length === 0)
    return { findings: await examine("connection", (check) => check.skipped("requires an address")) };
  const tried = await Promise.all(addresses.map((address) => tryAddress(server, address)));
  const reached = tried.find((one) => one.connected);
  const faults = tried.flatMap(({ fault }) => fault ?? []);
  const findings = await examine("connection", (check) => {
    if (!reached?.connected)
      return check.failed(faults.join("; "), "check that the service runs, its port, and firewalls");
    const { localAddress, durationMs } = reached.connected;
    const detail = `port ${server.port} of ${reached.address.address} answers in ${Math.round(durationMs)} ms; this machine has the address ${localAddress}`;
    return faults.length === 0
      ? check.ok(detail)
      : check.warning(
          `${detail}; ${faults.join("; ")}`,
          "remove the address from DNS, or make the service available there: workstations may try it first",
        );
  });
  if (!reached?.connected) return { findings };
  return { findings, reached: { address: reached.address, localAddress: reached.connected.localAddress } };
}

async function tryAddress(server: NamedServer, address: LookupAddress) {
  try {
    return { address, connected: await server.connect(address) };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { address, fault: error.message };
  }
}

const RENEW = "check the certificate files of the service or of the proxy in front of it";

/** Clients accept http for these hosts only. */
export const isLoopbackName = (host: string): boolean => host === "localhost" || /^127\./.test(host);

async function checkTls(
  check: Check,
  server: NamedServer,
  { address, clock }: Target & { clock: Clock },
): Promise<Finding> {
  if (!server.isTls)
    return isLoopbackName(server.host)
      ? check.ok("off; workstations accept http for loopback addresses")
      : check.failed(
          "the URL begins with http, which workstations accept only for localhost and 127.0.0.1",
          "serve https: set server.tls_cert and server.tls_key, or put a proxy with a certificate in front",
        );
  const { fault, protocol, chain } = await server.inspectTls(address);
  const [leaf] = chain;
  const names = chain.map(({ subject }) => subject).join(" < ");
  if (fault !== undefined)
    return check.failed(faultText(fault, { names, leaf }), faultRemedy(fault, server.host));
  const firstToExpire = Math.min(...chain.map(({ expiresAtMs }) => expiresAtMs));
  const days = Math.floor((firstToExpire - clock.nowMs()) / DAY_MS);
  const detail = `${protocol}, ${names}, valid until ${toRfc3339(firstToExpire)}, ${days} days`;
  return days < CERTIFICATE_DAYS_MIN
    ? check.warning(detail, "renew the certificate; workstations refuse it once it has expired")
    : check.ok(detail);
}

interface Presented {
  /** of the chain, for people */
  names: string;
  leaf: PeerCertificate | undefined;
}

function faultText(fault: string, { names, leaf }: Presented): string {
  if (fault === "CERT_HAS_EXPIRED")
    return `a certificate has expired: ${names}, the first one at ${toRfc3339(leaf?.expiresAtMs ?? 0)}`;
  if (fault === "ERR_TLS_CERT_ALTNAME_INVALID") return `the certificate is for another name: ${names}`;
  return `the certificate is not trusted here (${fault}): ${names}, issued by ${leaf?.issuer ?? "nobody"}`;
}

function faultRemedy(fault: string, host: string): string {
  if (fault === "CERT_HAS_EXPIRED") return "renew it; if it has not expired, check the clock of this machine";
  if (fault === "ERR_TLS_CERT_ALTNAME_INVALID")
    return `use a certificate with the name ${host}, or give workstations a name that the certificate has`;
  return "serve the whole chain; a private CA must be in the trust store of each workstation; test it here with --ca FILE";
}
