// The OAuth endpoints with durable writes, compared with the npm package oidc-provider with an in-memory adapter: both get the same
// client, bodies and connections. It runs on Bun and, if installed, on Node; the faster one is the reference. What writes is also
// compared with a bare server that makes the same rows (bare-oauth.ts): it shows how much of the time is the runtime's and SQLite's.
import { join } from "node:path";
import { DEVICE_CODE_GRANT, REFRESH_GRANT } from "../../../src/domain/access/wire.ts";
import { atLeast, type Figure } from "../figures.ts";
import {
  load,
  peerOnBun,
  peerOnNode,
  type Running,
  script,
  startServer,
  WRITING_CALLERS,
} from "../processes.ts";
import { type Comparison, compareAlternating } from "../tools/compare.ts";
import {
  logIn,
  openBeside,
  requestLogin,
  startQuartermaster,
  temporaryDirectory,
} from "../tools/installation.ts";
import type { LoadPlan, LoadRequest } from "../tools/load.ts";
import {
  CLIENT_ID,
  CONNECTIONS,
  DEVICE_CODES,
  FAMILIES,
  ROUNDS,
  SCOPES,
  type Seeds,
  WARM_UPS,
} from "./oauth-plan.ts";

const SECONDS = 1;
/** Shorter: together with the seeded logins, no more may be pending than the service allows. */
const DEVICE_CODE_SECONDS = 0.5;
/** Shorter: each login is polled once. */
const POLL_SECONDS = 0.5;
/** Delay before each round: no login may be polled within a second of the round before. */
const POLL_PAUSE_MS = 1_100;

const BARE = "a bare server with the same rows";

/** A server under test, its endpoints and the rows created in it. */
interface Side extends Seeds {
  running: Running;
  /** default: its own origin */
  resource?: string;
  devicePath: string;
  tokenPath: string;
}

/**
 * Compares the token endpoints with a reference. Required: 1.5 times its device codes, 3 times its polls, 1.3 times its refreshes.
 */
export async function* measureOAuth(): AsyncGenerator<Figure> {
  using directory = temporaryDirectory();
  await using servers = new AsyncDisposableStack();
  const sides: Record<string, Side> = {};
  const add = async (name: string, side: Promise<Side>) => {
    sides[name] = await side;
    servers.defer(sides[name].running.stop);
  };
  await add("oidc-provider on Bun", startPeer(directory.path, peerOnBun("oauth/oidc-peer.ts")));
  const node = Bun.which("node");
  if (node)
    await add(
      "oidc-provider on Node",
      startPeer(directory.path, await peerOnNode(node, "oauth/oidc-peer.ts", directory.path)),
    );
  const data = join(directory.path, "data");
  const ours = await startOurs(data);
  servers.defer(ours.running.stop);
  const copy = join(directory.path, "copy.db");
  const bare = await startServer(
    script("oauth/bare-oauth.ts", join(data, "quartermaster.db"), copy, resourceOf(ours)),
  );
  servers.defer(bare.stop);
  const resource = resourceOf(ours);
  const writers = { ...sides, [BARE]: { ...ours, running: bare, resource }, ours };
  yield* await measure(
    { ...sides, ours },
    {
      what: "poll, pending",
      wanted: 3,
      plan: polls,
      seconds: POLL_SECONDS,
      pauseMs: POLL_PAUSE_MS,
    },
  );
  yield* await measure(writers, { what: "refresh, rotating", wanted: 1.3, plan: refreshes });
  yield* await measure(writers, {
    what: "device code",
    wanted: 1.5,
    plan: deviceCodes,
    seconds: DEVICE_CODE_SECONDS,
    connections: WRITING_CALLERS,
  });
}

