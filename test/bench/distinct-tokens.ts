// A fleet has one access token for each workstation, and the service sees each token for the first time once. `bun run bench
// tokens` measures larger fleets.
import type { ExistingInstallation } from "../../src/app/installation/installation.ts";
import type { Role } from "../../src/domain/identity/service.ts";
import { atLeast, type Contest, type Figure } from "./figures.ts";
import { enrol } from "./fleet/workstations.ts";
import { load, needStatus, spawnLoad } from "./processes.ts";
import { compareAlternating } from "./tools/compare.ts";
import type { LoadPlan } from "./tools/load.ts";

export const DISTINCT_TOKENS = 50_000;
/** The policy that the reports refer to: none. */
const NO_POLICY = { revision: "unknown", packages: [] };

/** Signs in one workstation for each token, each of its own user. @returns authorization headers */
export async function distinctTokens(
  installation: ExistingInstallation,
  role: Role = "member",
): Promise<{ Authorization: string }[]> {
  const fleet = { count: DISTINCT_TOKENS, policy: NO_POLICY, role };
  const batches = await Array.fromAsync(enrol(installation, fleet));
  return batches.flat().map((token) => ({ Authorization: `Bearer ${token}` }));
}

/** Requests of one kind, with the tokens in turn; each returns requests per second. */
export interface InTurn {
  ours: () => Promise<number>;
  /** without any checks */
  bare: () => Promise<number>;
  /** only looks up each token */
  looking: () => Promise<number>;
}

/**
 * All servers get the same requests: fifty megabytes of requests in turn displace the caches of the processor, which
 * slows down every server, even one that reads no token.
 * @returns the product against the bare server, and against the one that looks up each token
 */
export async function contestInTurn(
  { what, wanted, rounds }: Pick<Contest, "what" | "wanted" | "rounds">,
  { ours, bare, looking }: InTurn,
): Promise<Figure[]> {
  const unit = "requests/s";
  const [other, own, finding] = await compareAlternating({ rounds, subjects: { bare, ours, looking } });
  if (!other || !own || !finding) throw new Error("a server has no result");
  const lookUp = { ours: own.median, reference: finding.median, ratio: own.ratio / finding.ratio };
  return [
    {
      what,
      unit,
      ours: own.median,
      reference: other.median,
      ratio: own.ratio,
      verdict: atLeast(wanted, own.ratio),
    },
    { what: "the same, against a bare server that looks up each token", unit, ...lookUp },
  ];
}

/** One route of a server that has seen none of the tokens. */
export interface FirstSight {
  port: number;
  path: string;
  connections: number;
  tokens: readonly { Authorization: string }[];
}

const ROUNDS = 5;
const SECONDS = 0.5;

/** @returns requests per second, each with a new token @throws if a token was sent twice */
export async function firstSightsPerSecond({
  port,
  path,
  connections,
  tokens,
}: FirstSight): Promise<number[]> {
  const rounds: number[] = [];
  const share = Math.floor(tokens.length / ROUNDS);
  for (let round = 0; round < ROUNDS; round++) {
    const headers = tokens.slice(round * share, (round + 1) * share);
    const requests = headers.map((one) => ({ method: "GET", path, headers: one }));
    const result = needStatus(await spawnLoad({ port, connections, seconds: SECONDS, requests }), 200);
    if (result.requests > share) throw new Error(`${result.requests} requests for ${share} tokens`);
    rounds.push(result.perSecond);
  }
  return rounds;
}

/**
 * Sends each request once. A token is verified when it is first seen and used about six times, so the cost of its later requests is
 * measured afterwards.
 */
export async function sendEachOnce(plan: Omit<LoadPlan, "seconds">, status: number): Promise<void> {
  for (let sent = 0; sent < plan.requests.length; ) {
    const left = plan.requests.slice(sent);
    const { requests } = await load({ ...plan, seconds: SECONDS, requests: left }, status);
    sent += requests;
  }
}
