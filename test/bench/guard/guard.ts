// The cost of the guard, and the refusal of the first request after a revocation under load.
import { decodeJwt } from "jose";
import { DISTINCT_TOKENS, distinctTokens, firstSightsPerSecond, sendEachOnce } from "../distinct-tokens.ts";
import { contest, type Figure } from "../figures.ts";
import { cleanEnvironment, load, quartermaster, script, spawnLoad, startServer } from "../processes.ts";
import { median } from "../tools/compare.ts";
import { logIn, openBeside, startQuartermaster, temporaryDirectory } from "../tools/installation.ts";

const ROUNDS = 7;
const SECONDS = 1;
const CONNECTIONS = 32;
const REVOCATION_LOAD_SECONDS = 3;
/** load before the revocation begins */
const LEAD_MS = 1_000;
const REQUESTS_AFTER = 500;
/** behind the guard, for users of any role */
const FOR_ANYONE = "/guarded/anyone";

/** Measures the guard. Required: 0.6 of the rate of the open route, and no accepted request after a revocation. */
export async function* measureGuard(): AsyncGenerator<Figure> {
  using directory = temporaryDirectory();
  await using servers = new AsyncDisposableStack();
  const service = await startQuartermaster(directory.path);
  servers.defer(service.stop);
  const { token, tokens } = await accessTokens(directory.path, service.port);
  const bench = await startServer(script("guard/guard-server.ts", directory.path, String(service.port)));
  servers.defer(bench.stop);

  const plan = { port: bench.port, connections: CONNECTIONS };
  const own = [{ Authorization: `Bearer ${token}` }];
  const planOf = (path: string, headers = own) => ({
    ...plan,
    requests: headers.map((one) => ({ method: "GET", path, headers: one })),
  });
  const perSecond = (path: string, headers = own) => {
    const each = planOf(path, headers);
    return async () => (await load({ ...each, seconds: SECONDS }, 200)).perSecond;
  };
  const verificationLimit = median(await firstSightsPerSecond({ ...plan, path: FOR_ANYONE, tokens }));
  await sendEachOnce(planOf(FOR_ANYONE, tokens), 200);
  const against = { unit: "requests/s", wanted: 0.6, rounds: ROUNDS, reference: perSecond("/open") };
  const known = await contest({
    what: "bearer token verified and authorized",
    ...against,
    ours: perSecond("/guarded"),
  });
  yield known;
  yield await contest({
    what: `the same, ${DISTINCT_TOKENS.toLocaleString("en-US")} tokens in turn`,
    ...against,
    ours: perSecond(FOR_ANYONE, tokens),
    reference: perSecond("/open", tokens),
  });
  yield {
    what: "first sight of a token, against one that is known",
    unit: "requests/s",
    ours: verificationLimit,
    reference: known.ours,
    ratio: verificationLimit / known.ours,
  };
  yield await revokeUnderLoad({ directory: directory.path, port: service.port, token });
}

/** @returns one token of the administrator, and one of each of many users */
async function accessTokens(directory: string, port: number) {
  const installation = await openBeside(directory, port);
  const [login] = await logIn(installation, 1);
  const tokens = await distinctTokens(installation);
  await installation.close();
  return { token: login?.access_token ?? "", tokens };
}

interface Revocation {
  directory: string;
  port: number;
  token: string;
}

/** Sends its own requests after the revoking command has ended, while the load continues. */
async function revokeUnderLoad({ directory, port, token }: Revocation): Promise<Figure> {
  const headers = { Authorization: `Bearer ${token}` };
  const requests = [{ method: "GET", path: "/admin/package-catalog", headers }];
  const loaded = spawnLoad({ port, connections: CONNECTIONS, seconds: REVOCATION_LOAD_SECONDS, requests });
  await Bun.sleep(LEAD_MS);
  const grantId = String(decodeJwt(token).grant_id);
  const revoking = Bun.spawn(quartermaster("logins", "revoke", grantId, "--yes", "--data-dir", directory), {
    env: cleanEnvironment(),
    stdout: "ignore",
  });
  if ((await revoking.exited) !== 0) throw new Error("the login was not revoked");
  let accepted = 0;
  for (let sent = 0; sent < REQUESTS_AFTER; sent++) {
    const { status } = await fetch(`http://127.0.0.1:${port}/admin/package-catalog`, { headers });
    if (status !== 401) accepted += 1;
  }
  const { statuses } = await loaded;
  if (!statuses[200] || !statuses[401]) throw new Error(`no load around it: ${JSON.stringify(statuses)}`);
  return {
    what: `accepted of ${REQUESTS_AFTER} requests after a revocation`,
    unit: "requests",
    ours: accepted,
    verdict: { wanted: "0", isMet: accepted === 0 },
  };
}
