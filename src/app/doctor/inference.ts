// Checks that a process forwards inference, and that its limits allow the configured number of requests. Warns about
// environment variables of another proxy, which have no effect here.
import type { Config } from "../../platform/config/config.ts";
import type { SettingName } from "../../platform/config/table.ts";
import {
  type DataDirectory,
  findForwarder,
  findServer,
  isServerRunning,
} from "../../platform/data-directory/data-directory.ts";
import { SLOTS_VARIABLE, slotsIn, slotsNeeded } from "../../platform/outbound/request-slots.ts";
import { factsOf, type ProcessFacts } from "../../platform/programs/process-facts.ts";
import { isProxyInProcess } from "../installation/proxy-settings.ts";
import { separateProxyListener } from "../service/divided/division.ts";
import type { Check, Finding } from "./finding.ts";

/** Files and sockets of the service, without those for requests. */
const OTHER_FILES = 1024;
/** each request has a connection of the agent and one to the gateway */
const SOCKETS_PER_REQUEST = 2;

/** Variables of the reference proxy, each with the setting that replaces it; undefined without a replacement. */
const FORMER: Readonly<Record<string, SettingName | undefined>> = {
  HARNESS_PROXY_MAX_IN_FLIGHT: "gateway.proxy.max_in_flight",
  HARNESS_PROXY_MAX_BODY_BYTES: "gateway.proxy.max_body_bytes",
  HARNESS_PROXY_PER_TOKEN_RPS: "gateway.proxy.token_rps",
  HARNESS_PROXY_PER_TOKEN_BURST: "gateway.proxy.token_burst",
  HARNESS_PROXY_UNVERIFIED_RPS: "gateway.proxy.failures_per_address",
  HARNESS_PROXY_UPSTREAM_CONNECT_TIMEOUT_MS: "gateway.proxy.connect_timeout_seconds",
  HARNESS_PROXY_LOG_QUEUE_CAPACITY: "gateway.request_logs.queue_rows",
  HARNESS_PROXY_CACHE_CAPACITY: undefined,
  HARNESS_PROXY_CACHE_TTL_SECONDS: undefined,
  HARNESS_PROXY_JWKS_REFETCH_COOLDOWN: undefined,
  HARNESS_PROXY_RESOLVER_TIMEOUT_SECONDS: undefined,
  HARNESS_PROXY_MAX_RESOLVER_CONCURRENCY: undefined,
  HARNESS_PROXY_INVALIDATION_QUEUE_CAPACITY: undefined,
  HARNESS_PROXY_OAUTH_TOKEN_URL: undefined,
  HARNESS_PROXY_OAUTH_CLIENT_ID: undefined,
  HARNESS_PROXY_OAUTH_CLIENT_SECRET: undefined,
};

/** @returns nothing unless this service forwards inference requests itself */
export function checkInference(check: Check, directory: DataDirectory, config: Config): Finding[] {
  if (!isProxyInProcess(config)) return [];
  const isApart = separateProxyListener(config) !== undefined;
  const forwarder = isApart ? findForwarder(directory) : findServer(directory);
  if (isApart && forwarder === undefined && isServerRunning(directory)) return [noForwarderFinding(check)];
  const facts = forwarder === undefined || forwarder === "unknown" ? undefined : factsOf(forwarder.processId);
  return [...limitFindings(check, facts, config), ...formerFindings(check, facts, config)];
}

const noForwarderFinding = (check: Check): Finding =>
  check.failed(
    "the service runs without inference, and no other process forwards it",
    "start `quartermaster serve --only proxy`, or start the service without --only control",
  );

/** @param facts of the running service; undefined if none runs or it cannot be examined */
export function limitFindings(check: Check, facts: ProcessFacts | undefined, config: Config): Finding[] {
  if (!facts) return [check.skipped("no running service has readable limits")];
  const maxInFlight = config.get("gateway.proxy.max_in_flight");
  const [slots, slotsMin] = [slotsIn(facts.environment), slotsNeeded(maxInFlight)];
  const files = facts.openFilesMax;
  const filesMin = SOCKETS_PER_REQUEST * maxInFlight + OTHER_FILES;
  const found = [
    ...(slots >= slotsMin
      ? []
      : [
          check.failed(
            `the service sends at most ${slots} requests at the same time, and gateway.proxy.max_in_flight needs ${slotsMin}`,
            `start it with ${SLOTS_VARIABLE}=${slotsMin}, as the unit of \`quartermaster unit\` does`,
          ),
        ]),
    ...(files >= filesMin
      ? []
      : [
          check.failed(
            `the service may open ${files} files and sockets, and gateway.proxy.max_in_flight needs ${filesMin}`,
            `set LimitNOFILE=${filesMin} or more in the unit, or lower gateway.proxy.max_in_flight`,
          ),
        ]),
  ];
  return found.length > 0
    ? found
    : [check.ok(`${slots} requests at the same time, ${files} files and sockets`)];
}

/** @returns a warning for each variable of another proxy in the environment of the service or of this command */
export function formerFindings(check: Check, facts: ProcessFacts | undefined, config: Config): Finding[] {
  return Object.entries(FORMER).flatMap(([name, setting]) => {
    const isGiven = facts?.environment[name] !== undefined || config.variable(name) !== undefined;
    if (!isGiven) return [];
    const detail = `${name} has no effect here`;
    return [check.warning(detail, setting ? `use ${setting} instead` : "remove it; no setting replaces it")];
  });
}
