// Runs every check of `quartermaster probe` in order: the path from a workstation on this machine to a service. Contacts only
// the named server.

import type { Clock } from "../../platform/clock.ts";
import { DomainError } from "../../platform/errors.ts";
import { isJsonObject } from "../../platform/json/json-object.ts";
import { lazily } from "../../platform/lazily.ts";
import { NamedServer, type NamedServerLimits } from "../../platform/outbound/named-server.ts";
import { type Environment, proxyFor } from "../../platform/outbound/proxy.ts";
import type { Secret } from "../../platform/secret.ts";
import { type Check, checkOf, examine, type Finding } from "../doctor/finding.ts";
import { checkAccount, checkPolicy, checkReport } from "./credential.ts";
import { checkDeviceLogin } from "./device-login.ts";
import { checkClock, checkDiscovery, checkIssuer, type Discovery } from "./discovery.ts";
import { shortened } from "./json-response.ts";
import { CONNECTION_PATH, checkAddress, checkEventStream, checkLatency } from "./network-path.ts";
import { isLoopbackName, type Reached, reach } from "./reach.ts";

/** Time and size limits; clients wait 10 s for a connection and 15 s for a response. */
export const PROBE_LIMITS: NamedServerLimits = {
  resolveMs: 10_000,
  connectMs: 10_000,
  responseMs: 15_000,
  bodyBytesMax: 4 * 1024 * 1024,
};

export interface ProbeOptions {
  /** http or https, without a path */
  origin: URL;
  clock: Clock;
  /** environment of this process, for its proxy variables */
  env: Readonly<Record<string, string | undefined>>;
  /** access token of a workstation */
  token?: Secret | undefined;
  /** PEM certificates that are trusted in addition */
  ca?: string | undefined;
  limits?: NamedServerLimits;
  /** only check readiness, without starting a device login */
  isOnlyReady?: boolean;
}

export interface ProbeResult {
  findings: readonly Finding[];
  /** whether the server accepts connections */
  isReachable: boolean;
}

/**
 * @param text from the operator; like clients, this ignores a path
 * @throws DomainError `probe.bad_url`
 */
export function parseOrigin(text: string): URL {
  const url = URL.parse(text);
  const isGood = url && ["http:", "https:"].includes(url.protocol) && !url.username && !url.password;
  if (isGood) return new URL(url.origin);
  throw new DomainError("invalid", "probe.bad_url", "the address is not an http or https origin", {
    hint: "use this form: https://control.example.org",
  });
}

/** @returns a warning if the environment names a proxy for this origin; otherwise nothing */
function checkOutgoingProxy(origin: URL, environment: Environment): Finding[] {
  const named = proxyFor(origin, environment);
  if (!named) return [];
  return [
    checkOf("outgoing_proxy").warning(
      `${named.variable} names a proxy; this probe connects directly, but workstations may use the proxy`,
      `if the service is in your own network, add ${origin.hostname} to NO_PROXY`,
    ),
  ];
}

/** Never throws because of a failed check: every failure is a finding. */
export async function probe(options: ProbeOptions): Promise<ProbeResult> {
  const { origin, clock, env, ca, limits = PROBE_LIMITS } = options;
  using server = new NamedServer(origin, { limits, ca });
  const proxies = checkOutgoingProxy(origin, env);
  const reached = await reach(server, clock);
  const rest = reached.isUsable
    ? await checkService(server, reached, options)
    : await skipAll(options, "requires a connection with a trusted certificate");
  return {
    findings: [...proxies, ...reached.findings, ...rest].map(bounded),
    isReachable: reached.localAddress !== undefined,
  };
}

/** Maximum characters of a finding: a certificate chain fits, but a foreign server may send megabytes. */
export const FINDING_CHARACTERS_MAX = 2_000;

const bounded = ({ detail, remedy, ...rest }: Finding): Finding => ({
  ...rest,
  detail: shortened(detail, FINDING_CHARACTERS_MAX),
  remedy: remedy === null ? null : shortened(remedy, FINDING_CHARACTERS_MAX),
});

const REMEDY = "see the log of the service and of the proxy in front of it";

const PATH = "/ready";
const OK = 200;

/** @throws DomainError of NamedServer if there is no response */
async function checkReadiness(check: Check, server: NamedServer): Promise<Finding> {
  const { status, body } = await server.ask(PATH);
  if (status === OK && body === "ready") return check.ok("the service is ready");
  return check.failed(
    `${PATH} answered ${status}: ${shortened(detailIn(body))}`,
    "quartermaster doctor explains each name; if another server answered, check the address",
  );
}

function detailIn(body: string): string {
  try {
    const document: unknown = JSON.parse(body);
    if (isJsonObject(document) && typeof document.detail === "string") return document.detail;
  } catch {
    // not from the service
  }
  return body;
}

async function checkService(
  server: NamedServer,
  { localAddress = "" }: Reached,
  options: ProbeOptions,
): Promise<Finding[]> {
  if (options.isOnlyReady)
    return await examine(READY, (check) => checkReadiness(check, server), READY_REMEDY);
  const found: Discovery[] = [];
  const findings = await examine("discovery", (check) => checkDiscovery(check, server, found), REMEDY);
  const look = async (name: string, find: (check: Check) => Finding | Promise<Finding>): Promise<void> =>
    void findings.push(...(await examine(name, find, REMEDY)));
  const withDiscovery =
    (find: (check: Check, server: NamedServer, discovery: Discovery) => Promise<Finding>) =>
    (check: Check) => {
      const [discovery] = found;
      return discovery ? find(check, server, discovery) : check.skipped("requires the discovery document");
    };
  const own = lazily(() => server.ask(CONNECTION_PATH)); // two checks read this response, and either reports its failure
  await look("issuer", withDiscovery(checkIssuer));
  await look("clock", async (check) => checkClock(check, await own(), options.clock));
  await look("address", async (check) => checkAddress(check, await own(), localAddress));
  await look("device_login", withDiscovery(checkDeviceLogin));
  await look("event_stream", (check) => checkEventStream(check, server));
  await look("latency", (check) => checkLatency(check, server));
  const { token } = options;
  for (const [name, find] of Object.entries(CREDENTIAL_CHECKS))
    if (token) await look(name, (check) => guarded(check, server) ?? find(check, server, token));
  return findings;
}

const CREDENTIAL_CHECKS = { account: checkAccount, policy: checkPolicy, report: checkReport };

/** @returns the finding that replaces sending a token without encryption */
const guarded = (check: Check, server: NamedServer): Finding | undefined =>
  server.isTls || isLoopbackName(server.host) ? undefined : check.skipped("tokens are not sent without TLS");

const SERVICE_CHECKS = ["discovery", "issuer", "clock", "address", "device_login", "event_stream", "latency"];

const READY = "ready";
/** Something accepted the connection, so it is unlikely that the service is not running. */
const READY_REMEDY = "see the log of the service; if it serves TLS itself, write https in the URL";

async function skipAll({ token, isOnlyReady }: ProbeOptions, reason: string): Promise<Finding[]> {
  const names = isOnlyReady ? [READY] : [...SERVICE_CHECKS, ...(token ? Object.keys(CREDENTIAL_CHECKS) : [])];
  return (await Promise.all(names.map((name) => examine(name, (check) => check.skipped(reason))))).flat();
}
