// The effect of administrators on workstations: the rate of policy fetches alone, and during requests of
// administrators.
import { atLeast, type Figure } from "../figures.ts";
import { cleanEnvironment, load, onItsCore, script } from "../processes.ts";
import { compareAlternating, median } from "../tools/compare.ts";
import type { LoadRequest } from "../tools/load.ts";
import type { PacedPlan, PacedResult } from "../tools/paced-load.ts";

const ROUNDS = 5;
const SECONDS = 3;
const CONNECTIONS = 32;
/** The share of their rate that policy fetches must keep. */
const KEPT_MIN = 0.8;

interface Beside {
  policyRequests: readonly LoadRequest[];
  /** kind of the administrators' requests, for the name of the result */
  while: string;
}

/** @returns policy fetches during requests of administrators, compared with those alone */
export async function measureFetches(
  administrators: Omit<PacedPlan, "seconds">,
  beside: Beside,
): Promise<Figure[]> {
  const { port } = administrators;
  const requests = [...beside.policyRequests];
  const fetches = () => load({ port, connections: CONNECTIONS, seconds: SECONDS, requests }, 200);
  await fetches();
  const slowest: number[] = [];
  const answered: number[] = [];
  const [alone, both] = await compareAlternating({
    rounds: ROUNDS,
    subjects: {
      // The sender of the other subject uses a part of the measuring core, so this subject has a sender of a few more
      // fetches too.
      alone: async () => {
        const few = sendPaced({ ...administrators, requests, seconds: SECONDS });
        const { perSecond } = await fetches();
        await few;
        return perSecond;
      },
      both: async () => {
        const answers = sendPaced({ ...administrators, seconds: SECONDS });
        const { perSecond, p99Ms } = await fetches();
        slowest.push(p99Ms);
        answered.push((await answers).p50Ms);
        return perSecond;
      },
    },
  });
  const ratio = both?.ratio ?? Number.NaN;
  return [
    {
      what: `CON-132 policy fetches while ${beside.while}`,
      unit: "requests/s",
      ours: both?.median ?? Number.NaN,
      reference: alone?.median ?? Number.NaN,
      ratio,
      verdict: atLeast(KEPT_MIN, ratio),
    },
    { what: "policy fetches meanwhile, p99", unit: "ms", ours: median(slowest) },
    { what: "answers to administrators meanwhile, p50", unit: "ms", ours: median(answered) },
  ];
}

async function sendPaced(plan: PacedPlan): Promise<PacedResult> {
  const child = Bun.spawn(onItsCore("measuring", script("tools/paced-load.ts")), {
    env: cleanEnvironment(),
    stdin: Buffer.from(JSON.stringify(plan)),
    stdout: "pipe",
    stderr: "inherit",
  });
  const result: PacedResult = await new Response(child.stdout).json();
  if (result.statuses[200] !== result.due) throw new Error(`wanted answers only: ${JSON.stringify(result)}`);
  return result;
}
