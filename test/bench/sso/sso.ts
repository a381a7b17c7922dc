// Sign-in at an identity provider: the time that the service adds to the provider's time, the rate of redirects to the
// provider compared with the sign-in page, and the leftovers of unfinished sign-ins.
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { atMost, contest, type Figure } from "../figures.ts";
import { load, ownMb } from "../processes.ts";
import { temporaryDirectory } from "../tools/installation.ts";
import { measureShare } from "./sso-share.ts";
import { type SsoSite, START, startSsoSite } from "./sso-site.ts";

const ROUNDS = 7;
const SECONDS = 1;
const CONNECTIONS = 32;
/** Each address may start 60 sign-ins, and the sign-ins of all rounds together stay below that. */
const ADDRESSES = 5_000;

/** Memory is reported per thousand but measured with more, because collections change it by megabytes. */
const UNFINISHED_THOUSANDS = 20;
const UNFINISHED_MB_MAX = 1;
const SAMPLES = 5;
const SAMPLE_EVERY_MS = 500;

/**
 * Measures company sign-in. Required: 1.5 times a verified signature and a durable write, 0.5 times the sign-in page, and a
 * thousand unfinished sign-ins without a row and below 1 MB.
 */
export async function* measureSso(): AsyncGenerator<Figure> {
  using directory = temporaryDirectory();
  await using site = await startSsoSite(directory.path);
  yield* await measureShare(site, directory.path);
  yield await linkRate(site);
  yield* await unfinished(site);
}

function linkRate(site: SsoSite): Promise<Figure> {
  const { port } = site.service;
  const perSecond = (path: string, status: number) => {
    const requests = site.requests(path, ADDRESSES);
    const plan = { port, connections: CONNECTIONS, seconds: SECONDS, requests };
    return async () => (await load(plan, status)).perSecond;
  };
  return contest({
    what: "link to the provider (against the sign-in page)",
    unit: "requests/s",
    wanted: 0.5,
    rounds: ROUNDS,
    ours: perSecond(START, 303),
    reference: perSecond("/login", 200),
  });
}

/** People who go to the provider and never return. */
async function unfinished({ data, service, requests }: SsoSite): Promise<Figure[]> {
  const begin = async () => {
    for (const { path, headers = {} } of requests(START, UNFINISHED_THOUSANDS * 1_000)) {
      const url = `http://127.0.0.1:${service.port}${path}`;
      const { status } = await fetch(url, { headers, redirect: "manual" });
      if (status !== 303) throw new Error(`the link to the provider answered ${status}`);
    }
  };
  await begin();
  const rowsBefore = rowsIn(data);
  const mbBefore = await lowestOwnMb(service.pid);
  await begin();
  const rows = rowsIn(data) - rowsBefore;
  const mb = ((await lowestOwnMb(service.pid)) - mbBefore) / UNFINISHED_THOUSANDS;
  return [
    {
      what: `rows that ${UNFINISHED_THOUSANDS * 1_000} unfinished sign-ins leave`,
      unit: "rows",
      ours: rows,
      verdict: { wanted: "0", isMet: rows === 0 },
    },
    {
      what: "memory that 1,000 unfinished sign-ins take",
      unit: "MB",
      ours: mb,
      verdict: atMost(UNFINISHED_MB_MAX, mb),
    },
  ];
}

/** @returns the number of rows of all tables, without the table that a job writes periodically */
function rowsIn(data: string): number {
  using database = new Database(join(data, "quartermaster.db"), { readonly: true });
  const tables = database
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'rollout_samples'",
    )
    .all();
  const count = (name: string) =>
    database.query<{ rows: number }, []>(`SELECT count(*) AS rows FROM "${name}"`).get()?.rows ?? 0;
  return tables.reduce((sum, { name }) => sum + count(name), 0);
}

/** Collections happen in between. */
async function lowestOwnMb(pid: number): Promise<number> {
  let mb = Number.POSITIVE_INFINITY;
  for (let sample = 0; sample < SAMPLES; sample++) {
    mb = Math.min(mb, await ownMb(pid));
    await Bun.sleep(SAMPLE_EVERY_MS);
  }
  return mb;
}
