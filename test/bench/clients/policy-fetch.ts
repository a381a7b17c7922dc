// The policy request of a workstation.
import { POLICY_CAPABILITIES } from "../../../src/domain/governance/wire.ts";
import { POLICY_PATH } from "../fleet/fleet-requests.ts";
import type { LoadRequest } from "../tools/load.ts";

/** Headers of each request for the policy, apart from the token. */
export const CLIENT_HEADERS = {
  "User-Agent": "blue/1.0.0",
  "x-blue-contract-version": "3",
  "x-blue-capabilities": POLICY_CAPABILITIES.join(","),
};

/** @returns the request of a workstation that has no policy yet */
export const policyFetch = (token: string): LoadRequest => ({
  method: "GET",
  path: POLICY_PATH,
  headers: { ...CLIENT_HEADERS, Authorization: `Bearer ${token}` },
});
