// A service with 100,000 workstations of 50,000 users, twenty administrators signed in, and the pages that they open.
import { join } from "node:path";
import type { ExistingInstallation } from "../../../src/app/installation/installation.ts";
import { runInTurns } from "../../../src/platform/steps.ts";
import { navigationFor } from "../../../src/server/console/frame/navigation.ts";
import type { ListedUser } from "../../../src/server/console/people/user-list.tsx";
import { HISTORY_PATH } from "../../../src/server/console/policy/words.ts";
import { policyFetch } from "../clients/policy-fetch.ts";
import { readTokens } from "../fleet/fleet-requests.ts";
import { writeFleet } from "../fleet/fleet-rows.ts";
import { publishPolicies } from "../fleet/workstations.ts";
import { quartermaster, type Running, startServer } from "../processes.ts";
import {
  addUsers,
  administratorOf,
  openBeside,
  sessionCookie,
  startQuartermaster,
} from "../tools/installation.ts";
import type { LoadRequest } from "../tools/load.ts";
import { writeGroups } from "./console-groups.ts";

const WORKSTATIONS = Number(process.env.CONSOLE_WORKSTATIONS ?? 100_000);
const PER_USER = 2;
export const ADMINISTRATORS = 20;
/** Rows of a page, and audit entries in addition to those of the seed. */
export const ROWS = 100;
const ENTRIES = 1_000;
/** Workstations that fetch their policy. */
const ASKING = 1_000;

export interface ConsoleSite {
  service: Running;
  /** the data directory */
  data: string;
  origin: string;
  /** value of the header `Cookie` of each administrator */
  cookies: readonly string[];
  /** page with ROWS rows, by path */
  lists: readonly string[];
  /** every page of the navigation, lists included */
  pages: readonly string[];
  /** rows of the list of users, to render in this process */
  users: readonly ListedUser[];
  policyRequests: readonly LoadRequest[];
}

/**
 * @param env of the measured service
 * @param addRows changes the database before the measured service starts
 */
export async function startConsoleSite(
  directory: string,
  env: Readonly<Record<string, string>>,
  addRows: (database: string) => void = () => undefined,
): Promise<ConsoleSite> {
  const data = join(directory, "data");
  const first = await startQuartermaster(data);
  await first.stop();
  const { database, ...seeded } = await seed(data, first.port, join(directory, "tokens"));
  addRows(database);
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const listen = ["--server-listen", `127.0.0.1:${first.port}`];
  const service = await startServer([
    "env",
    ...variables,
    ...quartermaster("serve", "--data-dir", data, ...listen),
  ]);
  const origin = `http://127.0.0.1:${service.port}`;
  const pages = navigationFor(true, (feature) => feature === "sessions")
    .flatMap(({ links }) => links)
    .map(({ href }) => (href === HISTORY_PATH ? href : `${href}?per_page=${ROWS}`)); // the history has ROWS rows anyway
  const [cookie = ""] = seeded.cookies;
  const found: string[] = [];
  for (const page of pages) {
    const answer = await fetch(origin + page, { headers: { cookie }, redirect: "manual" });
    const html = await answer.text();
    if (/ id="?list"?[ >]/.test(html)) found.push(page);
    console.error(`${page}: ${answer.status}, ${html.split("<tr").length - 2} rows`);
  }
  return { ...seeded, service, data, origin, pages, lists: found };
}

async function seed(data: string, port: number, tokens: string) {
  const installation = await openBeside(data, port);
  const { current: policy } = await publishPolicies(installation);
  const count = WORKSTATIONS;
  await writeFleet(installation, { count, perUser: PER_USER, policy, tokens, round: count });
  const cookies = await signIn(installation);
  const users = await readUsers(installation);
  const { database } = installation.directory;
  await installation.close();
  writeGroups(database);
  const asking = (await readTokens({ tokens })).slice(0, ASKING);
  return { database, cookies, users, policyRequests: asking.map(policyFetch) };
}

/** Creates administrators, because event streams are limited per user, signs each in, and writes entries to the audit log. */
async function signIn(installation: ExistingInstallation): Promise<string[]> {
  const { domain } = installation;
  const administrator = administratorOf(installation);
  for (let at = 0; at < ENTRIES; at++)
    await domain.exports.record(administrator, { list: "users", filter: "", rows: at });
  const others = await addUsers(installation, administrator, ADMINISTRATORS - 1, "admin");
  return await Promise.all([administrator, ...others].map((user) => sessionCookie(installation, user)));
}

async function readUsers({ domain, organizationId }: ExistingInstallation): Promise<ListedUser[]> {
  const wanted = { page: 1, perPage: ROWS };
  const { items } = await runInTurns(domain.identity.users.listInSteps(organizationId, wanted));
  return items.map((user) => ({ ...user, workstations: PER_USER, lastSeenAtMs: Date.now(), key: "missing" }));
}
