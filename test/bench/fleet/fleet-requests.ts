// The requests of the workstations of a fleet: each sends its token, the revision that it has, and its own report. Imports nothing
// of the product, so that load generators can use it.
import { clientReport, type Policy } from "../clients/client-report.ts";
import type { LoadRequest } from "../tools/load.ts";

export const POLICY_PATH = "/governance-config";
const FORMER_ETAG = '"of-the-revision-before"';
/** one in this many has missed a revision */
const OUTDATED_ONE_IN = 100;

/** Passed to load generators as JSON. */
export interface FleetTraffic {
  /** file with the access token of each workstation, one per line */
  tokens: string;
  /** sent with each policy request */
  headers: Record<string, string>;
  /** of the policy in force */
  etag: string;
  /** revision that a few still report, and the one that all others report */
  policies: Record<"former" | "current", Policy>;
}

/** Workstations do not report in the order of their enrollment: multiples of a prime visit all of them. */
const STRIDE = 1_000_003;

/**
 * @returns the workstation of a turn. A round has as many turns as there are workstations. Each workstation occurs once in a round,
 *   and in the same order in every round
 */
export const workstationAt = (turn: number, workstations: number): number =>
  ((turn % workstations) * STRIDE) % workstations;

/** @returns the tokens of all workstations */
export const readTokens = async ({ tokens }: Pick<FleetTraffic, "tokens">): Promise<string[]> =>
  (await Bun.file(tokens).text()).trimEnd().split("\n");

const isOutdated = (workstation: number): boolean => workstation % OUTDATED_ONE_IN === 0;

/** @returns the request of a workstation for its policy: 304, or 200 for one that has missed a revision */
export function policyRequest(traffic: FleetTraffic, workstation: number, token: string): LoadRequest {
  const known = { "If-None-Match": isOutdated(workstation) ? FORMER_ETAG : traffic.etag };
  return {
    method: "GET",
    path: POLICY_PATH,
    headers: { ...traffic.headers, ...known, Authorization: `Bearer ${token}` },
  };
}

/** @returns its report */
export function statusRequest({ policies }: FleetTraffic, workstation: number, token: string): LoadRequest {
  const policy = isOutdated(workstation) ? policies.former : policies.current;
  return {
    method: "POST",
    path: "/client-status",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify(clientReport(workstation, policy)),
  };
}
