// The console with 100,000 workstations and 50,000 users, as shipped: the cost of its pages and files, and how much administrators
// who use it slow down workstations. Environment:
//   CONSOLE_WORKSTATIONS  instead of 100,000; every user has two
import { BROTLI_QUALITY_MAX, browserFiles } from "../../../src/server/console/assets/bundle.ts";
import { watchTurns } from "../../support/turns.ts";
import { budgeted, type Figure } from "../figures.ts";
import { publishRequirement } from "../fleet/workstations.ts";
import { administratorOf, openBeside, temporaryDirectory } from "../tools/installation.ts";
import { measureBulk } from "./console-bulk.ts";
import { measureFetches } from "./console-fetches.ts";
import { measureConsoleGrowth } from "./console-growth.ts";
import { measurePaint, measureRendering, measureResponses } from "./console-pages.ts";
import { measureAdminStreams, measureFilesOfRows, measureScale } from "./console-scale.ts";
import { ADMINISTRATORS, type ConsoleSite, startConsoleSite } from "./console-site.ts";

const KB = 1_024;
const TURN_MAX_MS = 20;
const VISITS = 10;
/** Each administrator opens a page every two seconds. */
const PAGES_PER_SECOND = ADMINISTRATORS / 2;

/** Measures the console. The limits are those of the requirements that the results name. */
export async function* measureConsole(): AsyncGenerator<Figure> {
  using directory = temporaryDirectory();
  const turns = watchTurns(directory.path);
  const site = await startConsoleSite(directory.path, turns.env);
  try {
    yield* await measureResponses(site);
    yield measureRendering(site);
    yield* await measureTurns(site, turns.longest);
    yield* await measureScale(site, turns.longest);
    yield* await measureFilesOfRows(site, turns.longest);
    yield* await measureBrowsing(site);
    yield* await measurePaint(site);
    yield* await measureStreams(site);
    yield* await measureBulk(site, turns.longest);
    yield* measureFiles();
    yield* measureConsoleGrowth();
  } finally {
    await site.service.stop();
  }
}

/** Changes come from another process, like those of commands. One session is ended afterwards. */
async function measureStreams(site: ConsoleSite): Promise<Figure[]> {
  const installation = await openBeside(site.data, site.service.port);
  const { domain } = installation;
  const administrator = administratorOf(installation);
  let requirement = 12; // the packages of the policy need 2.0.12
  try {
    return await measureAdminStreams(site, {
      change: () => publishRequirement(installation, `>=2.0.${++requirement}`),
      revoke: async (cookie) => {
        const token = cookie.slice(cookie.indexOf("=") + 1);
        const session = domain.access.sessions.find(token);
        if (!session) throw new Error("the session of an administrator is there");
        await domain.access.logins.revoke(administrator, session.id);
      },
    });
  } finally {
    await installation.close();
  }
}

/** @returns the longest turn of the event loop for every page, in processor time */
async function measureTurns(
  { origin, pages, cookies }: ConsoleSite,
  longest: (work: () => Promise<unknown>) => Promise<number>,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const path of pages) {
    const ours = await longest(async () => {
      for (let visit = 0; visit < VISITS; visit++)
        await (await fetch(origin + path, { headers: { cookie: cookies[0] ?? "" } })).bytes();
    });
    const what = `${path}, CON-132 longest turn`;
    figures.push({ what, unit: "ms", ours, verdict: budgeted(TURN_MAX_MS, ours) });
  }
  return figures;
}

/** @returns policy fetches while administrators use the console, compared with those alone */
const measureBrowsing = ({
  service: { port },
  lists,
  cookies,
  policyRequests,
}: ConsoleSite): Promise<Figure[]> =>
  measureFetches(
    {
      port,
      perSecond: PAGES_PER_SECOND,
      requests: cookies.flatMap((Cookie) =>
        lists.map((path) => ({ method: "GET", path, headers: { Cookie, "Accept-Encoding": "gzip" } })),
      ),
    },
    { policyRequests, while: `${ADMINISTRATORS} administrators browse` },
  );

/** @returns the compressed size of every browser file */
const measureFiles = (): Figure[] =>
  browserFiles(BROTLI_QUALITY_MAX).map(({ name, brotli }) => {
    const [id, budget] = budgetOf(name);
    const ours = brotli.length / KB;
    return { what: `${id} ${name}, brotli`, unit: "KB", ours, verdict: budgeted(budget, ours) };
  });

function budgetOf(name: string): [id: string, kb: number] {
  if (name.endsWith(".css")) return ["CON-136", 12];
  return name.startsWith("main-") ? ["CON-134", 20] : ["CON-135", 150];
}
