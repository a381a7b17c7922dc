// What the workstations of a fleet send: each its token, the policy that it knows, and its own report. Plain enough for the
// processes that generate load, which know nothing of the product.
import { clientReport, type Policy } from "../clients/client-report.ts";
import type { LoadRequest } from "../tools/load.ts";

export const POLICY_PATH = "/governance-config";
const FORMER_ETAG = '"of-the-revision-before"';
/** one in so many has missed a revision */
const OUTDATED_ONE_IN = 100;

/** Goes to load generators as JSON. */
export interface FleetTraffic {
  /** file with the access token of each workstation, a line each */
  tokens: string;
  /** sent with each policy request */
  headers: Record<string, string>;
  /** of the policy in force */
  etag: string;
  /** what a few still report, and what all others do */
  policies: Record<"former" | "current", Policy>;
}

/** Times of day do not follow the order in which workstations were enrolled: a prime walks through all. */
const STRIDE = 1_000_003;

/** @returns whose turn it is; each comes once in a round of as many turns as there are workstations, and in the same order in every round */
export const workstationAt = (turn: number, workstations: number): number =>
  ((turn % workstations) * STRIDE) % workstations;

/** @returns the tokens of all workstations */
export const readTokens = async ({ tokens }: Pick<FleetTraffic, "tokens">): Promise<string[]> =>
  (await Bun.file(tokens).text()).trimEnd().split("\n");

const isOutdated = (workstation: number): boolean => workstation % OUTDATED_ONE_IN === 0;

/** @returns the request of a workstation for its policy: 304, and 200 for one that has missed a revision */
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
