// Provisioning with 100,000 users, 10,000 groups and one group of 50,000 members, compared with the npm packages scimmy and
// scimmy-routers (on Bun and, if installed, on Node; the faster one counts) and with a bare Bun.serve with one prepared statement.
// scim-budgets.ts measures single operations at that size.
import { join } from "node:path";
import { ENDPOINTS, PATCH_OP, SCIM_BASE_PATH } from "../../../src/domain/scim/wire.ts";
import { atMost, type Figure, race } from "../figures.ts";
import { load, type Running, startServer, WRITING_CALLERS } from "../processes.ts";
import { compareAlternating } from "../tools/compare.ts";
import { temporaryDirectory } from "../tools/installation.ts";
import type { LoadRequest } from "../tools/load.ts";
import { measureBudgets } from "./scim-budgets.ts";
import {
  FEW_USERS,
  groupNamed,
  lookupPath,
  MANY_USERS,
  PAGE,
  queryPath,
  TAKES_PAGE,
  userNameAt,
} from "./scim-plan.ts";
import { getRequest, type OurSide, peerCommands, sendRequest, startBare, startOurs } from "./scim-sides.ts";

const ROUNDS = 5;
const CONNECTIONS = 32;
const SECONDS = 1;
/** Fewer: on Node the reference takes six seconds for a page. */
const PAGE_ROUNDS = 3;
/** The reference serves a few dozen pages a second at most. */
const PAGE_SECONDS = 3;
const PAGE_CALLERS = 4;
/** pages of the service, requested one after another */
const PAGES = 100;
const AMONG_MANY = "look-up by userName among 100,000";
const PAGE_IS_FULL = `"itemsPerPage":${PAGE}`;
const LOOKED_UP = 20_000;
/** more than are created in a round */
const NEW_GROUPS = 48_000;
const PATCH_SECONDS = 0.3;
/** more than are sent in a round */
const PATCHES = 1_200;

const GROUPS = 10_000;
const MEMBERSHIPS = 250_000;
const BIG_GROUP = 50_000;
const SMALL_GROUP = 5;
const SMALL_GROUPS = PATCHES * (ROUNDS + 1);

/** Measures provisioning and its references. */
export async function* measureScim(): AsyncGenerator<Figure> {
  using directory = temporaryDirectory();
  await using servers = new AsyncDisposableStack();
  const running = <Started extends Running>(started: Started): Started => {
    servers.defer(started.stop);
    return started;
  };
  const many = await startOurs(join(directory.path, "many"), { users: MANY_USERS, groups: groupSizes(1) });
  running(many.running);
  yield* await measureBudgets(many, BIG_GROUP);
  const few = await startOurs(join(directory.path, "few"), { users: FEW_USERS, groups: groupSizes(0.1) });
  running(few.running);
  const copy = join(directory.path, "copy.db");
  const bare = { many: running(await startBare(many, copy)), few: running(await startBare(few)) };
  const peers: Record<string, number> = {};
  for (const [name, command] of Object.entries(await peerCommands(directory.path)))
    peers[name] = running(await startServer(command)).port;
  yield* await measureLookups({ many, few, bare, peers });
  yield* await measurePages(many, peers);
  yield await measureMemberships(many);
  yield* await measureNewGroups(many, bare.many, peers);
}

/** One large group, many small ones, and the rest of the memberships shared evenly by the other groups. */
function groupSizes(share: number): number[] {
  const [big, small] = [BIG_GROUP * share, SMALL_GROUPS * share];
  const others = GROUPS * share - 1 - small;
  const left = MEMBERSHIPS * share - big - small * SMALL_GROUP;
  return [
    big,
    ...Array.from({ length: small }, () => SMALL_GROUP),
    ...Array.from({ length: others }, (_, at) => Math.floor((left + at) / others)),
  ];
}

