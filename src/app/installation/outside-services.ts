// Whether the services outside of this machine that the settings name are there now, and what waits while one is not
// (operator-experience.md AIR-6). Starting never depends on them; `status` and `doctor` ask when a person wants to know.

import { PROXY_DESTINATION } from "../../domain/gateway/inference/proxy-health.ts";
import { SECOND_MS } from "../../platform/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import { DomainError } from "../../platform/errors.ts";
import { ANY_PUBLIC_HOST, createOutbound, type Destination } from "../../platform/outbound/outbound.ts";
import { destinationsOf, GATEWAY_DESTINATION } from "./destinations.ts";

export interface ExternalService {
  name: string;
  origin: string;
  /** `not_asked`: it stands for no one peer */
  state: "reachable" | "unreachable" | "not_asked";
  /** why it is unreachable; null otherwise */
  reason: string | null;
  /** what waits while it is unreachable */
  affects: string;
}

/** How long a peer may take; all are asked at the same time. */
export const PROBE_TIMEOUT_MS = 3 * SECOND_MS;

/** What each is asked, and what hangs on it. */
const PROBES: Readonly<Record<string, { path: string; affects: string }>> = {
  [GATEWAY_DESTINATION]: {
    path: "/health/liveliness",
    affects: "gateway keys are not made, renewed or revoked; keys in use go on working",
  },
  [PROXY_DESTINATION]: {
    path: "/health",
    affects: "inference of workstations that the policy sends through the gateway",
  },
};
const NOT_PROBED = { path: "/", affects: "archives that an administrator names are not fetched" };

/** @returns every destination of the settings, asked now; never rejects for one that does not answer */
export function probeExternalServices(
  config: Config,
  timeoutMs = PROBE_TIMEOUT_MS,
): Promise<ExternalService[]> {
  const destinations = destinationsOf(config);
  const outbound = createOutbound({ allowed: destinations });
  return Promise.all(
    destinations.map(async (destination) => {
      const { path, affects } = PROBES[destination.name] ?? NOT_PROBED;
      const probeFor = () => outbound.fetch(destination.name, path, { timeoutMs });
      return { ...(await ask(destination, probeFor)), affects };
    }),
  );
}

async function ask(
  { name, origin }: Destination,
  question: () => Promise<Response>,
): Promise<Omit<ExternalService, "affects">> {
  if (origin === ANY_PUBLIC_HOST) return { name, origin, state: "not_asked", reason: null };
  try {
    const response = await question();
    await response.body?.cancel();
    // Whoever answers is there: what it thinks of the question does not matter, only that it has not failed.
    if (response.status < 500) return { name, origin, state: "reachable", reason: null };
    return { name, origin, state: "unreachable", reason: `it answered ${response.status}` };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { name, origin, state: "unreachable", reason: reasonOf(error) };
  }
}

/** The operator may know what the machine said, by its short name. */
function reasonOf({ message, cause }: DomainError): string {
  if (!(cause instanceof Error)) return message;
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : cause.name;
  return `${message} (${code})`;
}