/** The endpoints limit abuse. Limits that this machine would reach by its speed are raised for the run. */
async function startOurs(directory: string): Promise<Side> {
  const running = await startQuartermaster(
    directory,
    ...["--limits-device-codes-per-address", "100000", "--limits-window-seconds", "1"],
    ...["--limits-pending-logins-per-address", "100000", "--limits-pending-logins-per-network", "100000"],
    ...["--access-poll-interval-seconds", "1"],
  );
  const installation = await openBeside(directory, running.port);
  const logins = await logIn(installation, FAMILIES);
  const requested = await Promise.all(Array.from({ length: DEVICE_CODES }, () => requestLogin(installation)));
  await installation.close();
  return {
    running,
    devicePath: "/api/auth/device/code",
    tokenPath: "/api/auth/oauth2/token",
    deviceCodes: requested.map(({ deviceCode }) => deviceCode),
    refreshTokens: logins.map(({ refresh_token }) => refresh_token ?? ""),
  };
}

async function startPeer(directory: string, command: string[]): Promise<Side> {
  const file = join(directory, "seeds.json");
  const running = await startServer([...command, file]);
  const seeds: Seeds = await Bun.file(file).json();
  return { running, devicePath: "/device/auth", tokenPath: "/token", ...seeds };
}

interface Measure {
  what: string;
  wanted: number;
  seconds?: number;
  connections?: number;
  pauseMs?: number;
  plan: (
    side: Side,
    round: number,
  ) => Pick<LoadPlan, "requests" | "contains" | "carries"> & { status: number };
}

async function measure(
  sides: Readonly<Record<string, Side>>,
  { what, wanted, plan, seconds = SECONDS, connections = CONNECTIONS, pauseMs = 0 }: Measure,
): Promise<Figure[]> {
  const subject = (side: Side) => {
    let round = 0;
    return async () => {
      const { status, ...rest } = plan(side, round++);
      const { port } = side.running;
      await Bun.sleep(pauseMs);
      return (await load({ port, connections, seconds, ...rest }, status)).perSecond;
    };
  };
  const subjects = Object.fromEntries(Object.entries(sides).map(([name, side]) => [name, subject(side)]));
  const rows = await compareAlternating({ rounds: ROUNDS, warmUps: WARM_UPS, subjects });
  const ours = rows.pop()?.median ?? Number.NaN;
  const bare = rows.find(({ name }) => name === BARE);
  const peers = rows.filter((row) => row !== bare);
  const best = peers.reduce((fastest, row) => (row.median > fastest.median ? row : fastest));
  const against = ({ name, median: reference }: Comparison) => ({
    what: `${what} (against ${name})`,
    unit: "requests/s",
    ours,
    reference,
    ratio: ours / reference,
  });
  return [
    { ...against(best), verdict: atLeast(wanted, ours / best.median) },
    ...(bare ? [against(bare)] : []),
  ];
}

const form = (path: string, fields: Record<string, string>): LoadRequest => ({
  method: "POST",
  path,
  headers: { "Content-Type": "application/x-www-form-urlencoded", Accept: "application/json" },
  body: new URLSearchParams({ client_id: CLIENT_ID, ...fields }).toString(),
});

const resourceOf = ({ running, resource }: Side): string => resource ?? `http://127.0.0.1:${running.port}`;

const deviceCodes = (side: Side) => ({
  requests: [form(side.devicePath, { scope: SCOPES.join(" "), resource: resourceOf(side) })],
  contains: '"device_code"',
  status: 200,
});

/** `slow_down` is also a response, but not to an accepted poll. */
const polls = (side: Side) => ({
  requests: side.deviceCodes.map((device_code) =>
    form(side.tokenPath, { grant_type: DEVICE_CODE_GRANT, device_code, resource: resourceOf(side) }),
  ),
  contains: '"authorization_pending"',
  status: 400,
});

const refreshes = (side: Side, round: number) => ({
  requests: side.refreshTokens
    .slice(round * CONNECTIONS, (round + 1) * CONNECTIONS)
    .map((refresh_token) =>
      form(side.tokenPath, { grant_type: REFRESH_GRANT, refresh_token, resource: resourceOf(side) }),
    ),
  carries: "refresh_token",
  contains: '"access_token"',
  status: 200,
});
