// The requests of every part of the inference benchmark, and the addresses of the servers.
import { onItsCore, script } from "../processes.ts";
import type { LoadRequest } from "../tools/load.ts";
import type { PacedPlan, PacedResult } from "../tools/paced-load.ts";
import { BENCH_HEADER } from "./inference-load.ts";
import { CHAT_PATH, type InferenceSite, PREFIX } from "./inference-site.ts";

/** a prompt of an agent has some kilobytes; this one is small, so that the work of the proxy itself is measured */
export const BODY = JSON.stringify({
  model: "bench",
  messages: [{ role: "user", content: "a".repeat(1_900) }],
});
export type Target = "direct" | "nginx" | "bare" | "least" | "ours";

/** @returns the address of each server; nginx only if installed */
export const targetsOf = ({ upstream, nginx, bare, service }: InferenceSite) => ({
  direct: { port: upstream.port, path: CHAT_PATH },
  ...(nginx && { nginx: { port: nginx.port, path: CHAT_PATH } }),
  bare: { port: bare.port, path: CHAT_PATH },
  ours: { port: service.port, path: PREFIX + CHAT_PATH },
});

/** @returns a request of each workstation, for the given response of the upstream */
export const requestsOf = ({ tokens }: InferenceSite, path: string, answer = "json"): LoadRequest[] =>
  tokens.map((token) => ({
    method: "POST",
    path,
    headers: { "Content-Type": "application/json", [BENCH_HEADER]: answer, Authorization: `Bearer ${token}` },
    body: BODY,
  }));

/** or not modified */
const GOOD = /^(?:2\d\d|304)$/;

/** @throws if a response was not a success */
export async function paced(plan: PacedPlan): Promise<PacedResult> {
  const child = Bun.spawn(onItsCore("measuring", script("tools/paced-load.ts")), {
    stdin: Buffer.from(JSON.stringify(plan)),
    stdout: "pipe",
    stderr: "inherit",
  });
  const result: PacedResult = JSON.parse(await new Response(child.stdout).text());
  if (result.unanswered === 0 && Object.keys(result.statuses).every((status) => GOOD.test(status)))
    return result;
  throw new Error(`wanted successes only: ${JSON.stringify(result)}`);
}
