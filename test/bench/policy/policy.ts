// The cost of changing the policy of 100,000 workstations, as shipped: explaining it, checking a long text, the impact of a draft,
// its review, and its rollout; and how much that slows down workstations. Environment: CONSOLE_WORKSTATIONS, as for `console`.

import { HARNESS_KEYS } from "../../../src/domain/harnesses/harnesses.ts";
import { watchTurns } from "../../support/turns.ts";
import { measureFetches } from "../console/console-fetches.ts";
import { type ConsoleSite, startConsoleSite } from "../console/console-site.ts";
import { budgeted, type Figure } from "../figures.ts";
import { temporaryDirectory } from "../tools/installation.ts";
import type { LoadRequest } from "../tools/load.ts";
import { benchPackages } from "../tools/packages.ts";
import { spreadFleet } from "./policy-rows.ts";

const WARM_UPS = 5;
const TIMES = 40;
const TEXT_BYTES = 256 * 1_024;
/** Users of the one package that only some users still get. */
const AUDIENCE = 1_000;
/** One administrator sends each of them every three seconds. */
const REQUESTS_PER_SECOND = 2;

interface Work {
  what: string;
  request: LoadRequest;
  /** 95th percentile of the whole response */
  budgetMs: number;
  /** of a turn of the event loop */
  turnMs: number;
}

/** Measures the operations of administrators on the policy. */
export async function* measurePolicy(): AsyncGenerator<Figure> {
  using directory = temporaryDirectory();
  const turns = watchTurns(directory.path);
  const site = await startConsoleSite(directory.path, turns.env, spreadFleet);
  try {
    const works = worksOf(await prepare(site));
    for (const work of works) yield* await measureWork(site, work, turns.longest);
    const { policyRequests, service } = site;
    const requests = works.map(({ request }) => request);
    const administrators = { port: service.port, perSecond: REQUESTS_PER_SECOND, requests };
    yield* await measureFetches(administrators, {
      policyRequests,
      while: "an administrator prepares a draft",
    });
  } finally {
    await site.service.stop();
  }
}

interface Prepared {
  headers: Record<string, string>;
  revision: string;
  /** a policy of TEXT_BYTES */
  text: string;
}

/** Saves a draft that narrows a range, changes a setting, removes a package, and withdraws one from most users. */
async function prepare({ origin, cookies, users }: ConsoleSite): Promise<Prepared> {
  const headers = { Cookie: cookies[0] ?? "", Origin: origin, "Content-Type": "application/json" };
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await fetch(origin + path, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}: ${await answer.text()}`);
    return await answer.json();
  };
  const settings = { managed_config_yaml: "model: large", version_requirement: ">=2.0.100, <3" };
  const draft = await ask("PUT", "/admin/policy-draft", {
    version: 0,
    harness: { harness: "claude", ...settings },
  });
  const [first, ...packages] = benchPackages();
  const user_ids = users.slice(0, AUDIENCE).map(({ id }) => id);
  const extensions = { packages, package_audiences: { "package-2": { scope: "users", user_ids } } };
  if (!first) throw new Error("there are packages");
  await ask("PUT", "/admin/policy-draft", { version: draft.version, extensions });
  return { headers, revision: draft.base_revision, text: longText() };
}

/** Settings of all harnesses, as people write them: every eighth line has a comment. */
function longText(): string {
  let text = "revision: x\nallowed_harnesses: [claude, codex, kimi, opencode]\nharnesses:\n";
  for (const harness of HARNESS_KEYS) {
    text += `  ${harness}:\n    managed_config:\n      rules:\n`;
    const end = text.length + TEXT_BYTES / HARNESS_KEYS.length;
    for (let at = 0; text.length < end; at++)
      text += `${at % 4 === 0 ? "        # the everyday operations\n" : ""}        - allow: "Bash(git status --short:*)"\n          paths: [src/feature-${at}, test]\n`;
  }
  return text;
}

const worksOf = ({ headers, revision, text }: Prepared): readonly Work[] => [
  {
    what: "CON-60 explain",
    request: {
      method: "GET",
      headers,
      path: "/admin/governance-config/explain?user_id=worker-4000@example.com&harness=claude&installed=2.0.20",
    },
    budgetMs: 20,
    turnMs: 20,
  },
  {
    what: "CON-60 page that explains",
    request: {
      method: "GET",
      headers,
      path: "/console/policy/explain?user=worker-4000@example.com&harness=claude&installed=2.0.20",
    },
    budgetMs: 60,
    turnMs: 20,
  },
  {
    what: "CON-46 check of 256 KiB",
    request: {
      method: "POST",
      headers,
      path: "/admin/governance-config/check",
      body: JSON.stringify({ managed_yaml: text }),
    },
    budgetMs: 100,
    turnMs: 20,
  },
  {
    what: "CON-58 impact",
    request: { method: "POST", headers, path: "/admin/governance-config/impact", body: "{}" },
    budgetMs: 2_000,
    turnMs: 10,
  },
  {
    what: "CON-55 review page",
    request: { method: "GET", headers, path: "/console/policy/review" },
    budgetMs: 300,
    turnMs: 20,
  },
  {
    what: "CON-63 rollout page",
    request: { method: "GET", headers, path: `/console/policy/rollout/${revision}` },
    budgetMs: 60,
    turnMs: 20,
  },
];

async function measureWork(
  { origin }: ConsoleSite,
  { what, request: { path, ...request }, budgetMs, turnMs }: Work,
  longest: (work: () => Promise<unknown>) => Promise<number>,
): Promise<Figure[]> {
  const times: number[] = [];
  const ask = async () => {
    const begin = performance.now();
    const answer = await fetch(origin + path, { ...request, redirect: "manual" });
    await answer.bytes();
    if (answer.status !== 200) throw new Error(`${path} was answered with ${answer.status}`);
    times.push(performance.now() - begin);
  };
  for (let turn = 0; turn < WARM_UPS; turn++) await ask();
  const cold = times[0] ?? Number.NaN;
  times.length = 0;
  const turn = await longest(async () => {
    for (let at = 0; at < TIMES; at++) await ask();
  });
  const late = times.toSorted((one, other) => one - other)[Math.floor(0.95 * TIMES) - 1] ?? Number.NaN;
  return [
    { what: `${what}, p95`, unit: "ms", ours: late, verdict: budgeted(budgetMs, late) },
    { what: `${what}, first time`, unit: "ms", ours: cold },
    { what: `${what}, longest turn`, unit: "ms", ours: turn, verdict: budgeted(turnMs, turn) },
  ];
}
