// The policy of a workstation, with authentication and a known audience, compared with a bare Bun.serve that sends the same bytes,
// or 304, to everybody; and the streams that wait for the next revision.
import { join } from "node:path";
import type { ExistingInstallation } from "../../src/app/installation/installation.ts";
import type { Actor } from "../../src/domain/shared/actor.ts";
import { CLIENT_HEADERS } from "./clients/policy-fetch.ts";
import { contestInTurn, DISTINCT_TOKENS, distinctTokens, sendEachOnce } from "./distinct-tokens.ts";
import { contest, type Figure } from "./figures.ts";
import { load, type Running, script, startServer } from "./processes.ts";
import { measureStreams, STREAMS } from "./revision-streams.ts";
import { addUsers, logIn, openBeside, startQuartermaster, temporaryDirectory } from "./tools/installation.ts";
import { benchPackages } from "./tools/packages.ts";

const ROUNDS = 7;
const SECONDS = 1.2;
const CONNECTIONS = 32;
/** below STREAMS_PER_USER_MAX, and a divisor of STREAMS */
const STREAMS_PER_MEMBER = 250;
const IN_TURN = `${DISTINCT_TOKENS.toLocaleString("en-US")} tokens in turn`;
const PATH = "/governance-config";
/** bytes that the packages lack of sixty kilobytes */
const NOTES_BYTES = 7_000;

/** Measures policy delivery. Required: 0.7 of the rate of the bare server with 60 KB, 0.5 of it with 304, and 5,000 streams. */
export async function* measureGovernance(): AsyncGenerator<Figure> {
  using directory = temporaryDirectory();
  const data = join(directory.path, "data");
  await using servers = new AsyncDisposableStack();
  const own = await startQuartermaster(data);
  servers.defer(own.stop);
  const installation = await openBeside(data, own.port);
  servers.defer(installation.close);
  const actor: Actor = {
    kind: "operator",
    id: null,
    label: "bench",
    organizationId: installation.organizationId,
  };
  yield* await measureStreams(own, {
    authorizations: await streamAuthorizations(installation, actor),
    publish: () => publish(installation, actor),
    revoke: () => installation.domain.access.logins.revokeEverything(actor),
  });
  const headers = {
    ...CLIENT_HEADERS,
    Authorization: await authorizationFor(installation),
  };
  const tokens = await distinctTokens(installation);
  yield* await fetches(own, { headers, tokens, directory: directory.path });
}

/** @returns one access token for each stream; no user has more streams than may be open */
async function streamAuthorizations(installation: ExistingInstallation, actor: Actor): Promise<string[]> {
  const members = await addUsers(installation, actor, STREAMS / STREAMS_PER_MEMBER);
  const authorizations: string[] = [];
  for (const member of members) {
    const logins = await logIn(installation, STREAMS_PER_MEMBER, member);
    authorizations.push(...logins.map(({ access_token }) => `Bearer ${access_token}`));
  }
  return authorizations;
}

async function authorizationFor(installation: ExistingInstallation): Promise<string> {
  const [login] = await logIn(installation, 1);
  return `Bearer ${login?.access_token}`;
}

function administratorOf({ domain, db, organizationId }: ExistingInstallation): string {
  return domain.identity.findUserByEmail(db.read, organizationId, "admin@example.com")?.id ?? "";
}

/** Publishes a policy of about sixty kilobytes, one of its packages for a selected user. @returns its id */
async function publish(installation: ExistingInstallation, actor: Actor): Promise<string> {
  const { publishing, revisions } = installation.domain.governance;
  const { id: baseRevision } = await publishing.publishHarness(actor, {
    baseRevision: revisions.inForce(actor.organizationId).id,
    harness: "claude",
    managedConfigYaml: `notes: ${"n".repeat(NOTES_BYTES)}`,
    versionRequirement: ">=2.0.12",
  });
  const user_ids = [administratorOf(installation)];
  const { id } = await publishing.publishExtensions(actor, {
    baseRevision,
    packages: benchPackages(),
    packageAudiences: { "package-1": { scope: "users", user_ids } },
  });
  return id;
}

interface Fetching {
  /** token of one workstation's requests */
  headers: Record<string, string>;
  /** tokens of other workstations, which get the same policy without the package of the selected user */
  tokens: readonly { Authorization: string }[];
  directory: string;
}

async function fetches(own: Running, { headers, tokens, directory }: Fetching): Promise<Figure[]> {
  const answer = await fetch(`http://127.0.0.1:${own.port}${PATH}`, { headers });
  const etag = answer.headers.get("etag") ?? "";
  const bytes = join(directory, "policy.bytes");
  await Bun.write(bytes, await answer.bytes());
  const contentType = answer.headers.get("content-type") ?? "";
  await using bare = new AsyncDisposableStack();
  const reference = await startServer(script("guard/bare-server.ts", bytes, contentType, etag));
  bare.defer(reference.stop);
  const looking = await startServer(script("guard/bare-server.ts", bytes, contentType, etag, "tokens"));
  bare.defer(looking.stop);

  const known = { "If-None-Match": await etagFor(own, { ...headers, ...tokens[0] }) };
  const planOf = (port: number, more: Record<string, string>, each: readonly object[] = [{}]) => ({
    port,
    connections: CONNECTIONS,
    requests: each.map((one) => ({ method: "GET", path: PATH, headers: { ...headers, ...more, ...one } })),
  });
  const perSecond =
    (port: number, more: Record<string, string>, status: number, each: readonly object[] = [{}]) =>
    async () =>
      (await load({ ...planOf(port, more, each), seconds: SECONDS }, status)).perSecond;
  const against = (more: Record<string, string>, status: number) => ({
    unit: "requests/s",
    rounds: ROUNDS,
    ours: perSecond(own.port, more, status),
    reference: perSecond(reference.port, more, status),
  });
  // The bare servers have the document of the selected user only.
  const knownToBare = { "If-None-Match": etag };
  const inTurn = async (wanted: number, status: number, more = {}, bareMore = {}) =>
    await contestInTurn(
      { what: `policy, ${status}, ${IN_TURN}`, wanted, rounds: ROUNDS },
      {
        ours: perSecond(own.port, more, status, tokens),
        bare: perSecond(reference.port, bareMore, status, tokens),
        looking: perSecond(looking.port, bareMore, status, tokens),
      },
    );
  await sendEachOnce(planOf(own.port, known, tokens), 304);
  await sendEachOnce(planOf(looking.port, knownToBare, tokens), 304);
  return [
    ...(await inTurn(0.7, 200)),
    ...(await inTurn(0.5, 304, known, knownToBare)),
    await contest({ what: "policy, 200, one token", wanted: 0.7, ...against({}, 200) }),
    await contest({
      what: "policy, 304, one token",
      wanted: 0.5,
      ...against({ "If-None-Match": etag }, 304),
    }),
  ];
}

async function etagFor({ port }: Running, headers: Record<string, string>): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}${PATH}`, { headers });
  await answer.bytes();
  return answer.headers.get("etag") ?? "";
}
