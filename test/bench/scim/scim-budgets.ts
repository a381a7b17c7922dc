// The cost of single operations at the size of scim.ts, sent one request at a time like a provider does, and their limits.
import { CORE_GROUP, ENDPOINTS, PATCH_OP, SCIM_BASE_PATH } from "../../../src/domain/scim/wire.ts";
import { SCIM_BYTES_MAX } from "../../../src/server/scim/body.ts";
import { budgeted, type Figure } from "../figures.ts";
import { followOwnMb, ownMb, processorMs } from "../processes.ts";
import { median } from "../tools/compare.ts";
import type { LoadRequest } from "../tools/load.ts";
import { groupNameAt, PAGE, queryPath, userAt } from "./scim-plan.ts";
import { getRequest, type OurSide, sendRequest } from "./scim-sides.ts";

/** requests by size */
const SMALL = 300;
const LARGE = 10;
const WARM_UPS = 4;
const MANY_MEMBERS = 1_000;

interface Budget {
  what: string;
  limitMs: number;
  times: number;
  request(nth: number): LoadRequest;
}

/**
 * Measures a service that was just started: memory is compared with that at the start.
 * @param bigGroup members of the first group, who are the first users
 */
export async function measureBudgets(side: OurSide, bigGroup: number): Promise<Figure[]> {
  const { port, pid } = side.running;
  const idleMb = await ownMb(pid);
  const mostMb = followOwnMb(pid);
  const figures: Figure[] = [];
  for (const budget of [...lookups(side), ...changes(side, bigGroup)]) {
    const ours = median(await waitedMs(port, budget));
    figures.push({ what: budget.what, unit: "ms", ours, verdict: budgeted(budget.limitMs, ours) });
  }
  const readMs = await processorTimeOfReading(side);
  const growthMb = mostMb() - idleMb;
  const refused = await measureRefusal(side);
  return [
    ...figures,
    {
      what: "16 MiB of unknown members, thread",
      unit: "ms",
      ours: refused.ms,
      verdict: budgeted(50, refused.ms),
    },
    { what: "memory of refusing them", unit: "MB", ours: refused.mb, verdict: budgeted(64, refused.mb) },
    { what: "GET of 50,000 members, thread", unit: "ms", ours: readMs, verdict: budgeted(400, readMs) },
    { what: "memory above idle, all of these", unit: "MB", ours: growthMb, verdict: budgeted(64, growthMb) },
  ];
}

function lookups({ userIds, groupIds }: OurSide): Budget[] {
  const lookup = (what: string, endpoint: string, filterOf: (at: number) => string): Budget => ({
    what: `look-up by ${what}`,
    limitMs: 1,
    times: SMALL,
    request: (nth) =>
      getRequest(queryPath(endpoint, { filter: filterOf(nth * 313), excludedAttributes: "members" })),
  });
  const startIndex = String(userIds.length - PAGE + 1);
  const lastPage = queryPath(ENDPOINTS.User, { startIndex, count: String(PAGE) });
  return [
    lookup("userName", ENDPOINTS.User, (at) => `userName eq "${userAt(at).userName}"`),
    lookup("externalId", ENDPOINTS.User, (at) => `externalId eq "${userAt(at).externalId}"`),
    lookup("e-mail", ENDPOINTS.User, (at) => `emails[type eq "work"].value eq "${userAt(at).userName}"`),
    lookup("group name", ENDPOINTS.Group, (at) => `displayName eq "${groupNameAt(at % groupIds.length)}"`),
    { what: "last page of 100 users", limitMs: 15, times: SMALL, request: () => getRequest(lastPage) },
  ];
}

function changes({ userIds, groupIds }: OurSide, bigGroup: number): Budget[] {
  const path = `${SCIM_BASE_PATH}${ENDPOINTS.Group}/${groupIds[0]}`;
  const membersOf = (from: number, to: number) => userIds.slice(from, to).map((value) => ({ value }));
  const same = { schemas: [CORE_GROUP], displayName: groupNameAt(0), members: membersOf(0, bigGroup) };
  const unchanged = sendRequest("PUT", path, same);
  /** Members that one request adds are removed by the next. */
  const comeAndGo = (members: number) => (nth: number) =>
    sendRequest("PATCH", path, {
      schemas: [PATCH_OP],
      Operations: [
        {
          op: nth % 2 === 0 ? "add" : "remove",
          path: "members",
          value: membersOf(bigGroup, bigGroup + members),
        },
      ],
    });
  return [
    { what: "one of 50,000 members added or removed", limitMs: 2, times: SMALL, request: comeAndGo(1) },
    { what: "1,000 members added or removed", limitMs: 50, times: LARGE, request: comeAndGo(MANY_MEMBERS) },
    { what: "unchanged PUT of 50,000 members", limitMs: 400, times: LARGE, request: () => unchanged },
  ];
}

/** @returns the time until the end of each response */
async function waitedMs(
  port: number,
  { times, request }: Omit<Budget, "what" | "limitMs">,
): Promise<number[]> {
  const waited: number[] = [];
  for (let nth = 0; nth < WARM_UPS + times; nth++) {
    const { method, path, headers = {}, body = null } = request(nth);
    const begin = performance.now();
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body });
    await answer.arrayBuffer();
    if (nth >= WARM_UPS) waited.push(performance.now() - begin);
    if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}`);
  }
  return waited;
}

/** A large response is sent in pieces between other requests, so its processor time is measured. */
async function processorTimeOfReading({ running: { port, pid }, groupIds }: OurSide): Promise<number> {
  const request = () => getRequest(`${SCIM_BASE_PATH}${ENDPOINTS.Group}/${groupIds[0]}`);
  await waitedMs(port, { times: 0, request });
  const before = await processorMs(pid);
  const { length } = await waitedMs(port, { times: LARGE, request });
  return ((await processorMs(pid)) - before) / (length + WARM_UPS);
}

/** As many unknown members as fit into the body of a group. */
async function measureRefusal({
  running: { port, pid },
  groupIds,
}: OurSide): Promise<{ ms: number; mb: number }> {
  const unknown = JSON.stringify({ value: crypto.randomUUID() });
  const count = Math.floor((SCIM_BYTES_MAX["scim-group"] - 100) / (unknown.length + 1));
  const members = Array.from({ length: count }, () => ({ value: crypto.randomUUID() }));
  const path = `${SCIM_BASE_PATH}${ENDPOINTS.Group}/${groupIds[0]}`;
  const {
    method,
    headers = {},
    body = null,
  } = sendRequest("PUT", path, { displayName: "Everybody", members });
  const mostMb = followOwnMb(pid);
  const idleMb = await ownMb(pid);
  const before = await processorMs(pid);
  for (let nth = 0; nth < LARGE; nth += 1) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body });
    await answer.arrayBuffer();
    if (answer.status !== 400) throw new Error(`unknown members were answered ${answer.status}`);
  }
  return { ms: ((await processorMs(pid)) - before) / LARGE, mb: mostMb() - idleMb };
}