interface LookupSides {
  many: OurSide;
  few: OurSide;
  bare: { many: Running; few: Running };
  peers: Readonly<Record<string, number>>;
}

async function measureLookups({ many, few, bare, peers }: LookupSides): Promise<Figure[]> {
  const lookups = (port: number, users: number) => async () => {
    // 7,919 is prime, so the names are spread over the whole file
    const names = Array.from({ length: LOOKED_UP }, (_, at) => userNameAt((at * 7_919) % users));
    const requests = names.map((name) => getRequest(lookupPath(name)));
    const plan = { port, connections: CONNECTIONS, seconds: SECONDS, requests, contains: '"totalResults":1' };
    return (await load(plan, 200)).perSecond;
  };
  const ofFew = lookups(few.running.port, FEW_USERS);
  const kind = { unit: "requests/s", rounds: ROUNDS };
  const amongFew = "look-up by userName among 10,000";
  const ofMany = lookups(many.running.port, MANY_USERS);
  const bareMany = lookups(bare.many.port, MANY_USERS);
  const bareFew = lookups(bare.few.port, FEW_USERS);
  return [
    ...(await race(
      {
        ...kind,
        subjects: {
          ours: ofFew,
          "bare server": bareFew,
          ...mapValues(peers, (port) => lookups(port, FEW_USERS)),
        },
      },
      [
        { what: amongFew, rivals: "scimmy", wanted: 8 },
        { what: amongFew, rivals: "bare" },
        { what: amongFew, rivals: "scimmy on Node" },
      ],
    )),
    ...(await race({ ...kind, subjects: { ours: ofMany, "bare server": bareMany } }, [
      { what: AMONG_MANY, rivals: "bare", wanted: 0.4 },
    ])),
    ...(await measureGrowth({ ofFew, ofMany, bareFew, bareMany })),
  ];
}

type Lookups = () => Promise<number>;

/**
 * The rows of 100,000 users exceed the caches of the processor and of SQLite, which slows down any server that looks them up. So
 * the share of its rate that the service keeps is compared with the share that a bare server keeps on the same files.
 */
function measureGrowth(
  sides: Record<"ofFew" | "ofMany" | "bareFew" | "bareMany", Lookups>,
): Promise<Figure[]> {
  const { ofFew, ofMany, bareFew, bareMany } = sides;
  const keeps = (ofMost: Lookups, ofSome: Lookups) => async () => (await ofMost()) / (await ofSome());
  const subjects = { ours: keeps(ofMany, ofFew), "what a bare server keeps": keeps(bareMany, bareFew) };
  return race({ unit: "of its rate", rounds: ROUNDS, subjects }, [
    { what: `${AMONG_MANY}: kept of the rate among 10,000`, rivals: "what a bare", wanted: 0.9 },
  ]);
}

const pagePath = (startIndex: number): string =>
  queryPath(ENDPOINTS.User, { startIndex: String(startIndex), count: String(PAGE) });

async function measurePages(
  { running: { port } }: OurSide,
  peers: Readonly<Record<string, number>>,
): Promise<Figure[]> {
  const loaded =
    (at: number, startIndex: number, headers: Record<string, string> = {}) =>
    async () => {
      const requests = [getRequest(pagePath(startIndex), headers)];
      const plan = { port: at, connections: PAGE_CALLERS, seconds: PAGE_SECONDS, requests };
      return (await load({ ...plan, contains: PAGE_IS_FULL }, 200)).perSecond;
    };
  const what = "page of 100 users";
  const kind = { unit: "pages/s", rounds: PAGE_ROUNDS };
  const paging = Object.entries(peers).map(([name, at]) => [
    `${name}, whose handler pages`,
    loaded(at, 1, { [TAKES_PAGE]: "1" }),
  ]);
  const alone = { ours: onePage(port, PAGES), ...mapValues(peers, (at) => onePage(at, 1)) };
  const last = { ours: loaded(port, MANY_USERS - PAGE + 1), "the first page": loaded(port, 1) };
  return [
    ...(await race({ ...kind, subjects: { ours: loaded(port, 1), ...Object.fromEntries(paging) } }, [
      { what, rivals: "scimmy", wanted: 20 },
    ])),
    ...(await race({ ...kind, subjects: alone }, [{ what: `${what}, one after another`, rivals: "scimmy" }])),
    ...(await race({ ...kind, rounds: ROUNDS, subjects: last }, [
      { what: "last page of 100,000 users", rivals: "the first page", wanted: 0.25 },
    ])),
  ];
}

