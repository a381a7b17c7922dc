// The service's share of a sign-in: the time from the browser's callback to the response, without the time in which
// every server waits for the provider. The reference measures that waiting: it sends the same token request to the same
// provider with a plain `fetch`. The result therefore counts the service's work around the request, but not the
// network, the provider's server and its signature.
//
//   share = (callback - signing) - (waiting - signing)
//
// `signing` is what the provider reports for each response; it is subtracted first, because it varies more than the rest. The
// reference is the share of a server that verifies one RS256 signature and commits SIGN_IN_ROWS rows, computed in the same way
// in the same run. A row of it has one index, and the rows of a sign-in have nine, so another figure has a server with the same rows.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openDataDirectory } from "../../../src/platform/data-directory/data-directory.ts";
import { atMost, type Figure } from "../figures.ts";
import { processorMs, script, startServer } from "../processes.ts";
import { compareAlternating } from "../tools/compare.ts";
import { startQuartermaster } from "../tools/installation.ts";
import { codeFor, type SsoSite } from "./sso-site.ts";

/** The rows that a sign-in of a known person writes: login session, identity and audit entry. */
export const SIGN_IN_ROWS = 3;
export const WAITED_HEADER = "x-waited-ms";
/** path of the reference at which it commits the same rows as the service */
export const ROWS_PATH = "/rows";

export interface TokenRequest {
  headers: Record<string, string>;
  body: string;
}

const ROUNDS = 7;
const SIGN_INS = 60;
/** After 300, compiling still took a quarter of the processor time of a callback. */
const WARM_UP_SIGN_INS = 1_500;
const SHARE_MAX = 1.5;

/** Milliseconds, all without the provider's signing. */
interface Times {
  /** from the request to the response */
  took: number;
  /** for the token request; only the reference knows it */
  waited: number;
}

/** One way to complete a sign-in that the provider has approved. */
type Finish = () => Promise<Times>;

interface Server {
  pid: number;
  /** @returns a sign-in, one step before its end */
  leave(): Promise<Finish>;
}

/** One sign-in after another, so that no two share a commit. */
export async function measureShare(site: SsoSite, directory: string): Promise<Figure[]> {
  await using servers = new AsyncDisposableStack();
  const folder = join(directory, "reference");
  mkdirSync(folder);
  const installed = join(folder, "data");
  await (await startQuartermaster(installed)).stop();
  const { database } = openDataDirectory(installed);
  const running = await startServer(script("sso/sso-reference.ts", folder, site.idp.issuer, database));
  servers.defer(running.stop);
  const bareAt = (path: string): Server => ({
    pid: running.pid,
    leave: () => leaveBare(site, `http://127.0.0.1:${running.port}${path}`),
  });
  const bare = bareAt("/");
  const bareRows = bareAt(ROWS_PATH);
  const own: Server = { pid: site.service.pid, leave: () => leaveOwn(site) };
  await measured(bare, WARM_UP_SIGN_INS);
  await measured(bareRows, WARM_UP_SIGN_INS);
  await measured(own, WARM_UP_SIGN_INS);
  const processor = { bare: 0, own: 0 };
  let waited = 0;
  const shareOf = ({ times }: { times: Times[] }) => fastestOf(times.map(({ took }) => took)) - waited;
  const [other, ours, sameRows] = await compareAlternating({
    rounds: ROUNDS,
    subjects: {
      reference: async () => {
        const round = await measured(bare, SIGN_INS);
        processor.bare += round.processorMs;
        waited = fastestOf(round.times.map((times) => times.waited));
        return shareOf(round);
      },
      ours: async () => {
        const round = await measured(own, SIGN_INS);
        processor.own += round.processorMs;
        return shareOf(round);
      },
      sameRows: async () => shareOf(await measured(bareRows, SIGN_INS)),
    },
  });
  const ratio = ours?.ratio ?? Number.NaN;
  const rowsRatio = sameRows?.ratio ?? Number.NaN;
  const perSignIn = ROUNDS * SIGN_INS;
  return [
    {
      what: `our share of a sign-in: callback without waiting for the provider (one RS256 check by jose and a commit of ${SIGN_IN_ROWS} rows)`,
      unit: "ms",
      ours: ours?.median ?? Number.NaN,
      reference: other?.median ?? Number.NaN,
      ratio,
      verdict: atMost(SHARE_MAX, ratio),
    },
    {
      what: "the same, against that server with the rows, indexes and audit entry of a sign-in",
      unit: "ms",
      ours: ours?.median ?? Number.NaN,
      reference: sameRows?.median ?? Number.NaN,
      ratio: ratio / rowsRatio,
    },
    {
      what: "processor time of a callback, with the token request (of the same server)",
      unit: "ms",
      ours: processor.own / perSignIn,
      reference: processor.bare / perSignIn,
      ratio: processor.own / processor.bare,
    },
  ];
}

/** Starts all sign-ins before it completes the first, so that the processor time covers callbacks alone. */
async function measured(server: Server, count: number): Promise<{ times: Times[]; processorMs: number }> {
  const left: Finish[] = [];
  while (left.length < count) left.push(await server.leave());
  const beforeMs = await processorMs(server.pid);
  const times: Times[] = [];
  for (const finish of left) times.push(await finish());
  return { times, processorMs: (await processorMs(server.pid)) - beforeMs };
}

/** @returns the tenth percentile: the others were disturbed by other load on the machine */
const fastestOf = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 10)] ?? Number.NaN;

async function leaveOwn(site: SsoSite): Promise<Finish> {
  const { finish } = await site.leave();
  return async () => ({ took: await withoutSigning(site, finish), waited: Number.NaN });
}

async function leaveBare(site: SsoSite, url: string): Promise<Finish> {
  const body = JSON.stringify(await codeFor(site.idp));
  return async () => {
    const signingBefore = site.idp.answeringMs;
    let waited = Number.NaN;
    const took = await withoutSigning(site, async () => {
      const answer = await fetch(url, { method: "POST", body, redirect: "manual" });
      if (answer.status !== 303) throw new Error(`the reference answered ${answer.status}`);
      waited = Number(answer.headers.get(WAITED_HEADER));
    });
    return { took, waited: waited - (site.idp.answeringMs - signingBefore) };
  };
}

async function withoutSigning({ idp }: SsoSite, work: () => Promise<void>): Promise<number> {
  const signingBefore = idp.answeringMs;
  const begin = performance.now();
  await work();
  return performance.now() - begin - (idp.answeringMs - signingBefore);
}
