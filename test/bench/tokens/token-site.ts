// The fleet of tokens.ts: a data directory with a workstation for each token, the service on it, and the requests of the
// workstations. tokens.ts, token-memory.ts and token-burst.ts have the measurements.

import type { ExistingInstallation } from "../../../src/app/installation/installation.ts";
import { ACCESS_TOKEN_TTL_SECONDS } from "../../../src/platform/config/settings/access.ts";
import { Secret } from "../../../src/platform/secret.ts";
import { CLIENT_HEADERS } from "../clients/policy-fetch.ts";
import { type FleetTraffic, POLICY_PATH } from "../fleet/fleet-requests.ts";
import { writeFleet } from "../fleet/fleet-rows.ts";
import { publishPolicies } from "../fleet/workstations.ts";
import { onItsCore, processorMs, type Running, script } from "../processes.ts";
import { openBeside, startQuartermaster } from "../tools/installation.ts";
import type { TokenPlan, TokenResult } from "./token-load.ts";

export const WORKSTATIONS = Number(process.env.TOKENS_WORKSTATIONS ?? 1_000_000);
/** of the comparison with one token, and of the restart */
export const FLEET = Math.min(200_000, WORKSTATIONS);
const CONNECTIONS = 32;

export interface Site {
  data: string;
  port: number;
  traffic: FleetTraffic;
}

/** A user who signs in with a password while the fleet sends its requests. */
export const PERSON = { email: "person@example.com", password: "correct horse battery" };

/** Fills the data directory of a service that later listens on the same port, because tokens contain its address. */
export async function prepare(data: string, tokens: string): Promise<Site> {
  const { port, stop } = await startQuartermaster(data);
  await stop();
  const installation = await openBeside(data, port, {
    accessAccessTokenTtlSeconds: String(ACCESS_TOKEN_TTL_SECONDS.max),
  });
  const policies = await publishPolicies(installation);
  await addPerson(installation);
  await writeFleet(installation, { count: WORKSTATIONS, policy: policies.current, tokens, round: FLEET });
  await installation.close();
  const service = await start(data, port);
  const headers = { ...CLIENT_HEADERS, Authorization: `Bearer ${await firstToken(tokens)}` };
  const answer = await fetch(`http://127.0.0.1:${port}${POLICY_PATH}`, { headers });
  if (answer.status !== 200) throw new Error(`no policy: ${await answer.text()}`);
  const etag = answer.headers.get("etag") ?? "";
  await answer.bytes();
  await service.stop();
  return { data, port, traffic: { tokens, headers: CLIENT_HEADERS, etag, policies } };
}

async function addPerson({ domain, organizationId }: ExistingInstallation): Promise<void> {
  const { email, password } = PERSON;
  await domain.identity.users.create(
    { kind: "operator", id: null, label: "bench", organizationId },
    { email, role: "member", password: new Secret(password) },
  );
}

/** Starts the service with an empty cache. */
export const start = (data: string, port: number): Promise<Running> =>
  startQuartermaster(data, "--server-listen", `127.0.0.1:${port}`);

const FIRST_LINE_BYTES = 4_096;

/** @returns the token of the first workstation */
export async function firstToken(tokens: string): Promise<string> {
  const text = await Bun.file(tokens).slice(0, FIRST_LINE_BYTES).text();
  return text.split("\n")[0] ?? "";
}

export type Load = Pick<TokenPlan, "what" | "requests" | "from" | "count"> & Partial<TokenPlan>;

/** Runs one plan in a separate process. */
export async function run({ traffic, port }: Site, load: Load): Promise<TokenResult> {
  const plan: TokenPlan = { ...traffic, port, connections: CONNECTIONS, sentBefore: 0, ...load };
  const child = Bun.spawn(onItsCore("measuring", script("tokens/token-load.ts")), {
    stdin: Buffer.from(JSON.stringify(plan)),
    stdout: "pipe",
    stderr: "inherit",
  });
  return JSON.parse(await new Response(child.stdout).text());
}

/** @returns processor time of the service for one request, in µs */
export async function costOf(site: Site, { pid }: Running, load: Load): Promise<number> {
  const before = await processorMs(pid);
  const { statuses } = await run(site, load);
  const good = [200, 204, 304].reduce((sum, status) => sum + (statuses[status] ?? 0), 0);
  if (good !== load.requests) throw new Error(`refused: ${JSON.stringify(statuses)}`);
  return (((await processorMs(pid)) - before) * 1_000) / load.requests;
}