/**
 * One page after another: a server that reads all users for each page takes seconds, so no other request may run in the meantime.
 */
const onePage =
  (port: number, pages: number, headers: Record<string, string> = {}) =>
  async () => {
    const { path, headers: sent = {} } = getRequest(pagePath(1), headers);
    const begin = performance.now();
    for (let read = 0; read < pages; read++) {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: sent });
      if (!(await answer.text()).includes(PAGE_IS_FULL)) throw new Error("not a page of 100");
    }
    return (pages / (performance.now() - begin)) * 1_000;
  };

/** Each adds a user who is in none of the groups, one request at a time. */
async function measureMemberships({ running: { port }, userIds, groupIds }: OurSide): Promise<Figure> {
  const costMs = (groupOf: (nth: number) => string | undefined) => {
    let added = 0;
    return async () => {
      const requests = Array.from({ length: PATCHES }, () => {
        const id = userIds[BIG_GROUP + added];
        const path = `${SCIM_BASE_PATH}${ENDPOINTS.Group}/${groupOf(added++)}`;
        const operation = { op: "add", path: "members", value: [{ value: id }] };
        return sendRequest("PATCH", path, { schemas: [PATCH_OP], Operations: [operation] });
      });
      const result = await load({ port, connections: 1, seconds: PATCH_SECONDS, requests }, 204);
      if (result.requests > PATCHES) throw new Error(`${result.requests} changes: some changed nothing`);
      return result.p50Ms;
    };
  };
  const subjects = { small: costMs((nth) => groupIds[1 + nth]), big: costMs(() => groupIds[0]) };
  const [small, big] = await compareAlternating({ rounds: ROUNDS, warmUps: 1, subjects });
  const ratio = big?.ratio ?? Number.NaN;
  return {
    what: "PATCH adds one to 50,000 members (against 5)",
    unit: "ms",
    ours: big?.median ?? Number.NaN,
    reference: small?.median ?? Number.NaN,
    ratio,
    verdict: atMost(2, ratio),
  };
}

/** The writes of the service and of the bare server are durable when they are answered. */
function measureNewGroups(
  { running }: OurSide,
  bare: Running,
  peers: Readonly<Record<string, number>>,
): Promise<Figure[]> {
  const creations = (port: number) => {
    let named = 0;
    return async () => {
      const path = SCIM_BASE_PATH + ENDPOINTS.Group;
      const requests: LoadRequest[] = Array.from({ length: NEW_GROUPS }, () =>
        sendRequest("POST", path, groupNamed(`New group ${++named}`)),
      );
      const plan = { port, connections: WRITING_CALLERS, seconds: SECONDS, requests };
      return (await load(plan, 201)).perSecond;
    };
  };
  return race(
    {
      unit: "groups/s",
      rounds: ROUNDS,
      subjects: {
        ours: creations(running.port),
        "bare server with the same rows": creations(bare.port),
        ...mapValues(peers, creations),
      },
    },
    [
      { what: "new group, durable", rivals: "scimmy", wanted: 2.5 },
      { what: "new group, durable", rivals: "bare" },
      { what: "new group, durable", rivals: "scimmy on Node" },
    ],
  );
}

const mapValues = <From, To>(
  values: Readonly<Record<string, From>>,
  change: (value: From) => To,
): Record<string, To> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
