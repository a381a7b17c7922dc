// The requests of a whole fleet at its constant rate, from a separate process. Every workstation fetches its policy and reports,
// half a round apart.
import type { LoadRequest } from "../tools/load.ts";
import { type Pace, PacedRun } from "../tools/paced-load.ts";
import {
  type FleetTraffic,
  policyRequest,
  readTokens,
  statusRequest,
  workstationAt,
} from "./fleet-requests.ts";

/** Read from standard input, as JSON. */
export interface FleetPlan extends FleetTraffic, Pace {
  /** requests of earlier runs, so that this run continues with other workstations */
  sentBefore: number;
}

function requestAt(plan: FleetPlan, tokens: readonly string[], at: number): LoadRequest {
  const { length } = tokens;
  const asks = at % 2 === 0;
  const turn = Math.floor(at / 2);
  const workstation = workstationAt(asks ? turn + Math.floor(length / 2) : turn, length);
  return (asks ? policyRequest : statusRequest)(plan, workstation, tokens[workstation] ?? "");
}

if (import.meta.main) {
  const plan: FleetPlan = await Bun.stdin.json();
  const tokens = await readTokens(plan);
  const run = new PacedRun(plan, (turn) => requestAt(plan, tokens, plan.sentBefore + turn));
  console.log(JSON.stringify(await run.run()));
  process.exit(0);
}
