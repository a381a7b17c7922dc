// The package catalog with its authentication and authorization, compared with a bare Bun.serve that gets the same requests and sends
// the same bytes, or 304, to everybody. Its figure with a look-up of each token shows how much of the difference is the look-up.
import { join } from "node:path";
import { contestInTurn, DISTINCT_TOKENS, distinctTokens, sendEachOnce } from "./distinct-tokens.ts";
import { contest, type Figure } from "./figures.ts";
import { load, script, startServer } from "./processes.ts";
import { logIn, openBeside, startQuartermaster, temporaryDirectory } from "./tools/installation.ts";
import { catalogFile } from "./tools/packages.ts";

const ROUNDS = 7;
const SECONDS = 1.2;
const CONNECTIONS = 32;
const IN_TURN = `${DISTINCT_TOKENS.toLocaleString("en-US")} tokens in turn`;
const PATH = "/admin/package-catalog";

/** Measures the catalog. Required: 0.75 of the rate of the bare server with the bytes, 0.5 of it with 304. */
export async function* measureCatalog(): AsyncGenerator<Figure> {
  using directory = temporaryDirectory();
  const file = join(directory.path, "catalog.json");
  await Bun.write(file, catalogFile());
  const data = join(directory.path, "data");
  await using servers = new AsyncDisposableStack();
  const own = await startQuartermaster(data, "--catalog", file);
  servers.defer(own.stop);
  const installation = await openBeside(data, own.port);
  const [login] = await logIn(installation, 1);
  const tokens = await distinctTokens(installation, "admin");
  await installation.close();
  const authorization = `Bearer ${login?.access_token}`;

  const answer = await fetch(`http://127.0.0.1:${own.port}${PATH}`, { headers: { authorization } });
  const etag = answer.headers.get("etag") ?? "";
  const bytes = join(directory.path, "catalog.bytes");
  await Bun.write(bytes, await answer.bytes());
  const contentType = answer.headers.get("content-type") ?? "";
  const bare = await startServer(script("guard/bare-server.ts", bytes, contentType, etag));
  servers.defer(bare.stop);
  const looking = await startServer(script("guard/bare-server.ts", bytes, contentType, etag, "tokens"));
  servers.defer(looking.stop);

  const planOf = (port: number, headers: Record<string, string>, each: readonly object[] = [{}]) => ({
    port,
    connections: CONNECTIONS,
    requests: each.map((one) => ({
      method: "GET",
      path: PATH,
      headers: { Authorization: authorization, ...headers, ...one },
    })),
  });
  const perSecond =
    (port: number, headers: Record<string, string>, status: number, each?: readonly object[]) => async () =>
      (await load({ ...planOf(port, headers, each), seconds: SECONDS }, status)).perSecond;
  const against = (headers: Record<string, string>, status: number) => ({
    unit: "requests/s",
    rounds: ROUNDS,
    ours: perSecond(own.port, headers, status),
    reference: perSecond(bare.port, headers, status),
  });
  const inTurn = async (wanted: number, headers: Record<string, string>, status: number) =>
    await contestInTurn(
      { what: `catalog, ${status}, ${IN_TURN}`, wanted, rounds: ROUNDS },
      {
        ours: perSecond(own.port, headers, status, tokens),
        bare: perSecond(bare.port, headers, status, tokens),
        looking: perSecond(looking.port, headers, status, tokens),
      },
    );
  const known = { "If-None-Match": etag };
  for (const { port } of [own, looking]) await sendEachOnce(planOf(port, known, tokens), 304);
  yield* await inTurn(0.75, {}, 200);
  yield* await inTurn(0.5, known, 304);
  yield await contest({ what: "catalog, 200, one token", wanted: 0.75, ...against({}, 200) });
  yield await contest({ what: "catalog, 304, one token", wanted: 0.5, ...against(known, 304) });
}
