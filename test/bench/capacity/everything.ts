// How many workstations a core serves while every other part of the product is used: the console, inference, captured sessions,
// provisioning, sign-ins, event streams and traces, at the steady rate of a soak (test/torture/soak).
import { SECOND_MS } from "../../../src/platform/clock.ts";
import { stop } from "../../torture/site.ts";
import { prepareProduct } from "../../torture/soak/product.ts";
import { stepsOn } from "../../torture/soak/steps.ts";
import { takeSteps, warmUp } from "../../torture/soak/take-steps.ts";
import type { Figure } from "../figures.ts";
import { readTokens } from "../fleet/fleet-requests.ts";
import { paced } from "../inference/inference-requests.ts";
import { processorMs } from "../processes.ts";
import { fleetRequests } from "./capacity-site.ts";

const WORKSTATIONS = 50_000;
/** workstations that send requests */
const ASKING = 1_000;
const WARM_UP_STEPS = 5_000;
const WARM_UP_SECONDS = 10;
/** what the fleet itself does */
const OF_THE_FLEET = new Set(["policy", "report"]);
const SECONDS = 30;
/** together with the steps, below half a core */
const PACE = { perSecond: 200, seconds: SECONDS };
const US_PER_MS = 1_000;

export interface Everything {
  /** share of a core that the other parts use alone */
  share: number;
  /** processor time of a policy fetch and a report beside them */
  policyUs: number;
  reportUs: number;
  figures: Figure[];
}

/** Measures a service with a fleet, and everything else beside it. */
export async function measureEverything(): Promise<Everything> {
  await using product = await prepareProduct(WORKSTATIONS);
  const { site, fleet } = product;
  await using service = await site.start();
  const asking = (await readTokens(fleet)).slice(0, ASKING);
  const requests = await fleetRequests(site.port, asking, fleet.policy);
  const others = (await stepsOn(site)).filter(({ name }) => !OF_THE_FLEET.has(name));
  const failures: string[] = [];
  await warmUp(others, { steps: WARM_UP_STEPS, failures });
  for (const of of [requests.policy, requests.report])
    await paced({ ...PACE, seconds: WARM_UP_SECONDS, port: site.port, requests: of });
  /** @returns processor time in milliseconds beside the other parts, and their steps */
  const beside = async (work: () => Promise<unknown>) => {
    const beforeMs = await processorMs(service.pid);
    const untilMs = performance.now() + SECONDS * SECOND_MS;
    const [steps] = await Promise.all([takeSteps(others, { untilMs, failures }), work()]);
    return { steps, usedMs: (await processorMs(service.pid)) - beforeMs };
  };
  const alone = await beside(async () => {});
  const costUs = async (of: (typeof requests)["policy"]) => {
    let sent = 0;
    const { usedMs } = await beside(async () => {
      sent = (await paced({ ...PACE, port: site.port, requests: of })).due;
    });
    return ((usedMs - alone.usedMs) * US_PER_MS) / sent;
  };
  const [policyUs, reportUs] = [await costUs(requests.policy), await costUs(requests.report)];
  await stop(service);
  if (failures.length > 0) throw new Error(`${failures.length} steps failed, first ${failures[0]}`);
  const share = alone.usedMs / (SECONDS * SECOND_MS);
  const unit = "µs of processor time";
  return {
    share,
    policyUs,
    reportUs,
    figures: [
      { what: "other parts in use: steps a second", unit: "steps", ours: alone.steps / SECONDS },
      { what: "other parts in use: share of a core", unit: "%", ours: share * 100 },
      { what: `unchanged policy at ${PACE.perSecond} a second beside them`, unit, ours: policyUs },
      { what: `report at ${PACE.perSecond} a second beside them`, unit, ours: reportUs },
    ],
  };
}
