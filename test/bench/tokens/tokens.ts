// `bun run bench tokens`: the cost of a fleet with a token for each workstation. Costs are processor time of the service for
// one request, and are compared within one run. Takes the whole machine for minutes, so it runs only when it is named.
// Environment:
//   TOKENS_WORKSTATIONS  instead of 1,000,000; they are users with one workstation each, all of which have reported before
import { join } from "node:path";
import { atMost, type Figure } from "../figures.ts";
import { onItsCore, script } from "../processes.ts";
import { median } from "../tools/compare.ts";
import { temporaryDirectory } from "../tools/installation.ts";
import { measureBurst } from "./token-burst.ts";
import { measureMemory } from "./token-memory.ts";
import { costOf, FLEET, type Load, prepare, type Site, start } from "./token-site.ts";

const ROUNDS = 5;
const REQUESTS = 60_000;
const REPORTS = 30_000;

/** Measures the cost of one token per workstation (handbook: capacity, A token for each workstation). */
export async function* measureTokens(): AsyncGenerator<Figure> {
  using directory = temporaryDirectory();
  const site = await prepare(join(directory.path, "data"), join(directory.path, "tokens"));
  yield* await costs(site);
  yield* await measureBurst(site);
  yield* await measureMemory(site);
}

const KINDS = [
  ["policy", "policy, 304", REQUESTS, 1.8],
  ["report", "report", REPORTS, 1.5],
] as const;

/** Requests with a new token, then with one known token compared with those of a fleet, in alternating rounds. */
async function costs(site: Site): Promise<Figure[]> {
  await using servers = new AsyncDisposableStack();
  const service = await start(site.data, site.port);
  servers.defer(service.stop);
  const one = { from: 1, count: 1 };
  const warmUp = Math.floor(FLEET / 4);
  const first = (from: number, count: number): Load => ({ what: "policy", requests: count, from, count });
  await costOf(site, service, { what: "policy", requests: REQUESTS, ...one });
  await costOf(site, service, first(0, warmUp)); // compiles the code
  const firstUs = await costOf(site, service, first(warmUp, FLEET - warmUp));
  const figures: Figure[] = [];
  let knownUs = Number.NaN;
  for (const [what, name, requests, wanted] of KINDS) {
    const sides = { single: [] as number[], fleet: [] as number[] };
    for (let round = 0; round < ROUNDS; round++) {
      const sentBefore = round * requests;
      sides.single.push(await costOf(site, service, { what, requests, ...one }));
      sides.fleet.push(await costOf(site, service, { what, requests, sentBefore, from: 0, count: FLEET }));
    }
    const [ours, reference] = [median(sides.fleet), median(sides.single)];
    if (what === "policy") knownUs = ours;
    figures.push({
      what: `${name}: ${FLEET.toLocaleString("en-US")} tokens against one`,
      unit: "µs",
      ours,
      reference,
      ratio: ours / reference,
      verdict: atMost(wanted, ours / reference),
    });
  }
  const { verificationUs, lookUpUs } = await bareCosts(site);
  const against = (what: string, reference: number): Figure => ({
    what: `first sight against ${what}`,
    unit: "µs",
    ours: firstUs,
    reference,
    ratio: firstUs / reference,
    verdict: atMost(1.3, firstUs / reference),
  });
  return [
    { what: "bare verification of a signature", unit: "µs", ours: verificationUs },
    { what: "bare look-up of a grant and its user", unit: "µs", ours: lookUpUs },
    against("bare verification and request", verificationUs + knownUs),
    against("bare verification, look-up and request", verificationUs + lookUpUs + knownUs),
    ...figures,
  ];
}

/** @returns processor time of node:crypto for the signature of one token, and of SQLite for its grant and user, in µs */
async function bareCosts(site: Site): Promise<{ verificationUs: number; lookUpUs: number }> {
  const child = Bun.spawn(
    onItsCore("measured", script("tokens/token-verify.ts", site.data, site.traffic.tokens)),
    {
      stdout: "pipe",
      stderr: "inherit",
    },
  );
  return JSON.parse(await new Response(child.stdout).text());
}
